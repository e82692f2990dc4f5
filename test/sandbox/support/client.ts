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

/** A conversation's thread to run on. */
export async function newThread(client: AxiosInstance): Promise<string> {
	const { data } = await client.post<{ threadId: string }>('/api/ai/conversations', {});
	return data.threadId;
}

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
export async function upload(
	client: AxiosInstance,
	content: string | Buffer,
	name = 'a.txt',
	path = '/api/ai/v1/file',
) {
	const form = new FormData();
	form.append('file', new Blob([content], { type: 'text/plain' }), name);
	const { data } = await client.post<{
		id: string;
		fileId?: string;
		storageFileId?: string;
		url: string;
	}>(path, form);
	return data;
}

/** Asks until the answer is as wanted, for ten seconds at most. */
export async function until<T>(ask: () => Promise<T>, wanted: (answer: T) => boolean): Promise<T> {
	const end = Date.now() + 10_000;
	for (;;) {
		const answer = await ask();
		if (wanted(answer) || Date.now() > end) return answer;
		await new Promise((resolve) => setTimeout(resolve, 10));
	}
}
