import type { Call, Endpoint } from '../context';
import { badRequest, forbidden, internal, notFound } from '../errors';
import { runConversation } from '../conversationRuns';
import { filesGiven, opened } from '../runFiles';
import { readRunInput } from '../runInput';
import type { Assistant } from '../store';
import { shownThread } from '../threadState';
import { asObject, isUuid, type Loose } from '../values';

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

/** The order of the checks is the recorded one: assistant, thread, input, access. */
async function runAndWait(call: Call): Promise<Loose> {
	if (call.body === undefined) throw internal();
	const body = asObject(call.body);
	const assistant = assistantFor(call, body.assistant_id);
	const conversation = call.context.store.conversationOf(call.params.id ?? '');
	if (conversation === undefined) throw internal();
	const input = readRunInput(body.input);
	checkAccess(call, assistant, conversation.xpertId);
	const { context, misbehaviour } = call;
	const given = filesGiven(context, input.files);
	const asked = {
		...input,
		attachments: given.map(({ told }) => told).join(''),
		opened: assistant.answers === 'documents' ? await opened(given) : [],
	};
	const content = await runConversation(context, assistant, conversation, asked, misbehaviour);
	return { role: 'ai', content };
}

/** Unknown threads, and threads that never ran, both fail. */
function get({ context, params }: Call): Loose {
	const thread = context.store.threads.get(params.id ?? '');
	if (thread === undefined) throw internal();
	return shownThread(context, thread);
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
