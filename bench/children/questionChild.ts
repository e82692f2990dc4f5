import axios from 'axios';
import type { AxiosInstance } from 'axios';
import { range } from 'lodash';
import type { INodeParameters } from 'n8n-workflow';

import { ECHO_ASSISTANT_ID } from '../../sandbox';
import { createEngine } from '../support/engine';
import { serveTask } from '../support/processes';
import type { Target } from '../support/server';

/** Questions, one after another. */
export interface QuestionTask {
	target: Target;
	by: 'node' | 'hand';
	/** Where they are asked: each in a new conversation, on a thread that is there, or under a key. */
	on: Place;
	questions: number;
}

type Place = 'new' | 'existing' | 'key';

type Ask = () => Promise<unknown>;

/** What each took, the first one included, which finds nothing loaded and no conversation under its key. */
export interface QuestionMeasurement {
	seconds: number[];
}

const MESSAGE = 'How do I descale the machine?';
const ANSWER = `Echo: ${MESSAGE}`;

serveTask<QuestionTask>(async ({ questions, by, on, target }): Promise<QuestionMeasurement> => {
	const client = clientOf(target);
	const threadId = await newThread(client);
	const ask = by === 'node' ? await byNode(target, on, threadId) : byHand(client, on, threadId);
	const seconds: number[] = [];
	for (const _ of range(questions)) {
		const began = performance.now();
		const answer = await ask();
		if (answer !== ANSWER) throw new Error(`The answer was ${String(answer)}`);
		seconds.push((performance.now() - began) / 1000);
	}
	return { seconds };
});

const clientOf = ({ credential }: Target): AxiosInstance =>
	axios.create({
		baseURL: `${credential.baseUrl}/api/ai`,
		headers: { Authorization: `Bearer ${credential.accessToken}` },
	});

/** A conversation (E13). */
const newThread = async (client: AxiosInstance): Promise<string> =>
	(await client.post<{ threadId: string }>('/conversations', {})).data.threadId;

async function byNode({ credential }: Target, on: Place, threadId: string): Promise<Ask> {
	const engine = await createEngine('xpertAi', credential);
	const parameters: INodeParameters = {
		...{ resource: 'thread', operation: 'run', threadSource: on, message: MESSAGE },
		assistantId: { __rl: true, mode: 'id', value: ECHO_ASSISTANT_ID },
		threadId: { __rl: true, mode: 'id', value: threadId },
		conversationKey: `visitor ${process.pid}`,
	};
	return async () => {
		const [item] = await engine.run(parameters, [{ json: {} }]);
		return item?.json.output;
	};
}

/** What somebody would send who knows the contract: where it is new a conversation, and a run that is waited for (E4). */
function byHand(client: AxiosInstance, on: Place, known: string): Ask {
	const input = { action: 'send', message: { input: { input: MESSAGE } } };
	return async () => {
		const threadId = on === 'new' ? await newThread(client) : known;
		const { data } = await client.post<{ content: string }>(`/threads/${threadId}/runs/wait`, {
			assistant_id: ECHO_ASSISTANT_ID,
			input,
		});
		return data.content;
	};
}
