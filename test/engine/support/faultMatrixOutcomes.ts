import { escapeRegExp } from 'lodash';

import { REQUEST_ID } from './faultMatrixFaults';
import { DOCUMENTS } from './faultMatrixOperations';
import { NO_CONVERSATION, expected } from './faultMatrixTable';
import type { Trial } from './faultMatrixTrials';

/** What is known of a trial, in the words of the promise. */
export function outcomeOf({ cell, onError, result }: Trial) {
	const { operation } = cell;
	const sent = cell.arrivals + cell.misses;
	const several = expected(cell.fault, operation, cell.lasting).requests === 'several';
	const requests = several && sent > 1 ? 'several' : sent;
	const trial = { operation: operation.name, requests };
	if (onError) {
		const errors = result.outputs[1] ?? [];
		return {
			...trial,
			stopped: result.error?.message,
			outputs: [result.items.length > 0, errors.length],
			errors: errors.map(({ json, pairedItem }) => ({ ...json, pairedItem })),
		};
	}
	const { error } = result;
	return {
		...trial,
		error: error && {
			name: error.name,
			message: error.message,
			code: (error as { httpCode?: string | null }).httpCode ?? undefined,
			requestId: /Request ID: (\S+)\./.exec(String(error.description))?.[1],
			itemIndex: error.context?.itemIndex as unknown,
		},
		items: result.items.length > 0,
	};
}

/** How a message of Submit counts its documents. */
const countsOf = (documents: number, mayBeStored: boolean) =>
	`. Documents: ${documents} ${mayBeStored ? 'unknown' : 'rejected'}`;

/** Words to compare with: `…` stands for any. */
export function worded(words: string): unknown {
	if (!words.includes('…')) return words;
	const parts = words.split('…').map(escapeRegExp);
	return expect.stringMatching(new RegExp(`^${parts.join('.*')}$`));
}

/** What the table promises for a trial. */
export function promiseOf({ cell, onError }: Trial) {
	const { operation, fault, lasting } = cell;
	const { kind } = operation;
	const { succeeds, requests, message, mayBeStored } = expected(fault, operation, lasting);
	const documents = DOCUMENTS[kind];
	// What a success says is no failure of its request.
	const isGone = message === NO_CONVERSATION;
	const code = isGone ? undefined : fault.code;
	const requestId = fault.answered && !isGone ? REQUEST_ID : undefined;
	const trial = { operation: operation.name, requests };
	// A list that is empty makes no item.
	const items: unknown = operation.right?.test(fault.title) ? expect.any(Boolean) : succeeds;
	if (onError) {
		const suffix = mayBeStored ? '. It is not known whether this document is stored' : '';
		const item = {
			error: worded(message + suffix),
			details: expect.objectContaining({
				description: expect.stringMatching(/\w/) as unknown,
				...(code ? { httpCode: code } : {}),
				...(requestId ? { requestId } : {}),
			}) as unknown,
			pairedItem: { item: 0 },
		};
		const failed = succeeds ? 0 : (documents ?? 1);
		return {
			...trial,
			stopped: undefined,
			outputs: [items, failed],
			errors: Array.from({ length: failed }, () => item),
		};
	}
	return {
		...trial,
		error: succeeds
			? undefined
			: {
					name: isGone ? 'NodeOperationError' : 'NodeApiError',
					message: worded(documents ? message + countsOf(documents, mayBeStored) : message),
					code,
					requestId,
					itemIndex: 0,
				},
		items,
	};
}
