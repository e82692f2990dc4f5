import { Readable } from 'node:stream';

import get from 'lodash/get';
import isPlainObject from 'lodash/isPlainObject';
import type {
	IBinaryKeyData,
	IDataObject,
	IExecuteFunctions,
	IHttpRequestOptions,
	INodeParameters,
} from 'n8n-workflow';

import { catalogue } from '../../../nodes/XpertAi/catalogue';
import { execute } from '../../../nodes/XpertAi/execution/execute';
import { isCoded } from '../../../nodes/XpertAi/execution/operation';
import { parseAnswer } from '../../../nodes/XpertAi/transport/answer';
import { contextWith } from '../../nodes/support/context';
import { node } from '../../nodes/support/node';
import { CREDENTIAL } from '../../nodes/support/sender';
import { calledBy } from './caseOperations';
import { ALL_CASES } from './cases';
import { routesOf } from './hostileJudge';
import { GOOD_ID } from './hostileTargets';
import { deepFreeze } from './hostileValues';

/** One item and the parameters of the node. */
export interface Call {
	parameters: INodeParameters;
	json: Record<string, unknown>;
}

/** What a call came to, and what reached n8n's HTTP helper on the way. */
export interface CallOutcome {
	requests: IHttpRequestOptions[];
	error?: unknown;
	milliseconds: number;
}

const BINARY: IBinaryKeyData = {
	data: { data: 'W10=', mimeType: 'application/json', fileName: 'a.json' },
};

/** Runs the node without the engine; parameters and item are frozen, so that nothing can change them. */
export async function call({ parameters, json }: Call): Promise<CallOutcome> {
	deepFreeze(parameters);
	const items = deepFreeze([{ json: json as IDataObject, binary: structuredClone(BINARY) }]);
	const requests: IHttpRequestOptions[] = [];
	const methods: Partial<Record<keyof IExecuteFunctions, unknown>> = {
		getNode: () => ({ ...node, parameters }),
		getNodeParameter: (name: string, _index: number, fallback?: unknown): unknown =>
			get(parameters, name, fallback),
		getInputData: () => items,
		getCredentials: async () => CREDENTIAL,
		getExecutionCancelSignal: () => undefined,
		getParentNodes: () => [],
		getChildNodes: () => [],
		continueOnFail: () => false,
		getMode: () => 'trigger',
		getWorkflow: () => ({ id: 'workflow', name: 'Hostile', active: true }),
		getExecutionId: () => '1',
		addExecutionHints: () => undefined,
		helpers: {
			getBinaryDataBuffer: async () => Buffer.from('[{"name":"from a file"}]'),
			httpRequestWithAuthentication: async (_name: string, options: IHttpRequestOptions) => {
				requests.push(options);
				const text = JSON.stringify(answerTo(options, requests)) ?? '';
				const isStream = options.encoding === 'stream';
				const body = isStream ? Readable.from([Buffer.from(text)]) : text;
				return { statusCode: 201, headers: {}, body };
			},
		},
	};
	const started = performance.now();
	const outcome: CallOutcome = { requests, milliseconds: 0 };
	try {
		await execute(contextWith(methods as Partial<IExecuteFunctions>), catalogue);
	} catch (error) {
		outcome.error = error;
	}
	return { ...outcome, milliseconds: performance.now() - started };
}

/** What the cases say is answered, by route. */
const ANSWERS = ALL_CASES.map((one) => ({
	routes: isCoded(calledBy(one)) ? [] : routesOf(calledBy(one)),
	answer: one.answer,
}));

/** A conversation is made on the thread that is asked for. */
function asked(body: unknown): object {
	const { threadId = GOOD_ID } = (parseAnswer(String(body ?? '{}')) ?? {}) as IDataObject;
	return { threadId };
}

/** The conversation of the thread that is looked for; until something is sent there, its run waits for a person. */
function found(body: unknown, hasBegun: boolean): object {
	const threadId: unknown = get(parseAnswer(String(body ?? '{}')), 'where.threadId');
	const tasks = [{ id: 'task', name: 'agent', call: { id: 'call_1', name: 'tool', args: {} } }];
	const ofRun = hasBegun ? { status: 'idle' } : { status: 'interrupted', operation: { tasks } };
	return { id: GOOD_ID, threadId, ...ofRun };
}

/** The messages of the run that is asked for. */
function saidBy(body: unknown): object {
	const executionId: unknown = get(parseAnswer(String(body ?? '{}')), 'where.executionId');
	return { items: [{ id: GOOD_ID, role: 'ai', content: 'the answer', executionId }], total: 1 };
}

/** All documents are processed; an id that holds a comma is the whole. */
function statusesOf(ids: string): object[] {
	return [...new Set([...ids.split(','), ids])].map((id) => ({ id, status: 'finish' }));
}

/** The answers about the runs of a thread: there is one run, which waits for a person until something is sent to it. */
function ofRuns(named: string[], method: string | undefined, hasBegun: boolean): unknown {
	const at = named.indexOf('runs');
	const [thread, asked = GOOD_ID, action] = [named[at - 1], named[at + 1], named[at + 2]];
	if (action === 'cancel') return { canceledExecutionIds: [asked] };
	const run = {
		...{ run_id: asked, thread_id: thread, assistant_id: GOOD_ID },
		status: hasBegun ? 'success' : 'interrupted',
		created_at: '2025-08-01T08:00:00.000Z',
	};
	return method === 'GET' && at === named.length - 1 ? [run] : run;
}

/** What a server answers to a good request, after those that arrived; undefined where that is nothing. */
export function answerTo(
	{ url, method, body }: Pick<IHttpRequestOptions, 'url' | 'method'> & { body?: unknown },
	arrived: Array<{ url: string; method?: string }>,
): unknown {
	const { pathname, searchParams } = new URL(url);
	const hasBegun = arrived.some((one) => one.method === 'POST' && /\/runs(\/wait)?$/.test(one.url));
	if (pathname.endsWith('/bulk'))
		return (JSON.parse(String(body)) as object[]).map((record) => ({
			...record,
			id: get(record, 'id') ?? GOOD_ID,
		}));
	if (pathname.endsWith('/status')) return statusesOf(searchParams.get('ids') ?? '');
	if (pathname.endsWith('/v1/file')) return { id: GOOD_ID, url: 'https://example.com/a.md' };
	if (pathname.endsWith('/runs/wait')) return { role: 'assistant', content: 'the answer' };
	if (pathname.endsWith('/conversations/search'))
		return { items: [found(body, hasBegun)], total: 1 };
	if (pathname.endsWith('/messages/search')) return saidBy(body);
	if (pathname.endsWith('/conversations')) return { ...asked(body), id: GOOD_ID };
	if (pathname.endsWith('/messages')) return { items: [], total: 0 };
	const named = pathname.split('/').map(decodeURIComponent);
	if (pathname.includes('/runs')) return ofRuns(named, method, hasBegun);
	// Only a thread that was interrupted can be given a decision; it takes a message as well.
	const status = hasBegun ? 'idle' : 'interrupted';
	if (pathname.includes('/threads/'))
		return {
			thread_id: named[named.indexOf('threads') + 1],
			status,
			metadata: { assistant_id: GOOD_ID },
			values: { messages: hasBegun ? [{ content: 'the answer', tool_calls: [] }] : [] },
		};
	const route = `${method} ${pathname}`;
	const { answer } = ANSWERS.find(({ routes }) => routes.some((one) => one.test(route))) ?? {
		answer: {},
	};
	// Only the record that was asked for, or was to be updated, is an answer.
	const ids = method === 'POST' ? {} : { id: named.at(-1), assistant_id: named.at(-1) };
	return isPlainObject(answer) ? { ...(answer as object), ...ids } : answer;
}
