import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { IExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow';

import type { Sandbox } from '../../../sandbox';
import { derivedId } from '../../../nodes/XpertAi/payloads/ids';
import { type RunResult } from 'nodes/XpertAi/runs/result';
import { intentOf } from 'nodes/XpertAi/runs/runBody';
import { withDeadline } from 'nodes/XpertAi/runs/client';
import { openConversationByKey } from 'nodes/XpertAi/runs/openConversation';

import { runAndWait } from '../../../nodes/XpertAi/runs/runThread';
import { connectionWithoutItem } from '../../../nodes/XpertAi/transport/request';
import { contextWith } from '../../nodes/support/context';
import { clock } from './clock';

/*
 * Workers of n8n, each a process of its own: they share nothing but the server, not even the order that one process
 * keeps among its executions.
 */

/** When a worker is killed: the number of the request with which it is, and whether this arrives. */
export interface Kill {
	sent: number;
	arrives: boolean;
}

const forever = async () => await new Promise<never>(() => undefined);

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

const DEADLINE_MS = 900_000;

/** A worker, and what it does: says something under a key, as an execution of its own. */
export async function worker({ url, accessToken }: Sandbox, kill?: Kill) {
	let sent = -1;
	const context = contextWith({
		getCredentials: (async () => ({
			baseUrl: url,
			accessToken,
			allowInsecureHttp: true,
			allowedHttpRequestDomains: 'all',
		})) as IExecuteFunctions['getCredentials'],
		getExecutionCancelSignal: () => undefined,
		helpers: {
			httpRequestWithAuthentication: async (_: string, options: IHttpRequestOptions) => {
				sent += 1;
				const last = kill?.sent ?? Infinity;
				if (sent > last || (sent === last && !kill?.arrives)) return await forever();
				const answer = await request(accessToken, options);
				return sent >= last ? await forever() : answer;
			},
		} as unknown as IExecuteFunctions['helpers'],
	});
	const { send } = await connectionWithoutItem(context);
	const owner = {};
	const lockSupport = { rejectionsInRow: { creation: 0, deletion: 0 } };
	return async (key: string, assistant: string, message: string): Promise<RunResult> => {
		const client = withDeadline({ send, clock, deadline: clock.now() + DEADLINE_MS });
		const keyId = derivedId(assistant, key);
		const opened = await openConversationByKey(client, { keyId, owner, credentialId: 'any' });
		if ('status' in opened) return opened;
		const input = { action: 'send', message: { input: { input: message } } };
		const body = { assistant_id: assistant, input };
		return await runAndWait({
			...client,
			threadId: opened.threadId,
			facts: { ...opened },
			body,
			intent: intentOf('message', body),
			isThreadNew: false,
			whenBusy: 'wait',
			cancelSilentMs: 0,
			backgroundRoutes: { areMissing: false },
			lockSupport,
		});
	};
}
