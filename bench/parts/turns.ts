import { range } from 'lodash';
import type { INodeParameters } from 'n8n-workflow';

import { projectRoot } from '../../host/paths';
import { byId } from '../../test/engine/support/locators';
import { type NodeEngine, createNodeEngine } from '../../test/engine/support/nodeEngine';
import { type Part, compared } from '../report';
import { runInChild, serveTask, timed } from '../support/processes';
import { type Server, onServer } from '../support/server';

/** A run over few sources, so many times, and one over many. */
interface TurnsTask {
	few: number;
	rounds: number;
	many: number;
}

/** What one source takes in a night. */
interface SourceCost {
	requests: number;
	cpuSeconds: number;
}

const NIGHTS = ['first', 'second'] as const;

type Nights = Record<(typeof NIGHTS)[number], SourceCost>;

/** The runs over few sources, and the one over many. */
interface Measured {
	few: Nights[];
	many: Nights;
}

/** Has a run over many sources take longer than a lease lasts that is not renewed. */
const REQUEST_MS = 10;

const COSTS = [
	{ cost: 'requests', name: 'requests', most: 1.05 },
	{ cost: 'cpuSeconds', name: 'processor time', most: 1.2 },
] as const;

/** Whether a source takes more in a run over many sources. */
export const turnsPart: Part = {
	name: 'turns',
	measure: async ({ quick }) => {
		const [few, rounds, many] = quick ? [5, 2, 20] : [10, 5, 400];
		const task: TurnsTask = { few, rounds, many };
		const measured = await runInChild<Measured>(__filename, task);
		return COSTS.flatMap(({ cost, name, most }) =>
			NIGHTS.map((night) => {
				const what = `${name} of a source, Mirror the Source over ${many} sources in one run, ${night} night`;
				const ofMany = measured.few.map(() => measured.many[night][cost]);
				const ofFew = measured.few.map((nights) => nights[night][cost]);
				return compared(what, ofMany, [`a source of ${few} in one run`, ofFew], { most });
			}),
		);
	},
};

async function runInProcess({ few, rounds, many }: TurnsTask): Promise<Measured> {
	const engine = await createNodeEngine(projectRoot);
	return await onServer('sandbox', async (server) => {
		await server.ask('faults', [{ do: 'delay', ms: REQUEST_MS }]);
		const ofFew: Nights[] = [];
		// The first round has all code compiled.
		for (const round of range(rounds + 1)) {
			const nights = await nightsOf(engine, server, `round ${round}`, few);
			if (round > 0) ofFew.push(nights);
		}
		return { few: ofFew, many: await nightsOf(engine, server, 'many', many) };
	});
}

/** Two nights over so many sources, each of one document. */
async function nightsOf(engine: NodeEngine, server: Server, of: string, sources: number) {
	const night = async () => await nightOf(engine, server, of, sources);
	return { first: await night(), second: await night() };
}

async function nightOf(engine: NodeEngine, server: Server, of: string, sources: number) {
	const { credential, knowledgebaseId } = server.target;
	const parameters: INodeParameters = {
		resource: 'document',
		operation: 'submit',
		source: 'text',
		mode: 'mirror',
		knowledgebaseId: byId(knowledgebaseId),
		sourceName: '={{ $json.source }}',
		documentKey: '={{ $json.name }}',
		name: '={{ $json.name }}',
		text: '={{ $json.text }}',
		options: { afterStoring: 'process' },
	};
	const items = range(sources).map((at) => ({
		json: { name: 'a', source: `Source ${at} of ${of}`, text: `Text ${at}` },
	}));
	const before = await server.ask('arrived');
	const { result, cpuSeconds } = await timed(
		async () => await engine.run({ parameters, credential, items }),
	);
	const after = await server.ask('arrived');
	if (result.error) throw result.error;
	return {
		requests: (after.requests - before.requests) / sources,
		cpuSeconds: cpuSeconds / sources,
	};
}

if (require.main === module) serveTask(runInProcess);
