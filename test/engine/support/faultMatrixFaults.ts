import type { FaultRule } from '../../../sandbox';
import { clock } from './clock';
import type { Reactions } from './faultMatrixReactions';
import {
	ANSWERED,
	FINAL,
	FOREIGN_404,
	NOT_PROCESSED,
	OTHER_RECORD,
	REJECTED,
	ROUTE_MISSING,
	SERVER_ERROR,
	TIMED_OUT,
	UNCERTAIN,
} from './faultMatrixReactions';

/** The access token of every cell. */
export const MARK = 'token-9c41f7-stays-home';

/** Longer than any operation waits. */
export const A_DAY_MS = 24 * 3_600_000;

/** Something that goes wrong with a request. */
export interface Fault {
	title: string;
	/** What the message says of it; `…` stands for any words. */
	words: string;
	/** What each kind of operation does about it. */
	reactions: Reactions;
	/** Status of the answer, or Node's code where none comes; as it stands in the error. */
	code: string;
	/** Whether the fault comes with a whole head, and so with a request ID. */
	isAnswered: boolean;
	/** Whether the answer is one of another server, which is tried three times at most. */
	isForeign: boolean;
	/** How the sandbox misbehaves, given what it would answer, before or after it has done the work. */
	rules?: (answer: string, when: 'before' | 'after') => FaultRule[];
	/** What keeps the request from being sent. */
	unreachable?: 'refused' | 'unknownHost';
	/** Whether the server never reads the request. */
	isUnread?: boolean;
}

interface Answer {
	body?: string | ((answer: string) => string);
	type?: string;
	headers?: () => Record<string, string>;
}

/** An answer, in which the token stands where no message may take it from. */
function answered(
	title: string,
	status: number,
	reactions: Reactions,
	words: string,
	{ body = REASON, type = 'application/json', headers }: Answer = {},
): Fault {
	return {
		title,
		words,
		reactions,
		code: String(status),
		isAnswered: true,
		isForeign: false,
		rules: (answer, when) => [
			{
				do: 'status',
				status,
				when,
				contentType: type,
				headers: headers?.(),
				body: typeof body === 'string' ? body : body(answer),
			},
		],
	};
}

const REASON = JSON.stringify({ message: 'not today', echo: `Authorization: Bearer ${MARK}` });

const status = (code: number, reactions: Reactions, title = String(code), answer?: Answer) =>
	answered(title, code, reactions, `The server answered ${code}: not today`, answer);

/** An answer that another server may have given. */
const foreign = (
	title: string,
	code: number,
	words: string,
	body: Answer['body'],
	type?: string,
) => ({
	...answered(title, code, code === 404 ? FOREIGN_404 : UNCERTAIN, words, { body, type }),
	isForeign: true,
});

/** An answer of 200 or the like that the node cannot take for one. */
const unreadable = (
	title: string,
	code: number,
	why: string,
	body: Answer['body'],
	type?: string,
) => foreign(title, code, `The server's answer cannot be read: ${why} (HTTP ${code})`, body, type);

/** No answer, or half of one. */
const lost = (title: string, code: string, why: string, reactions: Reactions): Fault => ({
	title,
	words: `The server could not be reached: ${why} (${code})`,
	reactions,
	code,
	isAnswered: false,
	isForeign: false,
});

const redirect = (title: string, to: string, where: string) =>
	answered(
		title,
		307,
		FINAL,
		`The server redirects to ${where}, which the node does not follow with your token (HTTP 307)`,
		{ headers: () => ({ Location: to }) },
	);

const missing = (message: string): Answer => ({
	body: JSON.stringify({ message, error: 'Not Found', statusCode: 404 }),
});

const page = (title: string) => `<html><title>${title}</title><p>Bearer ${MARK}</p></html>`;

/** Another ID in the place of each in an answer. */
const ofAnother = (answer: string) =>
	answer.replace(
		/("(?:run_)?id":|"canceledExecutionIds":\[)"[^"]*"/g,
		'$1"9d0b5d29-99cd-433a-8aed-09da49af7099"',
	);

const FAILED = '{"statusCode":500,"message":"Internal server error"}';
const SAYS_500 = 'it says 500 itself: Internal server error';
const CLOSED = 'the connection was closed before an answer came';
const IN_A_SECOND = { headers: () => ({ 'Retry-After': '1' }) };
const AT_A_DATE = {
	headers: () => ({ 'Retry-After': new Date(clock.now() + 1_000).toUTCString() }),
};

/** Every fault of the matrix. */
export const FAULTS: Fault[] = [
	...[400, 413, 422].map((code) => status(code, REJECTED)),
	...[401, 403, 409].map((code) => status(code, FINAL)),
	status(404, FINAL, '404 of the API for a record', missing('not today')),
	answered(
		'404 of the API for its route',
		404,
		ROUTE_MISSING,
		'The server answered 404: Cannot POST /not/today',
		missing('Cannot POST /not/today'),
	),
	foreign('404 in JSON of another server', 404, 'The server answered 404: not today', REASON),
	foreign(
		'404 as an HTML page',
		404,
		'The server answered 404: an HTML page with the title "404 Not Found"',
		page('404 Not Found'),
		'text/html',
	),
	foreign(
		'404 as text',
		404,
		'The server answered 404: 404 page not found',
		'404 page not found',
		'text/plain',
	),
	foreign('404 without a body', 404, 'The server answered 404: Not Found', '', 'text/plain'),
	...[408, 425, 502, 503, 504, 520, 522, 524, 529, 530].map((code) => status(code, UNCERTAIN)),
	status(429, NOT_PROCESSED),
	status(429, NOT_PROCESSED, '429 with Retry-After in seconds', IN_A_SECOND),
	status(429, NOT_PROCESSED, '429 with Retry-After as a date', AT_A_DATE),
	status(503, NOT_PROCESSED, '503 with Retry-After', IN_A_SECOND),
	status(500, SERVER_ERROR),
	{
		...lost(
			'Connection refused',
			'ECONNREFUSED',
			'nothing accepts connections at this address',
			NOT_PROCESSED,
		),
		unreachable: 'refused',
	},
	{
		...lost('Unknown host name', 'ENOTFOUND', 'the host name is not known', NOT_PROCESSED),
		unreachable: 'unknownHost',
	},
	{
		...lost('Connection reset before the request was read', 'ECONNRESET', CLOSED, UNCERTAIN),
		rules: () => [{ do: 'drop', when: 'unread', reset: true }],
		isUnread: true,
	},
	{
		...lost('Connection reset after the request was read', 'ECONNRESET', CLOSED, UNCERTAIN),
		rules: (_, when) => [{ do: 'drop', when, reset: true }],
	},
	{
		...lost('No answer within Timeout', 'ECONNABORTED', '', TIMED_OUT),
		words: 'The server did not answer in time',
		rules: (_, when) => [{ do: 'delay', ms: A_DAY_MS, when }],
	},
	{
		...lost(
			'Connection cut in the middle of the answer',
			'ERR_BAD_RESPONSE',
			'the connection was closed in the middle of the answer',
			UNCERTAIN,
		),
		rules: (answer, when) => [
			{
				do: 'status',
				status: 200,
				body: answer.padEnd(1_000),
				contentType: 'application/json',
				when,
			},
			{ do: 'truncate' },
		],
	},
	unreadable('Truncated JSON', 200, 'it breaks off or is not valid JSON', `{"token":"${MARK}`),
	unreadable(
		'HTML page with 200',
		200,
		'it is an HTML page, not an answer of this API',
		page('Bad Gateway'),
		'text/html',
	),
	answered(
		'HTML page with 502',
		502,
		UNCERTAIN,
		'The server answered 502: an HTML page with the title "Bad Gateway"',
		{ body: page('Bad Gateway'), type: 'text/html' },
	),
	...[200, 201, 204].map((code) => unreadable(`Empty body with ${code}`, code, 'it is empty…', '')),
	unreadable('`{}` with 200', 200, '…', '{}'),
	unreadable('`[]` with 200', 200, '…', '[]'),
	...[200, 201].map((code) => unreadable(`Failure with ${code}`, code, SAYS_500, FAILED)),
	unreadable(
		'`{"success":false}` with 200',
		200,
		'it says that nothing was done',
		'{"success":false}',
	),
	unreadable('JSON of another service with 200', 200, '…', '{"service":"billing","healthy":true}'),
	{ ...unreadable('Record of another ID with 200', 200, '…', ofAnother), reactions: OTHER_RECORD },
	{
		...answered('Wrong content type with 200', 200, ANSWERED, ''),
		rules: () => [{ do: 'contentType', value: 'image/png' }],
	},
	redirect('Redirect to the same origin', '/moved', 'another path of the same server'),
	redirect('Redirect to another origin', 'https://evil.example/api/ai', 'https://evil.example'),
];
