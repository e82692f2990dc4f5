import { randomUUID } from 'node:crypto';

/** What a client gets in place of the server's answer. */
export type Answer =
	| { status: number; body?: unknown; headers?: Record<string, string> }
	/** The connection breaks with this code of Node. */
	| { code: string };

const page = '<!DOCTYPE html><html><head><title>Welcome</title></head><body></body></html>';

/** As the API words it. */
const said = (statusCode: number, message: string) => ({
	status: statusCode,
	body: { statusCode, message },
});

/** What proxies, other servers and a server in trouble answer to one request of a night. */
export const NIGHT_FAULTS: Record<string, Answer> = {
	'400': said(400, 'Bad Request'),
	'401': said(401, 'Unauthorized'),
	'403': said(403, 'Forbidden'),
	'404 of somebody else': { status: 404, body: page },
	'404 without a word': { status: 404 },
	'404, no such route': said(404, 'Cannot GET /api/ai/knowledges'),
	'408': { status: 408 },
	'409': said(409, 'Conflict'),
	'413': said(413, 'request entity too large'),
	'429': { status: 429, headers: { 'retry-after': '0' } },
	'500': said(500, 'Internal server error'),
	'502': { status: 502, body: page },
	'503': { status: 503 },
	'503, come back': { status: 503, headers: { 'retry-after': '0' } },
	'504': { status: 504, body: page },
	nothing: { status: 200 },
	'an empty list': { status: 200, body: [] },
	'an empty object': { status: 200, body: {} },
	'a list of something else': { status: 200, body: [{ id: randomUUID(), status: 'finish' }] },
	'an object of something else': { status: 200, body: { success: true } },
	'a failure with 200': {
		status: 200,
		body: { statusCode: 500, message: 'Internal server error' },
	},
	'a page': { status: 200, body: page },
	'a cut connection': { code: 'ECONNRESET' },
	'no answer in time': { code: 'ECONNABORTED' },
};

/** Those that may come after the server has done what it was asked for. */
export const AFTER_DOING = [
	'404 of somebody else',
	'408',
	'500',
	'502',
	'503',
	'504',
	'nothing',
	'an empty list',
	'an empty object',
	'a page',
	'a cut connection',
	'no answer in time',
];
