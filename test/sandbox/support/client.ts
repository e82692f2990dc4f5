import axios, { type AxiosInstance } from 'axios';
import { ECHO_ASSISTANT_ID, type Sandbox } from '../../../sandbox';

/** An HTTP client with the sandbox's token that takes every answer, also errors and redirects, as it is. */
export const clientFor = (
	sandbox: Pick<Sandbox, 'url' | 'accessToken'>,
	token = sandbox.accessToken,
): AxiosInstance =>
	axios.create({
		baseURL: sandbox.url,
		headers: { authorization: `Bearer ${token}` },
		validateStatus: () => true,
		maxRedirects: 0,
	});

/** What a run is asked, in the form with an action. */
export const say = (text: string, assistantId: string = ECHO_ASSISTANT_ID) => ({
	assistant_id: assistantId,
	input: { action: 'send', message: { input: { input: text } } },
});

/** Sends a text to a thread and gives the answer's status and body. */
export async function runOn(
	client: AxiosInstance,
	threadId: string,
	text: string,
	assistantId?: string,
) {
	const { status, data } = await client.post<{ role: string; content: string }>(
		`/api/ai/threads/${threadId}/runs/wait`,
		say(text, assistantId),
	);
	return { status, data };
}

/** Uploads a text or bytes as a file. */
export async function upload(client: AxiosInstance, content: string | Buffer, name = 'a.txt') {
	const form = new FormData();
	form.append('file', new Blob([content], { type: 'text/plain' }), name);
	const { data } = await client.post<{ id: string; url: string }>('/api/ai/v1/file', form);
	return data;
}
