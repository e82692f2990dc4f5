import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { get, merge, omit } from 'lodash';
import { loadOutputSchema } from 'n8n-core';
import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { INTERRUPTING_INPUT } from 'sandbox';
import { type Exchange, recordings } from '../sandbox/support/recordings';
import { expectGenerated, jsonText } from '../support/generated';
import { ALL_CASES } from './support/cases';
import type { NodeResult } from './support/engine';
import { useFixture } from './support/fixture';
import { previewOf } from './support/outputPreviews';
import { answering, putKnowing } from './support/runs';

const NODE = 'nodes/XpertAi';
const FOLDER = path.resolve(__dirname, '../..', NODE, '__schema__/v1.0.0');
const BUILT = path.resolve(__dirname, '../../dist', NODE);

const fixture = useFixture();
const { add } = fixture;

const PROCESSED = {
	name: 'guide.md',
	type: 'md',
	filePath: 'handbook/guide.md',
	mimeType: 'text/markdown',
	size: 2048,
	status: 'running',
	progress: 50,
};

/** No recorded server could copy a thread; what Find Changes gives is what it is given. */
const WITHOUT_PREVIEW = ['thread: copy', 'document: findChanges'];

const OPERATIONS = ALL_CASES.filter(({ calls }) => !WITHOUT_PREVIEW.includes(calls));

/** Recorded answers of successes; of long ones only the beginning was kept, so they are left out. */
function recordedAnswers(endpoint: string): Array<Exchange['response']> {
	const file = endpoint.replace(/^E(\d)$/, 'E0$1');
	return (recordings().get(file) ?? [])
		.map(({ response }) => response)
		.filter(({ status, body }) => status < 300 && typeof body !== 'string');
}

/** A good call; Xpert AI's own two routes are shown for a document that is being processed. */
function parametersOf({ endpoint, good }: (typeof OPERATIONS)[number]): INodeParameters {
	const { knowledgebaseId } = fixture.world;
	const given = good(fixture.world);
	// A run tells most where it is followed by its ID.
	const parameters = endpoint === 'E4' ? omit(given, 'tuning') : given;
	if (endpoint !== 'process' && endpoint !== 'status') return parameters;
	const { id: documentIds } = fixture.sandbox.store.putDocument({ knowledgebaseId, ...PROCESSED });
	return { ...parameters, knowledgebaseId, documentIds };
}

/** What comes out of the node for every recorded answer; where there is none, for the sandbox's. */
async function outputsOf(one: (typeof OPERATIONS)[number]): Promise<IDataObject[]> {
	const { endpoint } = one;
	const { method } = one.request(fixture.world);
	const parameters = parametersOf(one);
	// A run's answer alone does not tell how the run went; that of E3 has to name the documents that were sent.
	const isTold = endpoint !== 'E4' && endpoint !== 'E3';
	const recorded = isTold ? recordedAnswers(endpoint) : [];
	const outputs: IDataObject[] = [];
	if (recorded.length === 0) {
		for (const more of parameters.operation === 'run' ? messages() : [{}])
			outputs.push(...jsonOf(await fixture.run({ ...parameters, ...more })));
		// Not every answer has sources, or asks a person.
		return [merge({}, ...outputs) as IDataObject];
	}
	const all = 'limit' in parameters ? { ...parameters, limit: 100 } : parameters;
	for (const { status, body } of recorded) {
		add(answering(endpoint, status, { body }));
		// The answer of a change has to be about the record that was asked for.
		const knowledgebaseId: unknown = get(body, 'id');
		const ofBody = method === 'PUT' ? { ...all, knowledgebaseId: String(knowledgebaseId) } : all;
		outputs.push(...jsonOf(await fixture.run(ofBody)));
		fixture.sandbox.faults.clear();
	}
	return outputs;
}

/** What is asked: something that is answered, something from documents, something that a person decides. */
const messages = (): INodeParameters[] => [
	{},
	{ ...putKnowing(fixture.sandbox), threadSource: 'new', message: 'ASK CITE zebra' },
	{ message: INTERRUPTING_INPUT },
];

const jsonOf = ({ items }: NodeResult) => items.map(({ json }) => json);

function fileOf({ good }: (typeof OPERATIONS)[number]): string {
	const { resource, operation } = good(fixture.world);
	return path.join(FOLDER, String(resource), `${String(operation)}.json`);
}

describe('the preview of the output that the editor shows before a node has run', () => {
	it.each(OPERATIONS)('$calls is what the recorded answers come out as', async (operation) => {
		const preview = previewOf(await outputsOf(operation));
		const file = fileOf(operation);
		expectGenerated(file, jsonText({ ...preview, version: 1 }));
	});

	it.each(OPERATIONS)('$calls is found by n8n in the built package', (operation) => {
		const { resource, operation: name } = operation.good(fixture.world);
		const found = loadOutputSchema({
			nodeDir: BUILT,
			version: 1,
			resource: String(resource),
			operation: String(name),
		});
		expect(found).toEqual(JSON.parse(readFileSync(fileOf(operation), 'utf8')));
	});

	it('is there for no other operation', () => {
		const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
			.map((name) => path.join(FOLDER, name))
			.filter((name) => name.endsWith('.json'));
		expect(files.sort()).toEqual(OPERATIONS.map(fileOf).sort());
	});
});
