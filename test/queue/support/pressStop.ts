import type { N8n } from '../../../host/host';
import { waitFor } from '../../../host/waitFor';
import type { Harness } from '../../e2e/support/harness';

/**
 * Presses Stop on an execution once it has got so far. What the node is waiting for then is held until it has ended.
 *
 * @param harness the n8n and the sandbox; nothing else may be going on in the sandbox
 * @param isDone whether all has arrived that the node still sends after Stop: n8n does not wait for that
 * @returns the status it ended with, and the requests that arrived after the end
 */
export async function pressStop(
	harness: Harness<N8n>,
	executionId: string,
	gotSoFar: () => boolean,
	isDone = () => true,
): Promise<{ status: string; late: string[] }> {
	const { requests, faults } = harness.sandbox;
	await waitFor('the moment to press Stop', async () => gotSoFar() || undefined, { everyMs: 20 });
	await harness.host.rest.stopExecution(executionId);
	const { status } = await harness.execution(executionId);
	await waitFor('the last request', async () => isDone() || undefined, { everyMs: 20 });
	const before = requests.all.length;
	// What was held is answered; a node that still ran would go on with that before n8n is done with another request.
	faults.clear();
	await harness.testCredential();
	const late = requests.all.slice(before).map(({ method, path }) => `${method} ${path}`);
	return { status, late: late.slice(0, -1) };
}
