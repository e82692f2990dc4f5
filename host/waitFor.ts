import { setTimeout as sleep } from 'node:timers/promises';

/** How long to wait for what is sure to come: only what hangs takes longer, also beside other work. */
export const PATIENCE_MS = 300_000;

/**
 * Asks again and again until there is an answer.
 *
 * @param what what is waited for, for the message
 * @param ask returns undefined as long as there is nothing; what it throws ends the waiting
 * @throws Error when `timeoutMs` have passed
 */
export async function waitFor<T>(
	what: string,
	ask: () => Promise<T | undefined>,
	{ timeoutMs = PATIENCE_MS, everyMs = 100 } = {},
): Promise<T> {
	const deadline = Date.now() + timeoutMs;
	for (;;) {
		const answer = await ask();
		if (answer !== undefined) return answer;
		if (Date.now() > deadline) {
			throw new Error(`Waited ${Math.round(timeoutMs / 1000)} s for ${what}, in vain`);
		}
		await sleep(everyMs);
	}
}
