import { standingOf } from '../../../../nodes/XpertAi/runs/judgeNumbered';
import type { ApiRequest, Outcome } from '../../../../nodes/XpertAi/transport/request';
import { virtualTime } from '../../support/virtualTime';
import { checked } from './support/faults';

const RUN = { run_id: 'r1', thread_id: 't', assistant_id: 'a', created_at: '2026-11-22T10:00:00Z' };
const LATER = { ...RUN, run_id: 'r2', created_at: '2026-11-22T10:00:09Z', status: 'success' };

const person = (content: string) => ({ content });
const assistant = (content: string) => ({ content, tool_calls: [] });
const ai = (content: string, status = 'success') => ({
	...{ role: 'ai', executionId: 'r1', content, status },
});

/** What a server tells of a run that has ended well. */
interface Told {
	/** What each conversation on the thread holds; the one that changed last comes first. */
	conversations: object[][];
	/** What the thread holds. */
	thread?: object[];
	isLast?: boolean;
}

async function standing({ conversations, thread = [], isLast = true }: Told) {
	const answerTo = ({ path }: ApiRequest): unknown => {
		const [, , id = ''] = path.split('/');
		if (path === '/conversations/search') {
			const items = conversations.map((_, index) => ({ id: `c${index}`, threadId: 't' }));
			return { items: items.map((one) => ({ ...one, status: 'idle' })), total: items.length };
		}
		if (path.endsWith('/messages')) return { items: conversations[Number(id.slice(1))] ?? [] };
		const run = { ...RUN, status: 'success' };
		if (path.endsWith('/runs')) return isLast ? [run] : [run, LATER];
		if (path.endsWith('/runs/r1')) return run;
		return { thread_id: 't', status: 'idle', values: { messages: thread } };
	};
	const send = async (request: ApiRequest): Promise<Outcome> =>
		await Promise.resolve(checked(request, { ok: true, status: 200, answer: answerTo(request) }));
	const asking = { send, clock: virtualTime() };
	const { verdict } = await standingOf(asking, { threadId: 't', runId: 'r1' });
	return verdict;
}

describe('what a run has said', () => {
	it.each([
		['the one that changed last', [[ai('Hi')], []]],
		['another', [[], [ai('Hi')]]],
	])('is found in whichever conversation of the thread has it: %s', async (_, conversations) => {
		const verdict = await standing({ conversations, isLast: false });
		expect(verdict).toMatchObject({ status: 'completed', output: 'Hi' });
	});

	it.each([true, false])(
		'is not told before it is stored, though the run says that it has ended (%s)',
		async (isLast) => {
			const conversations = [[ai('', 'thinking')]];
			expect(await standing({ conversations, isLast })).toBeUndefined();
		},
	);

	it('is remembered where others have come and gone since on the thread', async () => {
		const thread = [person('q'), assistant('Hi'), person('p'), assistant('Ho')];
		const verdict = await standing({ conversations: [[ai('Hi')]], thread });
		expect(verdict).toMatchObject({ status: 'completed', output: 'Hi' });
		expect(verdict?.remembered).toBeUndefined();
	});

	it('is not remembered where the thread does not hold it', async () => {
		const thread = [person('p'), assistant('Ho')];
		const verdict = await standing({ conversations: [[ai('Hi')]], thread });
		expect(verdict).toMatchObject({ status: 'completed', output: 'Hi', remembered: false });
	});

	it('is nothing where no conversation has it: the run ended without an answer', async () => {
		const verdict = await standing({ conversations: [[], []], isLast: false });
		expect(verdict).toMatchObject({ status: 'failed' });
		expect(verdict?.reason).toContain('without an answer');
	});
});
