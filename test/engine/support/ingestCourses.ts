import fc from 'fast-check';
import type { INode, INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { COPILOT_ID } from '../../../sandbox';
import type { FaultRule, Sandbox } from '../../../sandbox';
import type { Engine, NodeResult } from './engine';
import { byId } from './locators';

/** What a document is like, and with it what can become of it at best. */
export type Kind =
	| 'good'
	| 'table'
	/** Has nothing to send. */
	| 'empty'
	/** Its file is gone from n8n, or its address leads nowhere. */
	| 'lost'
	/** The server cannot process it, or somebody cancels that. */
	| 'unreadable'
	| 'cancelled'
	/** Its knowledgebase has no embedding model, or is not there. */
	| 'noModel'
	| 'noKnowledgebase';

/** A submission: what is sent, what goes wrong meanwhile, and how the node is set. */
export interface Course {
	source: 'text' | 'files' | 'addresses';
	documents: Kind[];
	faults: FaultRule[];
	options: INodeParameters;
}

const soon = { 'retry-after': '0' };

/** What a server or the way to it does wrong, all of which may pass. */
const WRONGS = [
	{ do: 'status', status: 413 },
	{ do: 'status', status: 429, headers: soon },
	{ do: 'status', status: 500 },
	{ do: 'status', status: 502, when: 'after' },
	{ do: 'status', status: 503, headers: soon },
	{ do: 'status', status: 503 },
	{ do: 'status', status: 520 },
	{ do: 'status', status: 522, when: 'after' },
	{ do: 'drop', when: 'unread' },
	{ do: 'drop', when: 'before', reset: true },
	{ do: 'drop', when: 'after' },
	{ do: 'drop', when: 'after', reset: true },
	{ do: 'truncate' },
	{ do: 'delay', ms: 20 },
] as const;

/** Said by a server that lacks a route, and by one that starts. */
const MISSING = {
	do: 'status',
	status: 404,
	body: { statusCode: 404, error: 'Not Found', message: 'Cannot POST /api/ai/this' },
} as const;

/** Said by a proxy whose server is away, by quite another server, and of a record. */
const OTHERS_404 = [
	{ do: 'status', status: 404, body: '<html><body>404 Not Found</body></html>' },
	{ do: 'status', status: 404, body: { detail: 'Not Found' } },
	{
		do: 'status',
		status: 404,
		body: { statusCode: 404, error: 'Not Found', message: 'The requested record was not found' },
	},
] as const;

/** A success that says nothing, or something else, whether the server has done its work or not. */
const UNCLEAR = [
	undefined,
	[],
	{ success: false },
	{ statusCode: 500 },
	[{ id: 'another' }],
].flatMap((body) =>
	(['before', 'after'] as const).map((when) => ({
		do: 'status' as const,
		status: 201,
		body,
		when,
	})),
);

const anyFault: fc.Arbitrary<FaultRule> = fc
	.record({
		endpoint: fc.constantFrom('E16', 'E16', 'E3', 'E3', 'process', 'status'),
		which: fc.oneof(
			fc.record({ nth: fc.integer({ min: 1, max: 6 }) }),
			fc.record({ probability: fc.constantFrom(0.3, 0.6), seed: fc.nat({ max: 1000 }) }),
			fc.constant({}),
		),
		wrong: fc.oneof(
			{ weight: 12, arbitrary: fc.constantFrom(...WRONGS) },
			{
				weight: 6,
				arbitrary: fc.constantFrom<(typeof OTHERS_404)[number] | (typeof UNCLEAR)[number]>(
					...OTHERS_404,
					...UNCLEAR,
				),
			},
			{ weight: 1, arbitrary: fc.constant(MISSING) },
		),
	})
	.map(({ endpoint, which, wrong }): FaultRule => ({ endpoint, ...which, ...wrong }));

const EVERYWHERE: Kind[] = [
	'good',
	'good',
	'good',
	'good',
	'empty',
	'unreadable',
	'cancelled',
	'noModel',
	'noKnowledgebase',
];
const KINDS: Record<Course['source'], Kind[]> = {
	text: EVERYWHERE,
	files: [...EVERYWHERE, 'table', 'lost'],
	addresses: [...EVERYWHERE, 'lost'],
};

/** Any mix of documents with anything going wrong. */
export const anyCourse: fc.Arbitrary<Course> = fc
	.constantFrom<Course['source']>('text', 'files', 'addresses')
	.chain((source) =>
		fc.record({
			source: fc.constant(source),
			documents: fc.array(fc.constantFrom(...KINDS[source]), { minLength: 1, maxLength: 12 }),
			faults: fc.array(anyFault, { maxLength: 3 }),
			options: fc.record({
				batchSize: fc.integer({ min: 1, max: 5 }),
				concurrency: fc.integer({ min: 1, max: 3 }),
				// Time for a few tries.
				retryMinutes: fc.constantFrom(0, 0.01, 0.04),
			}),
		}),
	);

/** How the sandbox ends the processing of a document. */
const ENDS: Partial<Record<Kind, string>> = { unreadable: 'error', cancelled: 'cancel' };

const NO_KNOWLEDGEBASE = '0f0b5d29-99cd-433a-8aed-09da49af709a';

/** Words that stand in one document and no other. */
const wordOf = (place: number) => `creature${String(place).padStart(3, '0')}`;
const textOf = (place: number) => `The ${wordOf(place)} lives in the south.`;

/** Where courses take place: an engine and a sandbox. */
export interface Place {
	engine: Engine;
	sandbox: Sandbox;
}

/** The items of a course with the knowledgebases they go to, all of it on the server before anything goes wrong. */
export interface Prepared {
	course: Course;
	items: INodeExecutionData[];
}

/** Clears the sandbox and makes the items of a course. */
export async function prepare({ engine, sandbox }: Place, course: Course): Promise<Prepared> {
	sandbox.reset();
	const withModel = sandbox.store.putKnowledgebase({ name: 'All', copilotModelId: COPILOT_ID });
	const without = sandbox.store.putKnowledgebase({ name: 'No model' });
	const others: Partial<Record<Kind, string>> = {
		noModel: without.id,
		noKnowledgebase: NO_KNOWLEDGEBASE,
	};
	const items: INodeExecutionData[] = [];
	for (const [place, kind] of course.documents.entries()) {
		const json = {
			name: `document ${place}`,
			knowledgebase: others[kind] ?? withModel.id,
			metadata: { sandbox: { process: ENDS[kind] } },
			text: kind === 'empty' ? ' ' : textOf(place),
		};
		if (course.source === 'text') items.push({ json });
		else if (course.source === 'files') items.push(await fileItem(engine, json, kind, place));
		else items.push({ json: { ...json, url: await addressOf(sandbox, kind, place) } });
	}
	sandbox.faults.add(...course.faults);
	return { course, items };
}

async function fileItem(
	engine: Engine,
	json: INodeExecutionData['json'],
	kind: Kind,
	place: number,
): Promise<INodeExecutionData> {
	if (kind === 'empty') return { json };
	const name = `document ${place}.${kind === 'table' ? 'csv' : 'md'}`;
	const data = await engine.binary(Buffer.from(textOf(place)), name, 'text/markdown');
	if (kind === 'lost') data.id = 'filesystem-v2:workflows/w/executions/e/binary_data/gone';
	return { json, binary: { data } };
}

/** Where the server fetches a document: a file of its own, or what leads nowhere. */
async function addressOf(sandbox: Sandbox, kind: Kind, place: number): Promise<string> {
	if (kind === 'empty') return '';
	if (kind === 'lost')
		return place % 2 === 0 ? `http://127.0.0.1:9/${place}.md` : `${sandbox.url}/public/${place}.md`;
	const form = new FormData();
	form.append('file', new Blob([textOf(place)]), `${place}.md`);
	const response = await fetch(`${sandbox.url}/api/ai/v1/file`, {
		method: 'POST',
		headers: { Authorization: `Bearer ${sandbox.accessToken}` },
		body: form,
	});
	return ((await response.json()) as { url: string }).url;
}

/** Runs Submit over the items of a course. */
export async function submitCourse(
	{ engine, sandbox }: Place,
	{ course, items }: Prepared,
	onError?: INode['onError'],
): Promise<NodeResult> {
	return await engine.run({
		parameters: {
			resource: 'document',
			operation: 'submit',
			knowledgebaseId: byId('={{ $json.knowledgebase }}'),
			source: course.source,
			text: '={{ $json.text }}',
			url: '={{ $json.url }}',
			documentSettings: {
				name: '={{ $json.name }}',
				documentKey: '={{ $json.name }}',
				metadata: '={{ $json.metadata }}',
			},
			options: course.options,
		},
		credential: { baseUrl: sandbox.url, accessToken: sandbox.accessToken },
		items,
		onError,
	});
}

/** What is reported of a document. */
export interface Reported {
	/** The item it came from. */
	place: number;
	/** Whether it came out as an error. */
	failed: boolean;
	outcome?: unknown;
	processing?: unknown;
	id?: unknown;
	error?: unknown;
}

/** What is reported of each document, in the order of the outputs. */
export function reportsOf({ outputs }: NodeResult): Reported[] {
	return outputs.flat().map(({ json, pairedItem }) => {
		const { error } = json;
		const facts = (error === undefined ? json : (json.details ?? {})) as Partial<Reported>;
		const { outcome, processing, id } = facts;
		const { item: place } = pairedItem as { item: number };
		return { place, failed: error !== undefined, outcome, processing, id, error };
	});
}

/** Whether the assistant finds what stands in the document of an item. */
export function isFound({ store }: Sandbox, place: number): boolean {
	const found = store.index.find(wordOf(place), (id) => store.findable(id));
	return found?.sentence.includes(wordOf(place)) ?? false;
}

/** How many documents of the server are that of each item. */
export function copiesOf({ store }: Sandbox, { items }: Prepared): number[] {
	const stored = [...store.documents.values()];
	return items.map(
		({ json }) =>
			stored.filter(({ name }) => String(name).replace(/\.\w+$/, '') === String(json.name)).length,
	);
}
