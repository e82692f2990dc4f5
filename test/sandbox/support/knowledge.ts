import type { AxiosInstance } from 'axios';
import { COPILOT_ID, SANDBOX_ASSISTANT_ID } from '../../../sandbox';
import { newThread, runOn, until } from './client';

/** What `status` says of a document. */
interface Status {
	id: string;
	status: string | null;
	progress: number | null;
	processMsg: string | null;
}

/** A knowledgebase with an embedding model, without which nothing in it can be found. */
export async function newKnowledgebase(client: AxiosInstance, name = 'Handbook'): Promise<string> {
	const { data } = await client.post<{ id: string }>('/api/ai/knowledges', {
		name,
		copilotModel: { copilotId: COPILOT_ID, modelType: 'text-embedding', model: 'fake-embed' },
	});
	return data.id;
}

/** Stores documents; gives the answer. */
export const store = (client: AxiosInstance, knowledgebaseId: string, documents: unknown) =>
	client.post<Array<Record<string, unknown>>>(
		`/api/ai/knowledges/${knowledgebaseId}/bulk`,
		documents,
	);

/** Queues documents and waits until all of them are processed; gives where they stand then. */
export async function process(
	client: AxiosInstance,
	knowledgebaseId: string,
	ids: string[],
): Promise<Status[]> {
	const path = `/api/ai/knowledges/${knowledgebaseId}`;
	await client.post(`${path}/process`, ids);
	const { data } = await until(
		async () => await client.get<Status[]>(`${path}/status?ids=${ids.join(',')}`),
		(answer) => answer.data.every(({ status }) => /^(finish|error|cancel)$/.test(status ?? '')),
	);
	return data;
}

/** What the assistant says that answers from documents. */
export async function ask(client: AxiosInstance, question: string): Promise<string> {
	const thread = await newThread(client);
	return (await runOn(client, thread, question, SANDBOX_ASSISTANT_ID)).data.content;
}
