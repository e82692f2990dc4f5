import type { Readable } from 'node:stream';
import { runConversation, start, type Asked } from '../runs/start';
import type { Call, Endpoint } from '../context';
import type { Conversation, RunRecord } from '../entities';
import { forbidden, internal, notFound } from '../errors';
import { actionsOf } from '../faults';
import { eventStream, STREAM_HEADERS } from '../runs/eventStream';
import { filesGiven, opened } from '../runs/files';
import { readRunInput } from '../runs/input';
import { cancelRun, newRun, speechOf } from '../runs/run';
import type { Assistant } from '../seed';
import { asObject, isUuid, type Loose } from '../values';

/** The assistant asked for, or the first there is when none is named. */
function assistantFor({ context }: Call, id: unknown): Assistant {
	if (id !== undefined && !isUuid(id)) throw internal();
	const [first] = context.store.assistants.values();
	const assistant = id === undefined ? first : context.store.assistants.get(id);
	if (assistant === undefined) throw notFound();
	return assistant;
}

/** What a user's key is refused leaves a run behind that never ends (`background` "who may"). */
function checkAccess(
	{ caller, context }: Call,
	assistant: Assistant,
	{ xpertId: boundTo, threadId }: Conversation,
): void {
	if (caller.workspaceId !== undefined && caller.workspaceId !== assistant.workspaceId) {
		throw forbidden('You do not have access to this assistant.');
	}
	if (caller.kind === 'plain') {
		newRun(context, { threadId, assistantId: null, text: undefined });
		throw forbidden('Access denied to workspace');
	}
	if (caller.kind === 'assistant' && caller.assistantId !== assistant.id) {
		throw forbidden('API key is not allowed to access this assistant.');
	}
	if (boundTo !== null && boundTo !== assistant.id) throw forbidden();
}

/** What is asked of whom; the order of the checks is the recorded one: assistant, thread, input, access. */
async function askedOf(
	call: Call,
): Promise<{ assistant: Assistant; conversation: Conversation; asked: Asked }> {
	if (call.body === undefined) throw internal();
	const body = asObject(call.body);
	const assistant = assistantFor(call, body.assistant_id);
	const conversation = call.context.store.conversationOf(call.params.id ?? '');
	if (conversation === undefined) throw internal();
	const [moved] = actionsOf(call.misbehaviour, 'moved');
	if (moved) conversation.threadId = moved.to;
	const input = readRunInput(body.input);
	checkAccess(call, assistant, conversation);
	const given = await filesGiven(call.context, input.files);
	const files = assistant.answers === 'documents' ? await opened(given) : [];
	const attachments = given.map(({ told }) => told).join('');
	const { unreadable } = given.find((file) => file.unreadable !== undefined) ?? {};
	const env = asObject(asObject(body.context).env);
	const asked = { ...input, attachments, unreadable, opened: files, env };
	return { assistant, conversation, asked };
}

async function runAndWait(call: Call): Promise<Loose> {
	const { context, misbehaviour } = call;
	const { asked, ...place } = await askedOf(call);
	const content = await runConversation(context, { ...place, misbehaviour }, asked);
	return { role: 'ai', content };
}

/** Answers at once; of a run that has only begun it does not say yet whose it is. */
async function inBackground(call: Call): Promise<Loose> {
	const { context, misbehaviour } = call;
	const { asked, ...place } = await askedOf(call);
	const { named } = start(context, { ...place, misbehaviour }, asked);
	const isNew = asked.target.executionId === undefined;
	return { ...shown(named), ...(isNew && { assistant_id: null }) };
}

const lastEvent = ({ headers }: Call): string | undefined => {
	const given = headers['last-event-id'];
	return typeof given === 'string' ? given : undefined;
};

/** A run as the server shows it: no word of what was said in it. */
const shown = ({ id, threadId, assistantId, ...run }: RunRecord): Loose => ({
	run_id: id,
	thread_id: threadId,
	assistant_id: assistantId,
	created_at: new Date(run.startedAt).toISOString(),
	updated_at: new Date(run.updatedAt).toISOString(),
	status: run.status,
});

/** The list has no order of its own, and knows of no unknown thread. */
function list({ context, params, query }: Call): Loose[] {
	const [take, skip] = [Number(query.limit ?? 0), Number(query.offset ?? 0)];
	if (Number.isNaN(take) || Number.isNaN(skip)) throw internal();
	const runs = context.store.runs.filter(({ threadId }) => threadId === params.id);
	return runs.slice(skip, take === 0 ? undefined : skip + take).map(shown);
}

/** The run that the path names, whatever its thread: 500 for a malformed id, 404 for an unknown one. */
function runOf({ context, params }: Call): RunRecord {
	if (!isUuid(params.run)) throw internal();
	const record = context.store.runs.find(({ id }) => id === params.run);
	if (record === undefined) throw notFound();
	return record;
}

const get = (call: Call): Loose => shown(runOf(call));

async function cancel(call: Call): Promise<Loose> {
	const record = runOf(call);
	const conversation = call.context.store.conversationOf(call.params.id ?? '');
	if (conversation === undefined) throw notFound();
	await cancelRun(call.context, record, conversation);
	return { canceledExecutionIds: [record.id] };
}

/** Everyone may join a run, while it goes on and after its end; one of another thread is as good as none. */
function join(call: Call): Readable {
	const { context, params } = call;
	const record = context.store.runs.find(
		({ id, threadId }) => id === params.run && threadId === params.id,
	);
	return eventStream(context.clock, record && speechOf(context, record), lastEvent(call));
}

const STREAM = { contentType: 'text/event-stream', headers: STREAM_HEADERS };

const RUNS = '/threads/:id/runs';

/** E4, and the server's own routes for runs in the background. */
export const runEndpoints: Endpoint[] = [
	{ id: 'E4', method: 'POST', path: `${RUNS}/wait`, status: 201, handle: runAndWait },
	{ id: 'runs', method: 'POST', path: RUNS, status: 201, handle: inBackground },
	{ id: 'listRuns', method: 'GET', path: RUNS, status: 200, handle: list },
	{ id: 'run', method: 'GET', path: `${RUNS}/:run`, status: 200, handle: get },
	{ id: 'cancel', method: 'POST', path: `${RUNS}/:run/cancel`, status: 201, handle: cancel },
	{ id: 'join', method: 'GET', path: `${RUNS}/:run/stream`, status: 200, ...STREAM, handle: join },
];
