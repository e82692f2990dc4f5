import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { IExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow';

import type { Sandbox } from '../../../sandbox';
import { derivedId } from '../../../nodes/XpertAi/payloads/derivedId';
import { openConversation } from '../../../nodes/XpertAi/runs/openConversation';
import { withDeadline } from '../../../nodes/XpertAi/runs/run';
import type { RunResult } from '../../../nodes/XpertAi/runs/run';
import { runAndWait } from '../../../nodes/XpertAi/runs/runThread';
import { createSend } from '../../../nodes/XpertAi/transport/request';
import { contextWith } from '../../nodes/support/context';
import { clock } from './clock';

/*
 * Workers of n8n, each a process of its own: they share nothing but the server, not even the order that one process
 * keeps among its executions.
 */

/** Sends a request as n8n's client does. */
async function request(token: string, options: IHttpRequestOptions) {
	const response = await fetch(options.url, {
		method: options.method,
		headers: { ...(options.headers as object), Authorization: `Bearer ${token}` },
		body: options.body as string | undefined,
		signal: AbortSignal.timeout(options.timeout ?? 30_000),
	});
	const headers = Object.fromEntries(response.headers);
	const body =
		options.encoding === 'stream' && response.body
			? Readable.fromWeb(response.body as ReadableStream)
			: await response.text();
	return { statusCode: response.status, statusMessage: response.statusText, headers, body };
}

/** How long a worker waits for an answer. */
const DEADLINE_MS = 900_000;

/** A worker, and what it does: says something under a key, as an execution of its own. */
export async function worker({ url, accessToken }: Sandbox) {
	const context = contextWith({
		getCredentials: (async () => ({
			...{ baseUrl: url, accessToken, allowInsecureHttp: true },
			allowedHttpRequestDomains: 'all',
		})) as IExecuteFunctions['getCredentials'],
		getExecutionCancelSignal: () => undefined,
		helpers: {
			httpRequestWithAuthentication: async (_: string, options: IHttpRequestOptions) =>
				await request(accessToken, options),
		} as unknown as IExecuteFunctions['helpers'],
	});
	const send = await createSend(context);
	return async (key: string, assistant: string, message: string): Promise<RunResult> => {
		const inTime = withDeadline({ send, clock, deadline: clock.now() + DEADLINE_MS });
		const opened = await openConversation(inTime, derivedId(assistant, key));
		if (!opened || 'failure' in opened)
			return { status: 'failed', recovered: false, failure: opened?.failure };
		const input = { action: 'send', message: { input: { input: message } } };
		return await runAndWait({
			...{ ...inTime, threadId: opened.threadId, body: { assistant_id: assistant, input } },
			...{ isNew: false, whenBusy: 'wait', whenStopped: 'leave', whenLate: 'leave' },
			...{ cancelSilentMs: 0, inOneRequest: false, routes: { areMissing: false } },
		});
	};
}
