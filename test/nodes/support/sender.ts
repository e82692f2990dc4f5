import { NodeApiError } from 'n8n-workflow';
import type {
	IExecuteFunctions,
	IHttpRequestOptions,
	IN8nHttpFullResponse,
	JsonObject,
} from 'n8n-workflow';

import { anySuccessfulAnswer } from '../../../nodes/XpertAi/transport/answerSchemas';
import {
	executionCancelSignal,
	connectionWithoutItem,
} from '../../../nodes/XpertAi/transport/request';
import type { ApiRequest, RequestOutcome } from '../../../nodes/XpertAi/transport/request';
import { contextWith } from './context';
import { node } from './node';

/** A credential that works. */
export const CREDENTIAL = {
	baseUrl: 'https://api.example.com/api/ai/',
	accessToken: 'sk-x-s3cret',
};

const REQUEST: ApiRequest = {
	method: 'POST',
	path: '/assistants/count',
	body: '{}',
	timeoutMs: 5000,
	schema: anySuccessfulAnswer,
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
	signal?: AbortSignal;
}

/** Sends one request through a context that records what reaches n8n's HTTP helper. */
export async function sendOnce(
	exchange: Exchange,
): Promise<{ outcome: RequestOutcome; sent: Handed[] }> {
	const sent: Handed[] = [];
	const helpers: Partial<IExecuteFunctions['helpers']> = {
		async httpRequestWithAuthentication(credentialName, options) {
			sent.push({ credentialName, options, signal: executionCancelSignal(this as never) });
			if ('thrown' in exchange) throw exchange.thrown;
			return {
				statusCode: exchange.status ?? 201,
				statusMessage: exchange.statusMessage,
				headers: exchange.headers ?? {},
				body: exchange.body ?? '3',
			} as IN8nHttpFullResponse;
		},
	};
	const credential = { ...CREDENTIAL, ...exchange.credential };
	const context = contextWith({
		getCredentials: (async () => credential) as IExecuteFunctions['getCredentials'],
		helpers: helpers as IExecuteFunctions['helpers'],
		getExecutionCancelSignal: () => (exchange.stopped ? AbortSignal.abort() : undefined),
	});
	const { send } = await connectionWithoutItem(context);
	return { outcome: await send({ ...REQUEST, ...exchange.request }), sent };
}

/** An error as n8n hands it on: wrapped in a NodeApiError, with the original as its cause. */
export function wrap(cause: Error): NodeApiError {
	return new NodeApiError(node, cause as Error & JsonObject);
}

/** An error of axios, as n8n hands it on. */
export function wrapped(code: string | undefined, message: string): NodeApiError {
	return wrap(Object.assign(new Error(message), code ? { code } : {}));
}
