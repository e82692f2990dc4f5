import type { FaultRule } from '../../sandbox';
import { clock } from './support/clock';
import { useFixture } from './support/fixture';
import {
	again,
	arrivals,
	ask,
	detailsOf,
	newThreads,
	occupy,
	onOthers,
	onThread,
	saidOn,
	says,
} from './support/runs';

const fixture = useFixture();

/** Something that goes wrong with a run, and what the run is then. */
interface Trouble {
	what: string;
	faults: FaultRule[];
}

/** Runs a message on a thread of its own for each trouble, all side by side. */
async function runAll(troubles: Trouble[], settings = {}) {
	const threads = await newThreads(fixture.sandbox, troubles.length);
	troubles.forEach(({ faults }, n) => {
		for (const fault of faults) fixture.sandbox.faults.add(onThread(threads[n] ?? '', fault));
	});
	const { outputs } = await fixture.run(ask({ options: { concurrency: 20, ...settings } }), {
		items: threads.map((thread, n) => says(thread, `m${n}`)),
		onError: 'continueErrorOutput',
	});
	const all = outputs.flat();
	return troubles.map(({ what }, n) => ({
		what,
		thread: threads[n] ?? '',
		message: `m${n}`,
		item: all.find(({ pairedItem }) => (pairedItem as { item: number }).item === n),
		arrivals: arrivals(fixture.sandbox, threads[n] ?? ''),
		said: saidOn(fixture.sandbox, threads[n] ?? ''),
	}));
}

const lasting = (ms: number): FaultRule => ({ do: 'run', ms });
const gateway = (status: number): FaultRule => ({
	do: 'status',
	when: 'after',
	status,
	body: '<h1>Gateway</h1>',
	contentType: 'text/html',
});

describe('a run goes on without the connection, and', () => {
	it('its answer is found when the answer to its start is lost, and it is started once', async () => {
		const courses = await runAll([
			{ what: 'reset after', faults: [lasting(700), { do: 'drop', when: 'after', reset: true }] },
			{ what: 'drop after', faults: [{ do: 'drop', when: 'after' }] },
			{ what: 'answer cut off', faults: [{ do: 'truncate', bytes: 9 }] },
			{ what: 'bare 503', faults: [lasting(700), gateway(503)] },
			...[502, 504, 520, 522, 524, 529, 530].map((status) => ({
				what: `gateway ${status}`,
				faults: [lasting(700), gateway(status)],
			})),
		]);
		for (const { what, item, message, arrivals: sent, said } of courses) {
			expect({ what, sent, said }).toEqual({ what, sent: 1, said: [message] });
			expect({ what, json: item?.json }).toMatchObject({
				json: { output: `Echo: ${message}`, status: 'completed', recovered: true },
			});
		}
	});

	it('its failure and its question are found as well', async () => {
		const broken: FaultRule = { do: 'drop', when: 'after' };
		const [failing, asking] = await runAll([
			{ what: 'fail', faults: [{ do: 'run', ms: 400, outcome: 'fail', error: 'Late' }, broken] },
			{ what: 'ask', faults: [{ do: 'run', ms: 400, outcome: 'interrupt' }, broken] },
		]);
		expect(failing?.item?.json.error).toBe('The run failed: Late');
		expect(detailsOf(failing?.item)).toMatchObject({ threadId: failing?.thread, status: 'failed' });
		expect(asking?.item?.json).toMatchObject({ status: 'interrupted', recovered: true });
		expect(JSON.stringify(asking?.item?.json.interrupt)).toContain('May I answer this?');
	});

	it('of a conversation of its own the list tells, also where others come to the thread', async () => {
		const { sandbox } = fixture;
		sandbox.faults.add({ endpoint: 'runs', do: 'run', ms: 700, nth: 1 });
		sandbox.faults.add({ endpoint: 'runs', do: 'drop', when: 'after', nth: 1 });
		const asking = fixture.run(ask({ threadSource: 'new' }), { items: [says('', 'Ours')] });
		await clock.until(() => sandbox.requests.of('runs').length > 0);
		await clock.settled();
		const ours = sandbox.store.runs.at(-1);
		sandbox.faults.add({ endpoint: 'E4', do: 'run', ms: 1_500, nth: 1 });
		await occupy(sandbox, ours?.threadId ?? '', {
			action: 'send',
			message: { input: { input: 'Theirs' } },
		});
		const { items } = await asking;
		expect(items[0]?.json).toMatchObject({
			...{ status: 'completed', output: 'Echo: Ours', recovered: true, runId: ours?.id },
		});
		expect(sandbox.requests.of('runs')).toHaveLength(1);
	});

	it('of a message that may not have arrived it is said, and it is not sent again', async () => {
		const courses = await runAll([
			{ what: 'drop unread', faults: [{ do: 'drop', when: 'unread' }] },
			{ what: 'drop before', faults: [{ do: 'drop', when: 'before' }] },
			{ what: 'bare 503 instead', faults: [{ do: 'status', status: 503, body: 'down' }] },
		]);
		for (const { what, item, thread, arrivals: sent, said } of courses) {
			expect({ what, sent, said }).toEqual({ what, sent: 1, said: [] });
			expect(item?.json.error).toMatch(/^It is not known whether the message has reached /);
			expect(detailsOf(item)).toMatchObject({ threadId: thread, status: 'failed' });
		}
	});
});

describe('a message that is answered again', () => {
	/** A thread on which "Hello" was said and answered. */
	async function answered(): Promise<string> {
		const [thread = ''] = await newThreads(fixture.sandbox, 1);
		await fixture.run(ask(), { items: [says(thread, 'Hello')] });
		return thread;
	}

	it('has its new answer when the wait breaks, once', async () => {
		const thread = await answered();
		const [, old] = fixture.sandbox.store.threads.get(thread)?.messages ?? [];
		// A question is stored some moments before the message of its answer (recorded).
		const question = fixture.sandbox.store.messages.findLast(({ role }) => role === 'human');
		Object.assign(question ?? {}, { createdAt: new Date(clock.now() - 1_000).toISOString() });
		fixture.sandbox.faults.add(
			{ ...onThread(thread, lasting(700)), nth: 1 },
			{ ...onThread(thread, { do: 'drop', when: 'after' }), nth: 1 },
		);
		const { items } = await fixture.run(again(), { items: [says(thread, '')] });
		expect(items[0]?.json).toMatchObject({ output: 'Echo: Hello', recovered: true });
		const [asked, answer, ...others] = fixture.sandbox.store.threads.get(thread)?.messages ?? [];
		expect([asked?.from, answer?.from, others]).toEqual(['person', 'assistant', []]);
		expect(answer).not.toEqual(old);
	});

	it('does not come out with the answer to somebody who asked the same meanwhile', async () => {
		const thread = await answered();
		fixture.sandbox.faults.add(onOthers(thread, lasting(700)), {
			...onThread(thread, { do: 'drop', when: 'before' }),
			nth: 1,
		});
		const message = { input: { input: 'Hello' } };
		await occupy(fixture.sandbox, thread, { action: 'send', message });
		const { error, items } = await fixture.run(again({ options: { whenBusy: 'run' } }), {
			items: [says(thread, '')],
		});
		expect(items).toEqual([]);
		expect(error?.message).toContain('It is not known whether the request has reached');
		expect(saidOn(fixture.sandbox, thread)).toEqual(['Hello', 'Hello']);
	});
});

describe('a run that certainly did not begin', () => {
	it('is sent again, and begins exactly once', async () => {
		const courses = await runAll([
			{
				what: '429',
				faults: [
					{ do: 'status', status: 429, body: 'slow', headers: { 'retry-after': '0' }, times: 2 },
				],
			},
			{
				what: '503 with Retry-After',
				faults: [
					{ do: 'status', status: 503, body: 'no', headers: { 'retry-after': '1' }, times: 1 },
				],
			},
		]);
		expect(courses.map(({ arrivals: sent }) => sent)).toEqual([3, 2]);
		for (const { item, message, said } of courses) {
			expect(said).toEqual([message]);
			expect(item?.json).toMatchObject({ output: `Echo: ${message}`, recovered: false });
		}
	});

	it('is reported soon when nothing listens', async () => {
		const { error } = await fixture.run(ask({ options: { deadlineMinutes: 2 } }), {
			items: [says('t', 'Hi')],
			credential: { baseUrl: 'http://127.0.0.1:9' },
		});
		expect(error?.message).toContain('nothing accepts connections');
		expect(error?.description).toContain('Thread: t.');
	});
});
