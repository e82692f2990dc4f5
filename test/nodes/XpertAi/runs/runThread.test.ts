import { withDeadline } from 'nodes/XpertAi/runs/client';
import { runInOneRequest } from 'nodes/XpertAi/runs/inOneRequest';
import type { Run } from 'nodes/XpertAi/runs/run';

import { parsing, success } from '../../support/send';
import { virtualTime } from '../../support/virtualTime';
import { listed, mine } from '../threads/support/answering';
import { MINUTE, saying } from './support/run';

const QUESTION = { id: 'q', type: 'human', content: 'Hi' };
const CALLING = {
	id: 'a',
	type: 'ai',
	content: 'Let me see',
	tool_calls: [{ id: 'call', name: 'tool' }],
};
const TASKS = [{ id: 'task', name: 'tool', call: { id: 'call', name: 'tool', args: {} } }];

const threadThat = (status: string, ...messages: object[]) =>
	success({ thread_id: 't', status, values: { messages }, metadata: {} });

/** What comes out where the thread is busy for so many reads after the answer, and then waits for a person. */
async function answered(whenBusy: Run['whenBusy'], busyReads: number) {
	const clock = virtualTime();
	let reads = -1;
	const send = parsing(({ method, path }) => {
		if (path.endsWith('/wait')) return success({ role: 'ai', content: 'Let me see' });
		if (method === 'POST')
			return listed({ ...mine('c'), status: 'interrupted', operation: { tasks: TASKS } });
		reads++;
		if (reads === 0) return threadThat('idle');
		return threadThat(reads > busyReads ? 'interrupted' : 'busy', QUESTION, CALLING);
	});
	return await runInOneRequest({
		...withDeadline({ send, clock, deadline: clock.now() + MINUTE }),
		threadId: 't',
		facts: {},
		body: saying('Hi'),
		intent: { kind: 'message', text: 'Hi' },
		isThreadNew: false,
		whenBusy,
		cancelSilentMs: 0,
		backgroundRoutes: { areMissing: false },
		lockSupport: { rejectionsInRow: { creation: 0, deletion: 0 } },
	});
}

const UNKNOWN = 'The server answered, but what became of the run is not known';

it.each<[string, Run['whenBusy'], number, object]>([
	[
		'is at rest later: it waits for a person',
		'wait',
		3,
		{ status: 'interrupted', interrupt: TASKS },
	],
	[
		'is never at rest: nothing is known',
		'wait',
		Infinity,
		{ status: 'failed', reason: UNKNOWN, unverified: 'Let me see' },
	],
	[
		'may be busy with another run: the answer counts',
		'run',
		Infinity,
		{ status: 'completed', output: 'Let me see' },
	],
])('an answer in one request whose thread %s', async (_, whenBusy, busyReads, result) => {
	expect(await answered(whenBusy, busyReads)).toMatchObject(result);
});
