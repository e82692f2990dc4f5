import type { Outcome, Send } from '../../../../nodes/XpertAi/transport/request';
import { failure, listed, lost, no, success } from '../threads/support/answering';
import { QUESTION, THREAD } from './support/modelServer';
import { MINUTE, SECOND, run } from './support/run';

const person = (content: string) => ({ content });
const assistant = (content: string) => ({ content, tool_calls: [] });
const thread = (messages: object[], status = 'idle') =>
	success({ thread_id: THREAD, status, values: { messages } });

const EARLIER = [person('p'), assistant('an older answer')];
const before = thread(EARLIER);
/** The thread once it holds our question and what was said to it. */
const after = (...said: string[]) => thread([...EARLIER, person(QUESTION), ...said.map(assistant)]);

const noLonger = no({ ...failure, status: 403 });

/** E4 answers with a text, and the thread is read like this, at first before the run; the last for ever. */
async function answered(content: string, ...reads: Outcome[]) {
	let looks = 0;
	const send: Send = async ({ method, path }) => {
		await Promise.resolve();
		if (path.endsWith('/search')) return listed({ id: 'c', threadId: THREAD, status: 'idle' });
		if (method === 'POST') return success({ role: 'ai', content });
		looks += 1;
		return reads[Math.min(looks, reads.length) - 1] ?? before;
	};
	const { verdict, tookMs } = await run({}, { send });
	return { verdict, tookMs, looks: looks - 1 };
}

describe('an answer that joins all words of its run', () => {
	it('is the last of them, as the thread has it', async () => {
		const joined = 'I look it up. It is 42.';
		const { verdict } = await answered(joined, before, after('I look it up. ', 'It is 42.'));
		expect(verdict).toMatchObject({ status: 'completed', output: 'It is 42.' });
	});

	it('is all of them where the last message of the thread is empty, or no part of it', async () => {
		for (const last of ['', 'something else']) {
			const { verdict } = await answered('It is 42.', before, after(last));
			expect(verdict).toMatchObject({ status: 'completed', output: 'It is 42.' });
		}
	});

	it('is all of them where the thread does not hold our question', async () => {
		const others = thread([...EARLIER, person('of Bert'), assistant('42.')]);
		const { verdict } = await answered('It is 42.', before, others);
		expect(verdict).toMatchObject({ status: 'completed', output: 'It is 42.' });
	});
});

describe('an answer that its thread does not hold', () => {
	const others = thread([...EARLIER, person('of Bert'), assistant('Ho')]);

	it('is said not to be remembered after two looks at a thread at rest', async () => {
		const { verdict, looks, tookMs } = await answered('Hi', before, others);
		expect(verdict).toMatchObject({ output: 'Hi', remembered: false });
		expect([looks, tookMs]).toEqual([2, 2 * SECOND]);
	});

	it('is remembered where the thread holds it at the second look', async () => {
		const { verdict } = await answered('Hi', before, others, after('Hi'));
		expect(verdict).toMatchObject({ status: 'completed', output: 'Hi' });
		expect(verdict).not.toHaveProperty('remembered');
	});

	it('is looked for once more where the second look fails for a moment', async () => {
		const { verdict } = await answered('Hi', before, others, no(lost), after('Hi'));
		expect(verdict).not.toHaveProperty('remembered');
		const gone = await answered('Hi', before, others, no(lost), others);
		expect(gone.verdict.remembered).toBe(false);
		expect(gone.looks).toBe(3);
	});

	it('is not said to be lost where the thread may be read no longer', async () => {
		const { verdict, looks } = await answered('Hi', before, others, noLonger);
		expect(verdict).toMatchObject({ status: 'completed', output: 'Hi' });
		expect(verdict).not.toHaveProperty('remembered');
		expect(looks).toBe(2);
	});
});

describe('an answer that says nothing', () => {
	it('is judged at once by a thread that shows the run', async () => {
		const { verdict, looks, tookMs } = await answered('', before, after('Hi'));
		expect(verdict).toMatchObject({ status: 'completed', output: 'Hi', recovered: true });
		expect([looks, tookMs]).toEqual([1, 0]);
	});

	it('is looked for once more where the thread shows nothing of the run yet', async () => {
		const { verdict, looks } = await answered('', before, before, after('Hi'));
		expect(verdict).toMatchObject({ status: 'completed', output: 'Hi' });
		expect(looks).toBe(2);
	});

	it('has failed where the thread shows nothing of the run at the second look either', async () => {
		const { verdict, tookMs } = await answered('', before);
		expect(verdict.status).toBe('failed');
		expect(verdict.reason).toContain('shows nothing of this run');
		expect(tookMs).toBe(2 * SECOND);
	});

	it('is not told from an earlier one where the thread cannot be read until the deadline', async () => {
		for (const content of ['', 'an older answer']) {
			const { verdict, tookMs } = await answered(content, before, no(lost));
			expect(verdict).toMatchObject({ status: 'timedOut', failure: lost });
			expect(verdict.reason).toBe(
				'The answer could not be told from an earlier one when the deadline came',
			);
			expect(tookMs).toBe(15 * MINUTE);
		}
	});

	it('is not looked for where the thread may be read no longer, and three times where it seems gone', async () => {
		expect((await answered('', before, noLonger)).looks).toBe(1);
		expect((await answered('', before, no(failure))).looks).toBe(3);
	});
});

describe('an answer that is new', () => {
	it('is given at once, though the thread shows nothing of the run', async () => {
		const { verdict, looks } = await answered('an answer', before, before, after('an answer'));
		expect(verdict).toMatchObject({ status: 'completed', output: 'an answer' });
		// Once for what became of it, and once more for whether it is kept.
		expect(looks).toBe(2);
	});

	it('is given where the thread cannot be read in three looks, or may not be read', async () => {
		for (const [outcome, looks] of [
			[no(lost), 3],
			[no(failure), 3],
			[noLonger, 1],
		] as const) {
			const course = await answered('an answer', before, outcome);
			expect(course.verdict).toMatchObject({ status: 'completed', output: 'an answer' });
			expect(course.looks).toBe(looks);
		}
	});
});
