import { Readable } from 'node:stream';
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

/** Unchanged nights of two contenders, in turns. */
interface UnchangedTask {
	target: Target;
	documents: number;
	rounds: number;
	contenders: [ours: Contender, theirs: Contender];
}

interface Contender {
	source: keyof typeof SOURCES;
	way: keyof typeof WAYS;
}

/** The processor seconds of each round, of both contenders. */
type Rounds = [ours: number[], theirs: number[]];

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
	records: (): INodeParameters => ({
		source: 'records',
		documentKeyField: 'filePath',
		binaryPropertyName: 'data',
	}),
};

const EVALUATED = 'the same, each expression evaluated once by n8n';

const ROWS: Array<
	{ what: string; beside: string; most: number } & Pick<UnchangedTask, 'contenders'>
> = [
	{
		what: 'texts with six expressions',
		beside: EVALUATED,
		contenders: [
			{ source: 'texts', way: 'read' },
			{ source: 'texts', way: 'evaluated' },
		],
		most: 0.4,
	},
	{
		what: 'items by Fields with a key',
		beside: EVALUATED,
		contenders: [
			{ source: 'fields', way: 'read' },
			{ source: 'fields', way: 'evaluated' },
		],
		most: 0.8,
	},
	{
		what: 'records of a file',
		beside: 'the same documents as items, by Fields with a key',
		contenders: [
			{ source: 'records', way: 'read' },
			{ source: 'fields', way: 'read' },
		],
		most: 1,
	},
];

/** What a document takes that has not changed. The node itself reads what an expression only reads. */
export const unchangedPart: Part = {
	name: 'unchanged',
	measure: async ({ quick }) => {
		const [documents, rounds] = quick ? [200, 2] : [2000, 5];
		const rows: Row[] = [];
		for (const { what, beside, contenders, most } of ROWS) {
			const [ours, theirs] = await onServer('sandbox', async ({ target }) => {
				const task: UnchangedTask = { target, documents, rounds, contenders };
				return await runInChild<Rounds>(__filename, task);
			});
			const title = `processor time of an unchanged night of ${figure(documents)} ${what}`;
			rows.push(compared(title, ours, [beside, theirs], { most }));
		}
		return rows;
	},
};

/** In a process of its own: loads the sources, then runs their nights in turns. */
async function runInProcess({ rounds, contenders, ...task }: UnchangedTask): Promise<Rounds> {
	const engine = await createNodeEngine(projectRoot);
	const measured: Rounds = [[], []];
	// The first round stores the documents, and the second one has all code compiled.
	for (const round of range(rounds + 2))
		for (const [at, contender] of contenders.entries()) {
			const taken = await night(engine, task, contender);
			if (round > 1) measured[at]?.push(taken);
		}
	return measured;
}

async function night(
	engine: NodeEngine,
	{ target, documents }: Pick<UnchangedTask, 'target' | 'documents'>,
	{ source, way }: Contender,
): Promise<number> {
	const parameters: INodeParameters = {
		resource: 'document',
		operation: 'submit',
		mode: 'changed',
		sourceName: source,
		knowledgebaseId: byId(target.knowledgebaseId),
		options: { output: 'summary', afterStoring: 'nothing' },
		...SOURCES[source](WAYS[way]),
	};
	const all = records(documents, SHAPE).map((json) => ({ ...json, folder: 'Manuals', type: 'md' }));
	const file = Readable.from(all.map((json) => `${JSON.stringify(json)}\n`));
	const items =
		source === 'records'
			? [
					{
						json: {},
						binary: { data: await engine.binary(file, 'r.ndjson', 'application/x-ndjson') },
					},
				]
			: all.map((json) => ({ json }));
	const { result, cpuSeconds } = await timed(
		async () => await engine.run({ parameters, credential: target.credential, items }),
	);
	if (result.error) throw result.error;
	const { stored, unchanged } = result.items[0]?.json ?? {};
	if (Number(stored) + Number(unchanged) !== documents)
		throw new Error(`Of ${documents} documents: ${JSON.stringify(result.items[0]?.json)}`);
	return cpuSeconds;
}

const SHAPE = { textLength: 880 };

if (require.main === module) serveTask(runInProcess);
