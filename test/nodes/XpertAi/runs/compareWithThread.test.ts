import { withDeadline } from 'nodes/XpertAi/runs/client';
import { withThreadFindings } from 'nodes/XpertAi/runs/compareWithThread';
import type { CompletedResult } from 'nodes/XpertAi/runs/result';

import { parsing, success } from '../../support/send';
import { virtualTime } from '../../support/virtualTime';
import { RUN, SECOND } from './support/run';

it.each([
	['an answer that it does not hold', 'Done', { remembered: false }],
	['an answer that it holds', 'Said', {}],
	['an empty answer', '', {}],
])('a thread on which runs overlapped: %s', async (_, output, more) => {
	const run = { ...RUN, status: 'success', created_at: '01', updated_at: '03' };
	const other = { ...run, run_id: 'other', created_at: '02', updated_at: '04' };
	const values = { messages: [{ id: 'm', type: 'ai', content: 'Said' }] };
	const send = parsing(({ path }) =>
		success(
			path.endsWith('/runs')
				? [run, other]
				: { thread_id: 't', status: 'idle', values, metadata: {} },
		),
	);
	const clock = virtualTime();
	const client = withDeadline({ send, clock, deadline: clock.now() + 60 * SECOND });
	const result: CompletedResult = { status: 'completed', output, parts: [], otherParts: [] };
	const overlapped = { ...client, threadId: 't', runId: 'r', facts: {} };
	expect(await withThreadFindings(overlapped, result)).toEqual({ ...result, ...more });
});

describe('whether another run was beside a run', () => {
	const own = { role: 'ai', executionId: 'r', createdAt: '02', updatedAt: '04' };
	const other = { role: 'ai', executionId: 'other', createdAt: '03' };
	const known = { hasActiveRun: false, endedIds: ['before'] };
	const alone = ['search'];

	it.each([
		['shows in its answer', known, [other, own], ['search', 'thread']],
		[
			'does not show where that began after its end',
			known,
			[{ ...other, createdAt: '05' }, own],
			alone,
		],
		[
			'does not show where that had ended before',
			known,
			[own, { ...other, executionId: 'before' }],
			alone,
		],
		[
			'shows in the list where its own answer is not among the newest',
			known,
			[other],
			['search', 'list'],
		],
		['shows in the list where its conversation holds nothing', known, [], ['search', 'list']],
		[
			'is known where one was active at the start',
			{ ...known, hasActiveRun: true },
			[own],
			['thread'],
		],
		['shows in the list where nothing is known of the start', undefined, [own], ['list']],
	])('%s', async (_, others, items, asked) => {
		const names: string[] = [];
		const send = parsing(({ path }) => {
			const name = path.endsWith('/search') ? 'search' : path.endsWith('/runs') ? 'list' : 'thread';
			names.push(name);
			if (name === 'search') return success({ items });
			return success(name === 'list' ? [] : { thread_id: 't', status: 'idle', values: {} });
		});
		const clock = virtualTime();
		const client = withDeadline({ send, clock, deadline: clock.now() + 60 * SECOND });
		const result: CompletedResult = {
			status: 'completed',
			output: 'Said',
			parts: [],
			otherParts: [],
		};
		const run = { ...client, threadId: 't', runId: 'r', facts: { conversationId: 'c' } };
		await withThreadFindings(run, result, others);
		expect([...new Set(names)]).toEqual(asked);
	});
});
