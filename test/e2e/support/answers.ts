import { SANDBOX_ASSISTANT_ID } from '../../../sandbox';
import type { Sandbox } from '../../../sandbox';

/** What the assistant of a sandbox says that answers from documents, asked beside n8n. */
export async function answerOf(
	{ url, accessToken }: Pick<Sandbox, 'url' | 'accessToken'>,
	question: string,
): Promise<string | undefined> {
	const post = async (route: string, body: unknown) => {
		const response = await fetch(`${url}/api/ai${route}`, {
			method: 'POST',
			headers: { Authorization: `Bearer ${accessToken}`, 'Content-Type': 'application/json' },
			body: JSON.stringify(body),
		});
		return (await response.json()) as Record<string, string>;
	};
	const { threadId } = await post('/conversations', { xpertId: SANDBOX_ASSISTANT_ID });
	const { content } = await post(`/threads/${threadId}/runs/wait`, {
		assistant_id: SANDBOX_ASSISTANT_ID,
		input: { action: 'send', message: { input: { input: question } } },
	});
	return content;
}
