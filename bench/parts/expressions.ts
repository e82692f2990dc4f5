import { range } from 'lodash';
import type { INodeParameters } from 'n8n-workflow';

import { projectRoot } from '../../host/paths';
import { BY_NAME } from '../../test/engine/support/ingest';
import { byId } from '../../test/engine/support/locators';
import { type NodeEngine, createNodeEngine } from '../../test/engine/support/nodeEngine';
import { type Part, type Row, compared, figure } from '../report';
import { runInChild, serveTask, timed } from '../support/processes';
import { records } from '../support/records';
import { type Target, onServer } from '../support/server';

/** Unchanged nights of a source, with expressions that only read and with such that n8n has to evaluate. */
interface ExpressionsTask {
	target: Target;
	documents: number;
	rounds: number;
	source: keyof typeof SOURCES;
}

/** The processor time of each round, in milliseconds. */
type Rounds = Record<keyof typeof WAYS, number[]>;

/** How an expression reads a path of the item. */
const WAYS = {
	read: (path: string) => `={{ $json.${path} }}`,
	evaluated: (path: string) => `={{ [$json.${path}][0] }}`,
};

type Expression = (path: string) => string;

const SOURCES = {
	texts: (of: Expression): INodeParameters => ({
		source: 'text',
		text: of('metadata.text'),
		documentKey: of('filePath'),
		name: of('name'),
		documentSettings: {
			folder: of('folder'),
			type: of('type'),
			metadataRows: { values: [{ key: 'revision', content: of('metadata.revision') }] },
		},
	}),
	fields: (of: Expression): INodeParameters => ({
		source: 'fields',
		documentKey: of('filePath'),
		...BY_NAME,
	}),
};

const ROWS = {
	texts: { what: 'texts with six expressions', most: 0.4 },
	fields: { what: 'items by Fields with a key', most: 0.6 },
};

/** What it saves that the node itself reads what an expression only reads. */
export const expressionsPart: Part = {
	name: 'expressions',
	measure: async ({ quick }) => {
		const rows: Row[] = [];
		for (const source of ['texts', 'fields'] as const)
			rows.push(await rowOf(source, quick ? 2 : 5));
		return rows;
	},
};

async function rowOf(source: keyof typeof SOURCES, rounds: number): Promise<Row> {
	const documents = 1000;
	const { read, evaluated } = await onServer('sandbox', async ({ target }) => {
		const task: ExpressionsTask = { target, documents, rounds, source };
		return await runInChild<Rounds>(__filename, task);
	});
	const { what, most } = ROWS[source];
	const unit = { unit: ' ms', most };
	const title = `unchanged night of ${figure(documents)} ${what}, processor time`;
	return compared(title, read, ['evaluated by n8n', evaluated], unit);
}

/** In a process of its own: loads the source, then runs its nights in turns. */
async function runInProcess({ rounds, ...task }: ExpressionsTask): Promise<Rounds> {
	const engine = await createNodeEngine(projectRoot);
	const measured: Rounds = { read: [], evaluated: [] };
	const ways = Object.keys(WAYS) as Array<keyof typeof WAYS>;
	// The first round stores the documents, and the second one has all code compiled.
	for (const round of range(rounds + 2))
		for (const way of ways) {
			const taken = await night(engine, task, WAYS[way]);
			if (round > 1) measured[way].push(taken);
		}
	return measured;
}

async function night(
	engine: NodeEngine,
	{ target, documents, source }: Omit<ExpressionsTask, 'rounds'>,
	of: Expression,
): Promise<number> {
	const parameters: INodeParameters = {
		resource: 'document',
		operation: 'submit',
		mode: 'changed',
		sourceName: 'Benchmark',
		knowledgebaseId: byId(target.knowledgebaseId),
		options: { output: 'summary', afterStoring: 'nothing' },
		...SOURCES[source](of),
	};
	const items = records(documents, { textLength: 880 }).map((json) => ({
		json: { ...json, folder: 'Manuals', type: 'md' },
	}));
	const { result, cpuSeconds } = await timed(
		async () => await engine.run({ parameters, credential: target.credential, items }),
	);
	if (result.error) throw result.error;
	const { stored, unchanged } = result.items[0]?.json ?? {};
	if (Number(stored) + Number(unchanged) !== documents)
		throw new Error(`Of ${documents} documents: ${JSON.stringify(result.items[0]?.json)}`);
	return cpuSeconds * 1000;
}

if (require.main === module) serveTask(runInProcess);
