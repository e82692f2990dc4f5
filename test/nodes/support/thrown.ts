import { types } from 'node:util';

/** The error a function throws; the test fails when it throws none. */
export function thrownBy(act: () => unknown): Error {
	try {
		act();
	} catch (error) {
		// Those of n8n's own modules are of another realm than the test.
		if (types.isNativeError(error)) return error;
		throw new Error(`something other than an Error was thrown: ${String(error)}`);
	}
	throw new Error('nothing was thrown');
}

/** Words n8n asks messages to do without, because they say nothing. */
export const EMPTY_WORDS = /\b(errors?|problems?|failures?|mistakes?)\b/i;
