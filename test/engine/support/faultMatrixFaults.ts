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
	/** Whether somebody else seems to answer, whom nothing is sent more than three times in a row. */
	strange?: boolean;
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

/** An answer with this body, in which the token may stand. */
const body = (
	title: string,
	code: number,
	text: string | ((token: string) => string),
	type = 'application/json',
): Fault =>
	answer(title, code, (exchange) => {
		const content = typeof text === 'string' ? text : text(exchange.token);
		send(exchange, code, content, { 'Content-Type': type });
	});

const strange = (fault: Fault): Fault => ({ ...fault, strange: true });

const missing = (message: string) =>
	JSON.stringify({ message, error: 'Not Found', statusCode: 404 });

const notFoundPage = (token: string) =>
	`<html><head><title>404 Not Found</title></head><body>Bearer ${token}</body></html>`;

const REFUSAL = '{"statusCode":500,"message":"Internal server error"}';

/** Another id in the place of each in an answer. */
const ofAnother = (text: string) =>
	text.replace(
		/("(?:run_)?id":|"canceledExecutionIds":\[)"[^"]*"/g,
		'$1"9d0b5d29-99cd-433a-8aed-09da49af7099"',
	);

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
	...[400, 401, 403].map((code) => status(code)),
	body('404 of the API for a record', 404, missing('not today')),
	body('404 of the API for its route', 404, missing('Cannot POST /not/today')),
	strange(status(404, '404 in JSON of somebody else')),
	strange(body('404 as an HTML page', 404, notFoundPage, 'text/html')),
	strange(body('404 as text', 404, '404 page not found', 'text/plain')),
	strange(body('404 without a body', 404, '', 'text/plain')),
	...[408, 409, 413, 422, 425].map((code) => status(code)),
	status(429),
	status(429, '429 with Retry-After in seconds', () => ({ 'Retry-After': '1' })),
	status(429, '429 with Retry-After as a date', () => ({ 'Retry-After': inOneSecond() })),
	...[500, 502, 503].map((code) => status(code)),
	status(503, '503 with Retry-After', () => ({ 'Retry-After': '1' })),
	...[504, 520, 522, 524, 529, 530].map((code) => status(code)),
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
	strange(body('Truncated JSON', 200, (token) => `{"token":"${token}`)),
	strange(body('HTML page with 200', 200, html, 'text/html')),
	body('HTML page with 502', 502, html, 'text/html'),
	strange(body('Empty body with 200', 200, '')),
	strange(body('Empty body with 201', 201, '')),
	strange(body('Empty body with 204', 204, '')),
	strange(body('`{}` with 200', 200, '{}')),
	strange(body('`[]` with 200', 200, '[]')),
	strange(body('A no with 200', 200, REFUSAL)),
	strange(body('A no with 201', 201, REFUSAL)),
	strange(body('`{"success":false}` with 200', 200, '{"success":false}')),
	strange(body('JSON of another service with 200', 200, '{"service":"billing","healthy":true}')),
	strange(
		answer('Record of another ID with 200', 200, (exchange) =>
			send(exchange, 200, ofAnother(exchange.answer)),
		),
	),
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
