import { withDeadline } from 'nodes/XpertAi/runs/client';
import { enqueueTurn, waitForTurn } from 'nodes/XpertAi/runs/turns';

import { answering, listed } from '../threads/support/answering';
import { SECOND } from './support/run';

describe('a turn that is not reached', () => {
	it.each([
		['fail', 0, { status: 'failed' }],
		['run', 0, undefined],
		['wait', 60 * SECOND, { status: 'timedOut' }],
	] as const)('is waited for as the option says: %s', async (whenBusy, waitedMs, result) => {
		const { asking } = answering(listed());
		const { clock } = asking;
		const client = withDeadline({ ...asking, deadline: clock.now() + 60 * SECOND });
		const [first, second] = [enqueueTurn(whenBusy), enqueueTurn(whenBusy)];
		const waited = await waitForTurn(second, client, whenBusy);
		if (result) expect(waited).toMatchObject(result);
		else expect(waited).toBeUndefined();
		expect(clock.elapsed()).toBe(waitedMs);
		for (const turn of [first, second]) turn.end();
	});
});
