import type { Call, Endpoint } from '../context';
import { insertInto, notNull } from '../databaseErrors';
import { badRequest, forbidden, internal, notFound } from '../errors';
import { readRunInput } from '../runInput';
import type { Assistant } from '../store';
import { asObject, isUuid, type Loose } from '../values';
import { interruptsOf, runConversation } from '../xpertRuns';

/** The assistant asked for, or the first there is when none is named. */
function assistantFor({ context }: Call, id: unknown): Assistant {
	if (id !== undefined && !isUuid(id)) throw internal();
	const [first] = context.store.assistants.values();
	const assistant = id === undefined ? first : context.store.assistants.get(id);
	if (assistant === undefined) throw notFound();
	return assistant;
}

function checkAccess({ caller }: Call, assistant: Assistant, boundTo: string | null): void {
	if (caller.kind === 'plain') throw forbidden('Access denied to workspace');
	if (caller.kind === 'assistant' && caller.assistantId !== assistant.id) {
		throw forbidden('API key is not allowed to access this assistant.');
	}
	if (boundTo !== null && boundTo !== assistant.id) throw forbidden();
}

/** Files given to a run must have been uploaded; the server notices only when it saves (`E04` "files unknown id"). */
function checkFiles({ context }: Call, ids: unknown[]): void {
	const unknown = ids.find((id) => !context.store.files.has(String(id)));
	if (unknown === undefined) return;
	const row = { id: unknown };
	throw notNull(insertInto('storage_file', row), 'storage_file', 'file');
}

/** The order of the checks is the recorded one: assistant, thread, input, access. */
async function runAndWait(call: Call): Promise<Loose> {
	if (call.body === undefined) throw internal();
	const body = asObject(call.body);
	const assistant = assistantFor(call, body.assistant_id);
	const conversation = call.context.store.conversationOf(call.params.id ?? '');
	if (conversation === undefined) throw internal();
	const input = readRunInput(body.input);
	checkAccess(call, assistant, conversation.xpertId);
	checkFiles(call, input.fileIds);
	const { context, misbehaviour } = call;
	const content = await runConversation(context, assistant, conversation, input, misbehaviour);
	return { role: 'ai', content };
}

/** Unknown threads, and threads that never ran, both fail. An interrupted one shows what it waits for. */
function get({ context, params }: Call): Loose {
	const thread = context.store.threads.get(params.id ?? '');
	if (thread === undefined) throw internal();
	return {
		thread_id: thread.threadId,
		status: thread.status,
		metadata: { assistant_id: thread.assistantId },
		values: { messages: thread.messages },
		...(thread.interrupt && { interrupts: interruptsOf(thread) }),
	};
}

function copy(): never {
	throw badRequest('This feature is not yet implemented.');
}

/** E4, E10 and E15. */
export const threadEndpoints: Endpoint[] = [
	{ id: 'E4', method: 'POST', path: '/threads/:id/runs/wait', status: 201, handle: runAndWait },
	{ id: 'E10', method: 'POST', path: '/threads/:id/copy', status: 201, handle: copy },
	{ id: 'E15', method: 'GET', path: '/threads/:id', status: 200, handle: get },
];
