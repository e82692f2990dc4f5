import { isEqual } from 'lodash';
import type { IHttpRequestOptions } from 'n8n-workflow';

import { isCoded } from '../../../nodes/XpertAi/execution/operation';
import type { Operation } from '../../../nodes/XpertAi/execution/operation';
import { isUuid } from '../../../nodes/XpertAi/payloads/common';
import { endpointOf } from '../../nodes/support/properties';
import type { NodeResult } from './engine';
import type { Target } from './hostileTargets';

/** A request as it is judged. */
export type JudgedRequest = Pick<IHttpRequestOptions, 'url' | 'method' | 'headers' | 'body'> & {
	timeout?: number;
};

const ID = '([^/]+)';

/** What is asked of a thread and its runs; `{}` stands for one id. */
const RUNS = [
	'GET /threads/{}',
	'GET /threads/{}/context-usage',
	'POST /threads/{}/runs/wait',
	'POST /threads/{}/runs',
	'GET /threads/{}/runs/{}/stream',
	'GET /threads/{}/runs',
	'GET /threads/{}/runs/{}',
	'POST /threads/{}/runs/{}/cancel',
	'GET /conversations/{}',
	'DELETE /conversations/{}',
	'GET /conversations/{}/messages',
	'POST /conversations',
	'POST /conversations/search',
	'POST /conversations/{}/messages/search',
];

/** Whose the key is. */
const WHOSE = /^GET \/api\/user\/me$/;

/** What is asked of the documents of a knowledgebase. */
const DOCUMENTS = [
	'POST /v1/file',
	'POST /knowledges/{}/bulk',
	'POST /knowledges/{}/process',
	'GET /knowledges/{}/status',
];

/** Methods and paths an operation may ask for; each group is an id. */
export function routesOf(operation: Operation): RegExp[] {
	const routes = isCoded(operation)
		? endpointOf(operation) === 'E3'
			? DOCUMENTS
			: RUNS
		: [operation, operation.precheck ?? []]
				.flat()
				.map(({ method, path }) => `${method} ${path.replace(/\?.*/, '')}`);
	const own = routes.map(
		(route) => new RegExp(`^${route.replace(' ', ' /api/ai').replace(/\{\w*!?\}/g, ID)}$`),
	);
	return [...own, WHOSE];
}

/** Headers the node may set, and those n8n and its HTTP client add. */
const HEADERS =
	/^(accept|content-type|authorization|user-agent|content-length|accept-encoding|host|connection|transfer-encoding)$/i;

/** The longest wait a timer of Node.js can do. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * What is wrong with a request, if anything: it must go to the host and to a path of the operation,
 * with every id inside its segment.
 */
export function requestFlaw(
	{ url, method, headers, body, timeout }: JudgedRequest,
	operation: Operation,
	origin: string,
): string | undefined {
	if (/[^\x21-\x7e]/.test(url)) return `a character in the address that is not allowed: ${url}`;
	const parsed = new URL(url);
	if (parsed.origin !== origin || parsed.username || parsed.password || parsed.hash)
		return `another origin: ${url}`;
	const route = `${method} ${parsed.pathname}`;
	if (!routesOf(operation).some((one) => one.test(route))) return `another route: ${route}`;
	if ([...parsed.searchParams.keys()].some((key) => key !== 'ids')) return `a query: ${url}`;
	for (const [name, value] of Object.entries(headers ?? {})) {
		if (!HEADERS.test(name) || /[\r\n\0]/.test(String(value))) return `a header: ${name}: ${value}`;
	}
	if (typeof body === 'string') {
		try {
			JSON.parse(body);
		} catch {
			return 'a body that is no JSON';
		}
	}
	// The HTTP client reads the time limit as a whole number out of its text, and 0 as none.
	const timer = timeout === undefined ? 1 : parseInt(String(timeout), 10);
	if (!(timer >= 1 && timer <= LONGEST_TIMER_MS && Math.abs(timer - (timeout ?? 1)) <= 1))
		return `a time limit that is none: ${timeout}`;
	return undefined;
}

/** The ids in a path must be the one that was given, whole, or one that the node makes: a UUID. */
export function idFlaw(
	{ url, method }: JudgedRequest,
	operation: Operation,
	value: unknown,
): string | undefined {
	const route = `${method} ${new URL(url).pathname}`;
	const match = routesOf(operation).map((one) => one.exec(route));
	const segments = match.find((found) => found !== null)?.slice(1) ?? [];
	const id = segments.map(decodeURIComponent).find((one) => !isUuid(one));
	if (id === undefined) return undefined;
	const given = isLocator(value) ? value.value : value;
	const text = typeof given === 'number' ? String(given) : given;
	return text === id || (typeof text === 'string' && text.trim() === id)
		? undefined
		: `the id ${id}`;
}

/** What is wrong with an error, if anything: it must be n8n's, and name the item and one of these parameters, if any. */
export function errorFlaw(
	error: NonNullable<NodeResult['error']>,
	names: string[],
): string | undefined {
	if (error.name !== 'NodeApiError' && error.name !== 'NodeOperationError')
		return `an error that is not typed: ${error.name}: ${error.message}`;
	if (error.context?.itemIndex !== 0) return `an error without the item: ${error.message}`;
	if (error.message.length > 2000) return `a message of ${error.message.length} characters`;
	const named = names.length === 0 || names.some((name) => error.message.includes(`"${name}"`));
	return named ? undefined : `an error that names no parameter: ${error.message.slice(0, 160)}`;
}

/** A switch shows other parameters, so the message may be about one of those, and that of a group about its fields. */
export function namesFor({ path }: Target, all: Target[]): string[] {
	const about = SWITCHES.has(String(path[0]))
		? all
		: all.filter((other) => isEqual(other.path.slice(0, path.length), path));
	const names = about.flatMap((target) => target.names);
	return MAKES_DOCUMENT.has(String(path.at(-1))) ? [...names, 'Document Fields'] : names;
}

/** Without these, the document of the good call has nothing left that could be stored. */
const MAKES_DOCUMENT = new Set(['text', 'name']);

const SWITCHES = new Set(['inputType', 'threadSource', 'documentIdMode', 'options']);

function isLocator(value: unknown): value is { value: unknown } {
	return typeof value === 'object' && value !== null && 'value' in value;
}
