import { cancelRunById, cancelActiveRun } from 'nodes/XpertAi/runs/cancelRun';
import { withDeadline } from 'nodes/XpertAi/runs/client';
import type { RunFacts } from 'nodes/XpertAi/runs/result';
import type { RequestOutcome } from 'nodes/XpertAi/transport/request';

import { no, parsing, success } from '../../support/send';
import { virtualTime } from '../../support/virtualTime';
import { failure, lost } from '../threads/support/answering';
import { MINUTE, SECOND, streamEvents } from './support/run';

/** Cancels a run whose record is answered so. */
async function cancelling(record: RequestOutcome, startedBy?: 'thisExecution') {
	const clock = virtualTime();
	const cancelled: string[] = [];
	const send = parsing(({ method, path, stream }) => {
		if (method === 'POST') cancelled.push(path);
		if (stream) return success('');
		return method === 'POST' ? success({ canceledExecutionIds: ['r'] }) : record;
	});
	const client = withDeadline({ send, clock, deadline: clock.now() + MINUTE });
	const { status } = await cancelRunById(
		{ ...client, threadId: 't', runId: 'r', facts: {} },
		startedBy,
	);
	return { status, isSent: cancelled.length > 0 };
}

describe('a run whose record cannot be read', () => {
	it.each<[string, RequestOutcome]>([
		['as the server fails', no({ ...failure, status: 503 })],
		['as the answer is lost', no(lost)],
		['as the server says 500', no({ ...failure, status: 500 })],
	])('is cancelled if this execution has started it: %s', async (_, record) => {
		expect(await cancelling(record, 'thisExecution')).toEqual({
			status: 'cancelled',
			isSent: true,
		});
		expect(await cancelling(record)).toEqual({ status: 'unread', isSent: false });
	});

	it.each<[string, RequestOutcome]>([
		['there is none', no({ ...failure, status: 404, missing: 'record' })],
		['the token may not', no({ ...failure, status: 403 })],
		['n8n blocks the address', no({ ...failure, kind: 'blocked', status: undefined })],
	])('is not cancelled where %s', async (_, record) => {
		expect(await cancelling(record, 'thisExecution')).toEqual({ status: 'unread', isSent: false });
	});
});

it('a run that is cancelled, but was done by then, has its answer, and its conversation', async () => {
	const clock = virtualTime();
	const events = [
		{ type: 'event', event: 'on_conversation_start', data: { id: 'c' } },
		{ type: 'message', data: { type: 'text', id: 'a', text: 'Done' } },
		{ type: 'event', event: 'on_conversation_end', data: { status: 'idle' } },
		{ type: 'complete' },
	];
	const send = parsing(({ stream }) => {
		streamEvents(stream, events);
		return success(stream ? '' : { canceledExecutionIds: ['r'] });
	});
	const client = withDeadline({ send, clock, deadline: clock.now() + 60 * SECOND });
	const facts: RunFacts = {};
	const result = await cancelActiveRun({ ...client, threadId: 't', runId: 'r', facts });
	expect([result, facts]).toMatchObject([
		{ status: 'completed', output: 'Done' },
		{ conversationId: 'c' },
	]);
});
