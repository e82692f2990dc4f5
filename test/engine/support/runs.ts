import { has, omit } from 'lodash';
import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { ECHO_ASSISTANT_ID, SAYING_ASSISTANT } from '../../../sandbox';
import type { AssistantSeed, FaultRule, RunRecord, Sandbox } from '../../../sandbox';
import { clock } from './clock';
import { useFixture } from './fixture';
import { byId } from './locators';

export { answering, delaying, lasting, losing, withoutRoute } from './faults';

/** What tests of runs do again and again. */
export function useRuns() {
	const fixture = useFixture();
	/** Says something, where the parameters do not do so by themselves. */
	const call = async (parameters: INodeParameters, words = 'ours', thread = '') => {
		const items = [says(thread, words)];
		const result = await fixture.run(parameters, { items, onError: 'continueErrorOutput' });
		const failed = result.outputs[1]?.[0];
		const error = failed?.json.error as string | undefined;
		return { json: result.items[0]?.json, error, details: detailsOf(failed) };
	};
	const { add, sent } = fixture;
	return {
		fixture,
		call,
		add,
		sent,
		stored: (thread: unknown) => runsOf(fixture.sandbox.store.runs, String(thread)),
		newThread: async () => (await newThreads(fixture.sandbox, 1))[0] ?? '',
	};
}

const KNOWING_ID = 'a7000000-0000-4000-8000-000000000001';
export const KNOWING: INodeParameters = { assistantId: byId(KNOWING_ID) };

/** An assistant that knows of zebras and, in a second knowledgebase, of cactuses. */
export function putKnowing({ store }: Sandbox, seed: Partial<AssistantSeed> = {}): INodeParameters {
	const tools = ['zebra', 'cactus'].map((name) => {
		const { id } = store.putKnowledgebase({ name });
		const document = store.putDocument({ knowledgebaseId: id, name: `${name}.md` });
		store.putFindable(document, [`A ${name} is\nlike no other. It lives far away.`]);
		return { name: `retriever-${id}`, knowledgebaseId: id };
	});
	store.putAssistant({ ...SAYING_ASSISTANT, id: KNOWING_ID, tools, ...seed });
	return KNOWING;
}

/** The input of a message. */
export const message = (input: string) => ({ action: 'send', message: { input: { input } } });

/** Parameters of Thread: Ask and Wait that take the message from the item. */
export function ask(parameters: INodeParameters = {}): INodeParameters {
	return {
		resource: 'thread',
		operation: 'run',
		threadSource: 'existing',
		threadId: '={{ $json.thread }}',
		assistantId: byId(ECHO_ASSISTANT_ID),
		message: '={{ $json.message }}',
		...parameters,
	};
}

/** Parameters of Thread: Decide that take the thread from the item. */
export function decide(parameters: INodeParameters = {}): INodeParameters {
	return {
		resource: 'thread',
		operation: 'decide',
		decision: 'confirm',
		threadId: '={{ $json.thread }}',
		...parameters,
	};
}

/** Parameters of Thread: Answer Again that take the thread from the item. */
export function again(parameters: INodeParameters = {}): INodeParameters {
	return { resource: 'thread', operation: 'retry', threadId: '={{ $json.thread }}', ...parameters };
}

/** An item that says something on a thread. */
export const says = (thread: string, message: string): INodeExecutionData => ({
	json: { thread, message },
});

/** Threads on a sandbox, made beside its log. */
export async function newThreads(sandbox: Sandbox, count: number): Promise<string[]> {
	return Array.from({ length: count }, () => sandbox.store.putConversation({}).threadId);
}

/** The fault of the request that begins a run on a thread. */
export const onThread = (thread: string, fault: FaultRule): FaultRule => ({
	endpoint: 'runs',
	path: thread,
	...fault,
});

/** The fault of a request of E4 to a thread, by which somebody else runs it (`occupy`). */
export const onOthers = (thread: string, fault: FaultRule): FaultRule => ({
	...onThread(thread, fault),
	endpoint: 'E4',
});

/** The bodies that have begun or decided runs, but for our mark. */
export const bodiesSent = ({ requests }: Sandbox): unknown[] =>
	requests.of('runs').map(({ body }) => withoutOurs(body));

/** A body without what the node adds: our mark of a message, and the ID and the owner of a conversation. */
export const withoutOurs = (body: unknown): unknown =>
	JSON.parse(JSON.stringify(body), (key, value: unknown) => {
		if (has(value, 'createdById')) return omit(value as object, ['id', 'createdById']);
		return key === 'n8nMark' ? undefined : value;
	});

/** The messages to the assistant, in the order in which the runs began. */
export const saidOn = ({ store }: Sandbox, thread: string): Array<string | undefined> =>
	runsOf(store.runs, thread).map(({ text }) => text);

/** The runs of one thread. */
export const runsOf = (runs: RunRecord[], thread: string): RunRecord[] =>
	runs.filter(({ threadId }) => threadId === thread);

/** Whether two runs were under way at the same time. */
export const overlap = (one: RunRecord, other: RunRecord): boolean =>
	one.startedAt < (other.endedAt ?? Infinity) && other.startedAt < (one.endedAt ?? Infinity);

/** Sends something to the server as somebody else does, and waits for the answer as long as it takes. */
export const post = async (sandbox: Sandbox, path: string, body: object = {}) =>
	await clock.during(sends(sandbox, path, body));

async function sends(
	{ url, accessToken }: Sandbox,
	path: string,
	body: object,
): Promise<{ run_id?: string }> {
	const response = await fetch(`${url}/api/ai/${path}`, {
		method: 'POST',
		headers: { Authorization: `Bearer ${accessToken}`, 'Content-Type': 'application/json' },
		body: JSON.stringify(body),
	});
	return (await response.json()) as { run_id?: string };
}

/** Confirms what a thread waits for, as somebody else does, or rejects it. */
export const decideAsOthers = async (sandbox: Sandbox, thread: string, type = 'confirm') =>
	await post(sandbox, `threads/${thread}/runs/wait`, {
		assistant_id: ECHO_ASSISTANT_ID,
		input: { action: 'resume', target: {}, decision: { type } },
	});

/** Begins a run of somebody else on a thread and resolves when it is under way. */
export async function occupy(
	sandbox: Sandbox,
	thread: string,
	input: unknown,
	assistantId = ECHO_ASSISTANT_ID,
): Promise<void> {
	const { store } = sandbox;
	const body = { assistant_id: assistantId, input };
	sends(sandbox, `threads/${thread}/runs/wait`, body).catch(() => undefined);
	// Before its first step, a thread that has never run cannot be read.
	const isShown = () => {
		const { status, isNew } = store.threads.get(thread) ?? {};
		return status === 'busy' && isNew === false;
	};
	await clock.until(isShown);
}

/** How often E4 arrived for a thread. */
export const arrivals = ({ requests }: Sandbox, thread: string): number =>
	requests.all.filter(
		({ endpoint, path }) => ['runs', 'E4'].includes(endpoint ?? '') && path.includes(thread),
	).length;

/** The details of a failed item beside its message. */
export function detailsOf(item: INodeExecutionData | undefined): IDataObject {
	return (item?.json.details ?? {}) as IDataObject;
}

/** The option Additional Fields (JSON) with what it adds to the input of a run. */
export const additional = (input: object): INodeParameters => ({
	additionalFieldsJson: JSON.stringify({ input }),
});
