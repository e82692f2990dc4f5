import { standingOf } from '../../../../nodes/XpertAi/runs/judgeNumbered';
import type { ApiRequest, Outcome } from '../../../../nodes/XpertAi/transport/request';
import { virtualTime } from '../../support/virtualTime';
import { failure, listed, no, success } from '../threads/support/answering';
import { checked } from './support/faults';
import {
	LIST,
	ONE_RUN,
	RUN as OF_SERVER,
	READ,
	SAID,
	SEARCH,
	serving,
	telling,
} from './support/routes';
import type { Routes } from './support/routes';

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
		expect(verdict).toMatchObject({ status: 'completed', output: 'Hi', recovered: false });
		expect(verdict?.remembered).toBeUndefined();
		expect(verdict?.thread?.values?.messages).toHaveLength(4);
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

/** A run that has ended so, on a thread as its conversation and messages show it. */
async function stands(status: string, routes: Routes = {}) {
	const record = { ...OF_SERVER, status };
	const { asking, names } = serving({
		[ONE_RUN]: [success(record)],
		[SEARCH]: [listed(conversation())],
		[LIST]: [telling({ status })],
		[SAID]: [success({ items: [] })],
		[READ]: [threadWith([person('q'), assistant('Hi')])],
		...routes,
	});
	return { standing: await standingOf(asking, { threadId: 't', runId: 'r' }), names };
}

const conversation = (more: object = {}) => ({ id: 'c', threadId: 't', status: 'idle', ...more });
const threadWith = (messages: object[], status = 'idle') =>
	success({ thread_id: 't', status, metadata: { id: 'c' }, values: { messages } });
const saying = (...items: object[]): Routes => ({
	[SAID]: [success({ items: items.map((one) => ({ role: 'ai', executionId: 'r', ...one })) })],
});

/** Another run has begun on the thread since. */
const LATER_RUN = { run_id: 'r2', created_at: '2026-11-22T10:00:09.000Z' };
const passed = (status: string): Routes => ({ [LIST]: [telling({ status }, LATER_RUN)] });
const forbidden = { ...failure, status: 403 };

describe('how a run stands', () => {
	it('goes on while it runs under an assistant, and nothing more is asked', async () => {
		const { standing: own, names } = await stands('running');
		expect(own).toEqual({ assistantId: 'a' });
		expect(names()).toEqual([ONE_RUN]);
	});

	it('is not known where it, its conversation, its list, its words or its thread may not be read', async () => {
		for (const route of [ONE_RUN, SEARCH, LIST, SAID, READ]) {
			const { standing: own } = await stands('success', { [route]: [no(forbidden)] });
			expect([route, own.verdict]).toMatchObject([route, { status: 'failed', failure: forbidden }]);
		}
	});

	it('goes on in its first moments, in which it has no assistant and its conversation is busy', async () => {
		const unnamed = { [ONE_RUN]: [success({ ...OF_SERVER, assistant_id: null })] };
		for (const items of [[conversation({ status: 'busy' })], []]) {
			const { standing: own } = await stands('running', {
				...unnamed,
				[SEARCH]: [listed(...items)],
			});
			expect(own).toEqual({});
		}
		const unread = await stands('running', { ...unnamed, [SEARCH]: [no(forbidden)] });
		expect(unread.standing.verdict).toMatchObject({ status: 'failed', failure: forbidden });
	});

	it('is left over without an assistant, where its conversation is at rest; read once more, as it may have ended', async () => {
		const unnamed = success({ ...OF_SERVER, assistant_id: null });
		const left = await stands('running', { [ONE_RUN]: [unnamed] });
		expect(left.standing.verdict?.reason).toBe('Nothing runs under this run ID');
		for (const now of [{}, { status: 'success' }, { status: 'success', assistant_id: null }]) {
			const looks = { [ONE_RUN]: [unnamed, success({ ...OF_SERVER, ...now })] };
			expect((await stands('running', looks)).standing).toEqual({});
		}
		const unread = await stands('running', { [ONE_RUN]: [unnamed, no(forbidden)] });
		expect(unread.standing.verdict).toMatchObject({ status: 'failed', failure: forbidden });
	});

	it('has not ended while its conversation or its thread is busy, unless with the run of another', async () => {
		const busy = { [SEARCH]: [listed(conversation({ status: 'busy' }))] };
		const { standing: own } = await stands('success', { ...busy, ...saying({ content: 'Hi' }) });
		expect(own).toEqual({ conversationId: 'c', status: 'success', assistantId: 'a' });
		const onThread = await stands('success', { [READ]: [threadWith([], 'busy')] });
		expect(onThread.standing.verdict).toBeUndefined();
		const other = { ...busy, ...passed('success'), ...saying({ content: 'Hi' }) };
		expect((await stands('success', other)).standing.verdict).toMatchObject({
			...{ status: 'completed', output: 'Hi', conversationId: 'c' },
		});
	});

	it('waits for a person, or was cancelled, as its conversation tells; not where others came after it', async () => {
		const tasks = [{ id: 'task' }];
		const waits = { [SEARCH]: [listed(conversation({ operation: { tasks } }))] };
		expect((await stands('interrupted', waits)).standing.verdict).toMatchObject({
			...{ status: 'interrupted', interrupt: tasks },
		});
		const { standing: own } = await stands('interrupted', { ...waits, ...passed('interrupted') });
		expect(own.verdict).toMatchObject({
			status: 'failed',
			reason: 'The run was cancelled, or the thread has gone on without a decision',
		});
	});

	it('has failed for the reason that was said to it, else for that of its conversation where it was the last', async () => {
		const known = { [SEARCH]: [listed(conversation({ error: 'of the last' }))] };
		const reasonOf = async (routes: Routes) =>
			(await stands('error', { ...known, ...routes })).standing.verdict?.reason;
		expect(await reasonOf(saying({ error: 'its own' }))).toBe('The run failed: its own');
		expect(await reasonOf({})).toBe('The run failed: of the last');
		expect(await reasonOf(passed('error'))).toBe('The run failed: the server gave no reason');
		const others = saying(
			{ executionId: 'r2', error: 'of another' },
			{ role: 'human', error: 'x' },
		);
		expect(await reasonOf(others)).toBe('The run failed: of the last');
	});

	it('is completed with the last message of its thread, which shows all of the answer', async () => {
		const { standing: own } = await stands('success', saying({ content: 'Hi' }));
		expect(own.verdict).toMatchObject({
			...{ status: 'completed', output: 'Hi', recovered: false, conversationId: 'c' },
			...{ messages: [assistant('Hi')], thread: { status: 'idle' }, answer: { status: 'idle' } },
		});
		expect(own.status).toBe('success');
	});

	it('is completed with a no where it has ended with the call that waited', async () => {
		const thread = threadWith([person('q'), { ...assistant(''), tool_calls: [{ id: 'call' }] }]);
		const { standing: own } = await stands('success', { [READ]: [thread] });
		expect(own.verdict).toMatchObject({ status: 'completed', output: '', rejected: true });
	});

	it('has failed where nothing was said, whether it is the last or not', async () => {
		const reason = 'The run ended without an answer, and the server does not say why';
		const last = await stands('success', { [READ]: [threadWith([person('q')])] });
		expect(last.standing.verdict).toMatchObject({ status: 'failed', reason });
		const { standing: own } = await stands('success', passed('success'));
		expect(own.verdict).toMatchObject({ status: 'failed', reason });
	});

	it('is told by its thread where no conversation of the owner has that', async () => {
		const { standing: own } = await stands('success', { [SEARCH]: [listed()] });
		expect(own.verdict).toMatchObject({ status: 'completed', output: 'Hi' });
	});

	it('is told by its conversation where its thread shows no reply, or the list does not have it', async () => {
		const told = saying({ content: 'Hi' });
		const bare = await stands('success', { ...told, [READ]: [threadWith([person('q')])] });
		expect(bare.standing.verdict).toMatchObject({ output: 'Hi', remembered: false });
		const { standing: own } = await stands('success', { ...told, [LIST]: [telling()] });
		expect(own.verdict).toMatchObject({ status: 'completed', output: 'Hi' });
	});

	it('has said nothing where its words are empty, and others came after it', async () => {
		const routes = { ...passed('success'), ...saying({ content: '' }) };
		const { standing: own } = await stands('success', routes);
		expect(own.verdict).toMatchObject({ status: 'completed', output: '' });
	});
});

describe('the words of a run in parts', () => {
	const part = (text: string, more: object = {}) => ({
		...{ type: 'text', id: '2', executionId: 'r', text, ...more },
	});
	const saidIn = async (...content: unknown[]) => {
		const routes = { ...passed('success'), ...saying({ content: 'an earlier' }, { content }) };
		return (await stands('success', routes)).standing.verdict?.output;
	};

	it('are those of its last call, joined', async () => {
		const before = part('I look it up. ', { id: '1' });
		expect(await saidIn(before, part('It is '), part('42.'))).toBe('It is 42.');
	});

	it('are not those of helpers, of tools, or of another shape', async () => {
		const helper = part('I help', { executionId: 'helper', id: '3' });
		const tool = part('42', { type: 'component', id: '3' });
		expect(await saidIn(part('Yes'), helper, tool, { type: 'text' }, 'odd')).toBe('Yes');
		expect(await saidIn(helper)).toBe('');
	});
});
