import { setTimeout as sleep } from 'node:timers/promises';

import type { N8n } from '../../../host/host';
import { waitFor } from '../../../host/waitFor';
import type { Harness } from '../../e2e/support/harness';

/** Longer than the longest pause between two requests in the workflows that are stopped. */
const QUIET_MS = 6_000;

/** What goes on when Stop is pressed would take so long by itself; a loaded machine is quicker. */
export const LONG_MS = 60_000;

/** What followed on pressing Stop. */
export interface Stopped {
	status: string;
	/** Until n8n had stored the execution as ended. */
	endedAfterMs: number;
	/** Requests that arrived after the end. */
	late: string[];
}

/**
 * Presses Stop on an execution once it has got so far, and watches for a while what arrives then.
 *
 * @param harness the n8n and the sandbox; nothing else may be going on in the sandbox
 * @param gotSoFar says whether the moment has come
 */
export async function pressStop(
	harness: Harness<N8n>,
	executionId: string,
	gotSoFar: () => boolean,
): Promise<Stopped> {
	const { requests } = harness.sandbox;
	const hasCome = async () => gotSoFar() || undefined;
	await waitFor('the moment to press Stop', hasCome, { everyMs: 20 });

	const pressedAt = Date.now();
	await harness.host.rest.stopExecution(executionId);
	const { status } = await harness.execution(executionId);
	const endedAfterMs = Date.now() - pressedAt;
	const before = requests.all.length;
	await sleep(QUIET_MS);
	const late = requests.all.slice(before).map(({ method, path }) => `${method} ${path}`);
	return { status, endedAfterMs, late };
}

/** Fails the test unless the execution was stopped long before it would have ended, and sent nothing more. */
export function expectStopped(seen: Stopped): void {
	expect(seen).toMatchObject({ status: 'canceled', late: [] });
	expect(seen.endedAfterMs).toBeLessThan(LONG_MS / 2);
}
