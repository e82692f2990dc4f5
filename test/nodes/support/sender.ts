import { NodeApiError } from 'n8n-workflow';
import type {
	IExecuteFunctions,
	IHttpRequestOptions,
	IN8nHttpFullResponse,
	JsonObject,
} from 'n8n-workflow';

import { createSend } from '../../../nodes/XpertAi/transport/request';
import type { ApiRequest, Outcome } from '../../../nodes/XpertAi/transport/request';
import { contextWith } from './context';
import { node } from './node';

/** A credential that works. */
export const CREDENTIAL = {
	baseUrl: 'https://api.example.com/api/ai/',
	accessToken: 'sk-x-s3cret',
};

export const REQUEST: ApiRequest = {
	method: 'POST',
	path: '/assistants/count',
	body: '{}',
	timeoutMs: 5000,
};

/** What n8n's HTTP helper gives back or throws in a test. */
export interface Exchange {
	credential?: Record<string, unknown>;
	request?: Partial<ApiRequest>;
	status?: number;
	statusMessage?: string;
	body?: unknown;
	headers?: Record<string, string>;
	/** Thrown instead of an answer. */
	thrown?: unknown;
	/** Whether the execution was stopped meanwhile. */
	stopped?: boolean;
}

/** What was handed to n8n's HTTP helper. */
export interface Handed {
	credentialName: string;
	options: IHttpRequestOptions;
}

/** Sends one request through a context that records what reaches n8n's HTTP helper. */
export async function sendOnce(exchange: Exchange): Promise<{ outcome: Outcome; sent: Handed[] }> {
	const { outcomes, sent } = await sendAll([exchange]);
	const [outcome] = outcomes;
	if (!outcome) throw new Error('nothing was sent');
	return { outcome, sent };
}

/** Sends one request after another in the same execution, whose credential is that of the first. */
export async function sendAll(
	exchanges: Exchange[],
): Promise<{ outcomes: Outcome[]; sent: Handed[] }> {
	const sent: Handed[] = [];
	let now: Exchange = {};
	const helpers: Partial<IExecuteFunctions['helpers']> = {
		httpRequestWithAuthentication: async (credentialName: string, options: IHttpRequestOptions) => {
			sent.push({ credentialName, options });
			if ('thrown' in now) throw now.thrown;
			return {
				statusCode: now.status ?? 201,
				statusMessage: now.statusMessage,
				headers: now.headers ?? {},
				body: now.body ?? '3',
			} as IN8nHttpFullResponse;
		},
	};
	const context = contextWith({
		getCredentials: (async () => ({
			...CREDENTIAL,
			...exchanges[0]?.credential,
		})) as IExecuteFunctions['getCredentials'],
		helpers: helpers as IExecuteFunctions['helpers'],
		getExecutionCancelSignal: () => (now.stopped ? AbortSignal.abort() : undefined),
	});
	const send = await createSend(context);
	const outcomes: Outcome[] = [];
	for (const exchange of exchanges) {
		now = exchange;
		outcomes.push(await send({ ...REQUEST, ...exchange.request }));
	}
	return { outcomes, sent };
}

/** An error as n8n hands it on: wrapped in a NodeApiError, with the original as its cause. */
export function wrap(cause: Error): NodeApiError {
	return new NodeApiError(node, cause as Error & JsonObject);
}

/** An error of axios, as n8n hands it on. */
export function wrapped(code: string | undefined, message: string): NodeApiError {
	return wrap(Object.assign(new Error(message), code ? { code } : {}));
}
