import type { IncomingMessage, ServerResponse } from 'node:http';

/** What stands in every answer of the fault server, so that a test can look for it in errors. */
export const REQUEST_ID = 'req-fault-matrix';

/** What arrived, how it would be answered, and the token that came with it. */
export interface Exchange {
	request: IncomingMessage;
	response: ServerResponse;
	/** The answer of a server without fault. */
	answer: string;
	token: string;
}

/** Something that goes wrong with a request. */
export interface Fault {
	/** How `docs/reliability.md` names it. */
	title: string;
	/** Status of the answer, or Node's code where none comes; as it stands in the error. */
	code?: string;
	/** Whether the fault comes with a whole head, and so with a request ID. */
	answered: boolean;
	/** Misbehaves. Faults without it keep the request from being sent. */
	misbehave?: (exchange: Exchange) => void;
	/** What keeps the request from being sent. */
	unreachable?: 'refused' | 'unknownHost';
	/** Whether the request was read, so that the server may have done the work. */
	read: boolean;
}

/** An answer with the token in it, where no error may take it from. */
const reasonWith = (token: string) =>
	JSON.stringify({ message: 'not today', echo: `Authorization: Bearer ${token}` });

function send(
	{ response }: Exchange,
	status: number,
	body: string,
	headers: Record<string, string> = {},
): void {
	response
		.writeHead(status, {
			'Content-Type': 'application/json',
			'x-request-id': REQUEST_ID,
			...headers,
		})
		.end(body);
}

const html = (token: string) =>
	`<!DOCTYPE html><title>Bad Gateway</title><p>Authorization: Bearer ${token}</p>`;

const status = (
	code: number,
	title = String(code),
	headers: () => Record<string, string> = () => ({}),
): Fault => ({
	title,
	code: String(code),
	answered: true,
	read: true,
	misbehave: (exchange) => send(exchange, code, reasonWith(exchange.token), headers()),
});

const answer = (title: string, code: number, misbehave: (exchange: Exchange) => void): Fault => ({
	title,
	code: String(code),
	answered: true,
	read: true,
	misbehave,
});

const inOneSecond = () => new Date(Date.now() + 1_000).toUTCString();

/** Every fault of the matrix, in the order of the page. */
export const FAULTS: Fault[] = [
	...[400, 401, 403, 404, 408, 409, 413, 422, 425].map((code) => status(code)),
	status(429),
	status(429, '429 with Retry-After in seconds', () => ({ 'Retry-After': '1' })),
	status(429, '429 with Retry-After as a date', () => ({ 'Retry-After': inOneSecond() })),
	...[500, 502, 503].map((code) => status(code)),
	status(503, '503 with Retry-After', () => ({ 'Retry-After': '1' })),
	status(504),
	{
		title: 'Connection refused',
		code: 'ECONNREFUSED',
		answered: false,
		read: false,
		unreachable: 'refused',
	},
	{
		title: 'Unknown host name (DNS)',
		code: 'ENOTFOUND',
		answered: false,
		read: false,
		unreachable: 'unknownHost',
	},
	{
		title: 'Connection reset before the request was read',
		code: 'ECONNRESET',
		answered: false,
		read: false,
		misbehave: ({ request }) => request.socket.resetAndDestroy(),
	},
	{
		title: 'Connection reset after the request was read',
		code: 'ECONNRESET',
		answered: false,
		read: true,
		misbehave: ({ request }) => request.socket.resetAndDestroy(),
	},
	{
		title: 'No answer within Timeout',
		code: 'ECONNABORTED',
		answered: false,
		read: true,
		misbehave: () => undefined,
	},
	{
		title: 'Connection cut in the middle of the answer',
		code: 'ERR_BAD_RESPONSE',
		answered: false,
		read: true,
		misbehave: ({ request, response, answer: whole }) => {
			response.writeHead(200, { 'Content-Length': String(whole.length + 1_000) });
			response.write(whole, () => request.socket.destroy());
		},
	},
	answer('Truncated JSON', 200, (exchange) => send(exchange, 200, `{"token":"${exchange.token}`)),
	answer('HTML page with 200', 200, (exchange) =>
		send(exchange, 200, html(exchange.token), { 'Content-Type': 'text/html' }),
	),
	answer('HTML page with 502', 502, (exchange) =>
		send(exchange, 502, html(exchange.token), { 'Content-Type': 'text/html' }),
	),
	answer('Empty body with 200', 200, (exchange) => send(exchange, 200, '')),
	answer('Wrong content type with 200', 200, (exchange) =>
		send(exchange, 200, exchange.answer, { 'Content-Type': 'image/png' }),
	),
	answer('Redirect to the same origin', 307, (exchange) =>
		send(exchange, 307, '', { Location: `/moved${exchange.request.url ?? ''}` }),
	),
	answer('Redirect to another origin', 307, (exchange) =>
		send(exchange, 307, '', { Location: 'https://evil.example/api/ai?with=path' }),
	),
];
