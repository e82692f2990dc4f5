import {
	busy,
	mayHaveArrived,
	neverRan,
	resultFromEvents,
	stillBusy,
	withFacts,
} from '../../../../nodes/XpertAi/runs/runResult';
import { RunEvents } from '../../../../nodes/XpertAi/threads/runEvents';
import { EventReader } from '../../../../nodes/XpertAi/transport/eventStream';
import { lost } from '../threads/support/answering';
import { recordedExchanges } from '../threads/support/recorded';

/** The events of a run in `one-key-cancel-ends-both`. */
function recordedEvents(runId: string): RunEvents {
	const found = recordedExchanges('one-key-cancel-ends-both').find(({ request }) =>
		request.path.endsWith(`/runs/${runId}/stream`),
	);
	const events = new RunEvents(runId);
	const read = new EventReader().push(Buffer.from(String(found?.response.body)));
	if (!('flaw' in read)) for (const event of read) events.addEvent(event);
	return events;
}

/** The events of a run that ended so, after one text. */
function ended(end: Partial<RunEvents['end']>): RunEvents {
	const events = new RunEvents('r');
	events.readPart({ type: 'text', id: 'm', text: 'Hi' });
	events.conversationId = 'c';
	events.end = { tasks: [], ...end };
	return events;
}

describe('resultFromEvents', () => {
	const FACTS = { conversationId: 'c' };
	const TASK = { id: '1', name: 'mail' };
	const cancelled = { status: 'failed', ...FACTS };
	const because = 'The run was cancelled on the server: ';

	it.each<[Partial<RunEvents['end']>, object]>([
		[{ status: 'idle' }, { status: 'completed', output: 'Hi', answerId: 'm', ...FACTS }],
		[{ status: undefined }, { status: 'completed', output: 'Hi' }],
		[
			{ status: 'error', error: 'No' },
			{ ...cancelled, reason: 'The run failed: No' },
		],
		[{ status: 'error' }, { reason: 'The run failed: the server gave no reason' }],
		[
			{ status: 'interrupted', tasks: [TASK] },
			{ status: 'interrupted', interrupt: [TASK], ...FACTS },
		],
		[
			{ status: 'interrupted', tasks: [TASK], error: 'By user' },
			{ ...cancelled, reason: `${because}By user` },
		],
		[{ status: 'interrupted' }, { reason: `${because}the server does not say why` }],
		[{ status: 'interrupted', agentStatus: 'success', error: 'x' }, { status: 'completed' }],
		[
			{ status: 'interrupted', isLeftOver: true },
			{ status: 'completed', output: 'Hi' },
		],
		[{ status: 'interrupted', isLeftOver: true, error: 'By user' }, { status: 'failed' }],
	])('%j', (end, result) => expect(resultFromEvents(ended(end))).toMatchObject(result));

	it('counts a whole answer, though the cancelling of another run interrupted it (recorded)', () => {
		const events = recordedEvents('01af66de-3a9d-4bd5-97fb-e4e94346fa5d');
		expect(events).toMatchObject({ isComplete: true, isWhole: true });
		const output = expect.stringMatching(/^Echo: FIRST-B-0/) as string;
		expect(resultFromEvents(events)).toMatchObject({ status: 'completed', output });
	});

	it('does not count the cancelled one (recorded)', () => {
		const events = recordedEvents('bbff5cf1-6a53-4489-9089-d876cacea3f6');
		expect(events).toMatchObject({ isComplete: false, answer: '' });
	});
});

describe('the words of a result', () => {
	const run = { run_id: 'r', created_at: 'noon', status: 'running' } as never;

	it.each([
		['busy', busy({ run }), /^Another run is active on this thread \(r, since noon\)$/],
		['silent', busy({ run, silentMs: 61_400 }), /\(r, since noon, without a sign for 61 s\)$/],
		[
			'still busy',
			stillBusy(),
			/^Another run was still active on the thread when the deadline came$/,
		],
		[
			'lost',
			mayHaveArrived('decision', lost),
			/^It is not known whether the decision has reached the assistant\. ./,
		],
		['decision', neverRan('decision'), /^Nothing on this thread waits for a decision$/],
		['retry', neverRan('retry'), /^Nothing was said on this thread that could be answered again$/],
	])('%s', (_, { reason }, words) => expect(reason).toMatch(words));

	it('stillBusy names the silent run that it cancelled', () => {
		const result = stillBusy({ run }, 'silent');
		expect(result).toMatchObject({ status: 'timedOut', cancelledRun: 'silent' });
		expect(result.advice).toMatch(/^The silent run silent was cancelled\. If that run hangs/);
	});

	it('withFacts keeps what is not known anew', () => {
		const known = { status: 'running', runId: 'r', threadId: 't' } as const;
		expect(withFacts(known, { runId: undefined, threadId: 'u' })).toEqual({
			...known,
			threadId: 'u',
		});
	});
});
