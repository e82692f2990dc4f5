import { ECHO_ASSISTANT_ID, SANDBOX_ASSISTANT_ID, type Sandbox } from '../../../sandbox';

/** Sends a text to an assistant on a thread and waits for the end of the run, as any client does (E4). */
export async function say(
	{ url, accessToken }: Sandbox,
	threadId: string,
	text: string,
	assistantId = ECHO_ASSISTANT_ID,
): Promise<string> {
	const input = { action: 'send', message: { input: { input: text } } };
	const answer = await fetch(`${url}/api/ai/threads/${threadId}/runs/wait`, {
		method: 'POST',
		headers: { Authorization: `Bearer ${accessToken}`, 'Content-Type': 'application/json' },
		body: JSON.stringify({ assistant_id: assistantId, input }),
	});
	if (!answer.ok) throw new Error(`the run answered ${answer.status}`);
	return await answer.text();
}

/** A conversation with one message; its thread. */
export async function talk(
	sandbox: Sandbox,
	text: string,
	{ title, assistantId }: { title?: string; assistantId?: string } = {},
): Promise<string> {
	const { threadId } = sandbox.store.putConversation(title === undefined ? {} : { title });
	await say(sandbox, threadId, text, assistantId);
	return threadId;
}

/** The answer of the sandbox's assistant that knows the documents. */
export async function answerOf(sandbox: Sandbox, question: string): Promise<string> {
	const { threadId } = sandbox.store.putConversation({});
	return await say(sandbox, threadId, question, SANDBOX_ASSISTANT_ID);
}
