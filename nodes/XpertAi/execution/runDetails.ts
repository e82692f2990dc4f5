import { isUndefined, omitBy, pick } from 'lodash';
import type { IDataObject, NodeApiError } from 'n8n-workflow';

import { EVERY_UUID_PATTERN } from '../payloads/ids';
import type { ItemError } from './apiError';

/** Replaces each UUID with `…`, because chat visitors must not see thread IDs. */
export const redactIds = (text: string): string => text.replace(EVERY_UUID_PATTERN, '…');

/** The details of an assistant run that its error keeps. */
interface RunDetails {
	/** Why the run gave no answer, e.g. `timedOut`. Kept as `verdict`, because the error of a request has a `status`, too. */
	status: string;
	threadId?: string;
	conversationId?: string;
	runId?: string;
	cancelledRun?: string;
	/** A text of the assistant that is not certain to be the answer. */
	unverified?: string;
}

/** Keeps the details of an assistant run in its error, where `runDetailsIn` finds them. */
export function storeRunDetails(error: NodeApiError, { status, ...details }: RunDetails): void {
	error.context.data = { ...(error.context.data as IDataObject), ...details, verdict: status };
}

/** Returns the details of an assistant run from an error, except `cancelledRun`. Without such details, returns `{}`. */
export function runDetailsIn({ context }: ItemError): IDataObject {
	const { verdict: status, ...facts } = (context.data ?? {}) as IDataObject;
	const shown = pick(facts, ['threadId', 'conversationId', 'runId', 'unverified']);
	return omitBy({ ...shown, status }, isUndefined);
}
