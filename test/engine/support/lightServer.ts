import { createServer } from 'node:http';

import type { LoadTarget } from './hostileLoad';
import { listen } from './listen';

/** What servers answer of a document beside its id and status: about 1.3 KB. */
const REST = Object.fromEntries(
	Array.from({ length: 30 }, (_, index) => [`column${index}`, 'x'.repeat(30)]),
);

/**
 * In a process of its own: a server that stores and processes documents at once, with answers as large as those of a
 * real one, and keeps nothing of them. The sandbox, as strict and as strange as a real server, takes minutes for what
 * this one does in seconds.
 */
export async function serveLightly(): Promise<LoadTarget> {
	const server = createServer((request, response) => {
		const parts: Buffer[] = [];
		request.on('data', (part: Buffer) => parts.push(part));
		request.on('end', () => {
			const body = Buffer.concat(parts).toString();
			response.setHeader('content-type', 'application/json');
			response.end(JSON.stringify(answerTo(request.url ?? '', body)));
		});
	});
	return {
		baseUrl: `http://127.0.0.1:${await listen(server)}`,
		accessToken: 'token-of-a-light-server',
		knowledgebaseId: '7b0e6c1a-3f52-4f7e-9a44-1d2c3b4a5f60',
	};
}

function answerTo(url: string, body: string): object[] {
	const { pathname, searchParams } = new URL(url, 'http://localhost');
	if (pathname.endsWith('/bulk'))
		return (JSON.parse(body) as object[]).map((document) => ({ ...REST, ...document }));
	if (pathname.endsWith('/process'))
		return (JSON.parse(body) as string[]).map((id) => ({ id, status: 'running', ...REST }));
	const ids = (searchParams.get('ids') ?? '').split(',');
	return ids.map((id) => ({ id, status: 'finish', progress: 100, processMsg: '' }));
}
