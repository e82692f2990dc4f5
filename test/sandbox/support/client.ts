import axios, { type AxiosInstance } from 'axios';
import type { Sandbox } from '../../../sandbox';

/** An HTTP client with the sandbox's token that takes every answer, also errors and redirects, as it is. */
export const clientFor = ({ url, accessToken }: Pick<Sandbox, 'url' | 'accessToken'>) =>
	axios.create({
		baseURL: url,
		headers: { authorization: `Bearer ${accessToken}` },
		validateStatus: () => true,
		maxRedirects: 0,
	});

export async function upload(client: AxiosInstance, content: string | Buffer, name = 'a.txt') {
	const form = new FormData();
	form.append('file', new Blob([content], { type: 'text/plain' }), name);
	const { data } = await client.post<{ id: string; url: string }>('/api/ai/v1/file', form);
	return data;
}
