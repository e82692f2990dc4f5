import {
	arrivalUnknownResult,
	busyResult,
	neverRanResult,
	resultFromTranscript,
	busyAtDeadlineResult,
} from 'nodes/XpertAi/runs/result';
import { RunTranscript } from 'nodes/XpertAi/threads/runTranscript';
import { EventReader } from 'nodes/XpertAi/transport/eventStream';

import { lost } from '../threads/support/answering';
import { recordedExchanges } from '../threads/support/recorded';

/** The events of a run in `one-key-cancel-ends-both`. */
function recordedEvents(runId: string): RunTranscript {
	const found = recordedExchanges('one-key-cancel-ends-both').find(({ request }) =>
		request.path.endsWith(`/runs/${runId}/stream`),
	);
	const events = new RunTranscript(runId);
	const read = new EventReader().push(Buffer.from(String(found?.response.body)));
	for (const event of read) events.addEvent(event);
	return events;
}

/** The events of a run that ended so, after one text. */
function ended(end: Partial<RunTranscript['end']>): RunTranscript {
	const events = new RunTranscript('r');
	events.addPart({ type: 'text', id: 'm', text: 'Hi' });
	events.end = { tasks: [], ...end };
	return events;
}

describe('resultFromTranscript', () => {
	const TASK = { id: '1', name: 'mail' };
	const cancelled = { status: 'failed' };
	const because = 'The run was cancelled on the server: ';

	it.each<[string, Partial<RunTranscript['end']>, object]>([
		[
			'an idle thread completes it',
			{ status: 'idle' },
			{ status: 'completed', output: 'Hi', answerId: 'm' },
		],
		[
			'an end without a status completes it',
			{ status: undefined },
			{ status: 'completed', output: 'Hi' },
		],
		[
			'an error is its reason',
			{ status: 'error', error: 'No' },
			{ ...cancelled, reason: 'The run failed: No' },
		],
		[
			'an error without words says so',
			{ status: 'error' },
			{ reason: 'The run failed: the server gave no reason' },
		],
		[
			'tasks interrupt it',
			{ status: 'interrupted', tasks: [TASK] },
			{ status: 'interrupted', interrupt: [TASK] },
		],
		[
			'tasks with an error cancel it',
			{ status: 'interrupted', tasks: [TASK], error: 'By user' },
			{ ...cancelled, reason: `${because}By user` },
		],
		[
			'an interruption without tasks cancels it',
			{ status: 'interrupted' },
			{ reason: `${because}the server does not say why` },
		],
		[
			'an agent that was interrupted cancels it, though its thread is idle',
			{ status: 'idle', agentStatus: 'interrupted' },
			{ ...cancelled, reason: `${because}the server does not say why` },
		],
		[
			'an agent that was interrupted waits for its tasks, though its thread is busy',
			{ status: 'busy', agentStatus: 'interrupted', tasks: [TASK] },
			{ status: 'interrupted', interrupt: [TASK] },
		],
		[
			'an agent that succeeded completes it',
			{ status: 'interrupted', agentStatus: 'success', error: 'x' },
			{ status: 'completed' },
		],
		[
			'an interruption left over completes it',
			{ status: 'interrupted', hasOnlyLeftOverTasks: true },
			{ status: 'completed', output: 'Hi' },
		],
		[
			'an interruption left over with an error fails it',
			{ status: 'interrupted', hasOnlyLeftOverTasks: true, error: 'By user' },
			{ status: 'failed' },
		],
	])('%s', (_, end, result) => expect(resultFromTranscript(ended(end))).toMatchObject(result));

	it('counts a whole answer, though the cancelling of another run interrupted it (recorded)', () => {
		const events = recordedEvents('01af66de-3a9d-4bd5-97fb-e4e94346fa5d');
		expect(events).toMatchObject({ isComplete: true, hasBeginning: true });
		const output = expect.stringMatching(/^Echo: FIRST-B-0/) as string;
		expect(resultFromTranscript(events)).toMatchObject({ status: 'completed', output });
	});

	it('does not count the cancelled one (recorded)', () => {
		const events = recordedEvents('bbff5cf1-6a53-4489-9089-d876cacea3f6');
		expect(events).toMatchObject({ isComplete: false, output: '' });
	});
});

describe('the words of a result', () => {
	const run = { run_id: 'r', created_at: 'noon', status: 'running' } as never;

	it.each([
		['busy', busyResult(run), /^Another run is active on this thread \(r, since noon\)$/],
		[
			'silent',
			busyAtDeadlineResult(run, 61_400),
			/\(r, since noon, without a sign for 61 s\) when/,
		],
		[
			'still busy',
			busyAtDeadlineResult(),
			/^Another run was still active on the thread when the deadline came$/,
		],
		[
			'lost',
			arrivalUnknownResult('decision', lost),
			/^It is not known whether the decision has reached the assistant\. ./,
		],
		['decision', neverRanResult('decision'), /^Nothing on this thread waits for a decision$/],
		[
			'retry',
			neverRanResult('retry'),
			/^Nothing was said on this thread that could be answered again$/,
		],
	])('%s', (_, { reason }, words) => expect(reason).toMatch(words));

	it('busyAtDeadlineResult names the silent run that it cancelled', () => {
		const result = busyAtDeadlineResult(run, 0, 'silent');
		expect(result).toMatchObject({ status: 'timedOut', cancelledRun: 'silent' });
		expect(result.advice).toMatch(
			/^The silent run silent was cancelled\. Wait, or raise "Deadline \(Minutes\)"\. If its server was restarted/,
		);
	});
});
