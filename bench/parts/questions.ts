import axios from 'axios';
import { range } from 'lodash';
import type { INodeParameters } from 'n8n-workflow';

import { projectRoot } from '../../host/paths';
import { ECHO_ASSISTANT_ID } from '../../sandbox';
import { byId } from '../../test/engine/support/locators';
import { createNodeEngine } from '../../test/engine/support/nodeEngine';
import { type Part, added } from '../report';
import { runInChild, serveTask, timed } from '../support/processes';
import { type Target, onServer } from '../support/server';

/** Where a question is asked: in a new conversation, on a thread that is there, or under a key. */
type Place = 'new' | 'existing' | 'key';

/** Questions, one after another. */
interface QuestionTask {
	target: Target;
	by: 'node' | 'hand';
	place: Place;
	questions: number;
}

const PLACES: Record<Place, string> = {
	new: 'in a new conversation',
	existing: 'on a thread',
	key: 'under a key',
};

const MESSAGE = 'How do I descale the machine?';
const ANSWER = `Echo: ${MESSAGE}`;

/** What the node adds to a question that somebody would send by hand. However fast a model is, it adds this. */
const MOST_ADDED_MS = 100;

/** How long a question takes, beside what somebody would send by hand. */
export const questionsPart: Part = {
	name: 'questions',
	measure: async ({ quick }) => {
		const modelMs = quick ? 500 : 3000;
		const questions = quick ? 2 : 4;
		const rows = [];
		for (const place of Object.keys(PLACES) as Place[]) {
			const node = await ask({ by: 'node', place, questions }, modelMs);
			// By hand nothing finds a conversation by a key: it goes to a thread that is known.
			const beside = place === 'key' ? 'existing' : place;
			const hand = await ask({ by: 'hand', place: beside, questions }, modelMs);
			const what = `a question ${PLACES[place]}, a model of ${modelMs / 1000} s: added by the node`;
			rows.push(added(what, node, ['by hand', hand], { unit: ' ms', most: MOST_ADDED_MS }));
		}
		return rows;
	},
};

/** The milliseconds of each question after the first, which loads code. */
async function ask(work: Omit<QuestionTask, 'target'>, modelMs: number) {
	return await onServer('sandbox', async (server) => {
		const slow = { ms: modelMs, do: 'run' as const };
		await server.ask('faults', [
			{ endpoint: 'E4', ...slow },
			{ endpoint: 'runs', ...slow },
		]);
		const task: QuestionTask = { ...work, target: server.target };
		const { seconds } = await runInChild<{ seconds: number[] }>(__filename, task);
		return seconds.slice(1).map((one) => 1000 * one);
	});
}

async function askAll({ questions, by, place, target }: QuestionTask) {
	const client = axios.create({
		baseURL: `${target.credential.baseUrl}/api/ai`,
		headers: { Authorization: `Bearer ${target.credential.accessToken}` },
		proxy: false,
	});
	/** A conversation (E13). */
	const newThread = async () =>
		(await client.post<{ threadId: string }>('/conversations', {})).data.threadId;
	/** A run that is waited for (E4). */
	const runByHand = async (threadId: string) => {
		const input = { action: 'send', message: { input: { input: MESSAGE } } };
		const body = { assistant_id: ECHO_ASSISTANT_ID, input };
		return (await client.post<{ content: string }>(`/threads/${threadId}/runs/wait`, body)).data
			.content;
	};
	const known = await newThread();
	const runByNode = by === 'node' ? await questionNode(target, place, known) : undefined;
	const seconds: number[] = [];
	for (const _ of range(questions)) {
		const taken = await timed(async () =>
			runByNode ? await runByNode() : await runByHand(place === 'new' ? await newThread() : known),
		);
		if (taken.result !== ANSWER) throw new Error(`The answer was ${String(taken.result)}`);
		seconds.push(taken.seconds);
	}
	return { seconds };
}

/** Thread: Ask and Wait in n8n's engine. */
async function questionNode({ credential }: Target, place: Place, threadId: string) {
	const engine = await createNodeEngine(projectRoot);
	const parameters: INodeParameters = {
		resource: 'thread',
		operation: 'run',
		threadSource: place,
		message: MESSAGE,
		assistantId: byId(ECHO_ASSISTANT_ID),
		threadId: byId(threadId),
		conversationKey: `visitor ${process.pid}`,
	};
	return async () => {
		const { items, error } = await engine.run({ parameters, credential });
		if (error) throw error;
		return items[0]?.json.output;
	};
}

if (require.main === module) serveTask(askAll);
