import { mapValues, range } from 'lodash';
import type { INodeParameters } from 'n8n-workflow';

import { projectRoot } from '../../host/paths';
import { ECHO_ASSISTANT_ID } from '../../sandbox';
import { byId } from '../../test/engine/support/locators';
import { type NodeEngine, createNodeEngine } from '../../test/engine/support/nodeEngine';
import { type Part, bounded, compared } from '../report';
import { type Cost, runInChild, serveTask, timed } from '../support/processes';
import { type Server, onServer } from '../support/server';

/** Rounds of so many questions of each kind. */
interface QuestionTask {
	rounds: number;
	questions: number;
}

/** What a question took in each round. */
interface QuestionCost {
	cpuSeconds: number[];
	requests: number[];
}

type Kind = keyof typeof KINDS | 'single';

/**
 * Where a question is asked, how many requests somebody would send for it by hand, and how many the node may. By hand,
 * nothing finds a conversation by a key.
 */
const KINDS = {
	new: { title: 'in a new conversation', byHand: '2', requests: 3, most: 4 },
	existing: { title: 'on a thread', byHand: '1', requests: 6, most: 8 },
	key: { title: 'with a key', byHand: '1, with a thread that is known', requests: 7, most: 8 },
};

const SINGLE = 'one request of the node, Assistant: Get';

const MESSAGE = 'How do I descale the machine?';

/** How long a model takes: long enough that the node waits for it. */
const MODEL_MS = 50;

/** What a question takes of the processor and of the server, however fast the model is. */
export const questionsPart: Part = {
	name: 'questions',
	measure: async ({ quick }) => {
		const task: QuestionTask = { rounds: quick ? 2 : 5, questions: quick ? 2 : 30 };
		const { single, ...asked } = await runInChild<Record<Kind, QuestionCost>>(__filename, task);
		return (Object.keys(KINDS) as Array<keyof typeof KINDS>).flatMap((kind) => {
			const { title, byHand, requests, most } = KINDS[kind];
			const times = [asked[kind].cpuSeconds, single.cpuSeconds] as const;
			const beside = `by hand: ${byHand}`;
			return [
				compared(`processor time of a question ${title}`, times[0], [SINGLE, times[1]], { most }),
				bounded(
					`requests of a question ${title}`,
					asked[kind].requests,
					{ most: requests },
					{ beside },
				),
			];
		});
	},
};

/** In a process of its own: asks in turns. */
async function runInProcess({ rounds, questions }: QuestionTask) {
	const engine = await createNodeEngine(projectRoot);
	return await onServer('sandbox', async (server) => {
		const slow = { ms: MODEL_MS, do: 'run' as const };
		await server.ask('faults', [{ endpoint: 'runs', ...slow }]);
		const first = await run(engine, server, { threadSource: 'new' });
		const threadId = byId(String(first.threadId));
		const ways: Record<Kind, () => Promise<unknown>> = {
			single: async () => await run(engine, server, { resource: 'assistant', operation: 'get' }),
			new: async () => await run(engine, server, { threadSource: 'new' }),
			existing: async () => await run(engine, server, { threadSource: 'existing', threadId }),
			key: async () => {
				await run(engine, server, { threadSource: 'key', conversationKey: 'visitor' });
			},
		};
		const costs = mapValues(ways, (): QuestionCost => ({ cpuSeconds: [], requests: [] }));
		// The first round has all code compiled, and makes the conversation of the key.
		for (const round of range(rounds + 1))
			for (const kind of Object.keys(ways) as Kind[]) {
				const cost = await costOf(server, questions, ways[kind]);
				if (round === 0) continue;
				costs[kind].cpuSeconds.push(cost.cpuSeconds / questions);
				costs[kind].requests.push(cost.requests / questions);
			}
		return costs;
	});
}

async function costOf(
	server: Server,
	times: number,
	work: () => Promise<unknown>,
): Promise<Pick<Cost, 'cpuSeconds'> & { requests: number }> {
	const before = await server.ask('arrived');
	const { cpuSeconds } = await timed(async () => {
		for (const _ of range(times)) await work();
	});
	const after = await server.ask('arrived');
	return { cpuSeconds, requests: after.requests - before.requests };
}

/** Runs the node, which asks a question if nothing else is said. */
async function run(engine: NodeEngine, { target }: Server, given: INodeParameters) {
	const parameters: INodeParameters = {
		resource: 'thread',
		operation: 'run',
		message: MESSAGE,
		assistantId: byId(ECHO_ASSISTANT_ID),
		...given,
	};
	const { items, error } = await engine.run({ parameters, credential: target.credential });
	if (error) throw error;
	const json = items[0]?.json ?? {};
	if (parameters.operation === 'run' && json.output !== `Echo: ${MESSAGE}`)
		throw new Error(`The answer was ${JSON.stringify(json)}`);
	return json;
}

if (require.main === module) serveTask(runInProcess);
