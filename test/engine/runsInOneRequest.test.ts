import type { INodeParameters } from 'n8n-workflow';

import { INTERRUPTING_INPUT, SAYING_ASSISTANT } from '../../sandbox';
import type { FaultRule } from '../../sandbox';
import { clock } from './support/clock';
import { useFixture } from './support/fixture';
import { byId } from './support/locators';
import {
	again,
	ask,
	decide,
	decideAsOthers,
	detailsOf,
	idRows,
	newThreads,
	occupy,
	onOthers,
	post,
	says,
} from './support/runs';

const fixture = useFixture();

const sent = (endpoint: string) => fixture.sandbox.requests.of(endpoint);
const add = (...rules: FaultRule[]) => fixture.sandbox.faults.add(...rules);
/** What goes wrong with the next request of ours that waits. */
const next = (rule: FaultRule) => add({ endpoint: 'E4', nth: 1, ...rule });

async function call(
	parameters: INodeParameters,
	message = 'ours',
	thread = '',
	options: INodeParameters = {},
) {
	const own = { ...parameters, options: { inOneRequest: true, ...options } };
	const items = [says(thread, message)];
	const result = await fixture.run(own, { items, onError: 'continueErrorOutput' });
	const failed = result.outputs[1]?.[0];
	return { json: result.items[0]?.json, error: failed?.json.error, details: detailsOf(failed) };
}

/** A thread on which something was said. */
async function said(message = 'before'): Promise<string> {
	const { json } = await call(ask({ threadSource: 'new' }), message);
	return String(json?.threadId);
}

async function theyAsk(thread: string, ms: number, assistant?: string): Promise<void> {
	add(onOthers(thread, { do: 'run', ms, nth: 1 }));
	const input = { action: 'send', message: { input: { input: 'theirs' } } };
	await occupy(fixture.sandbox, thread, input, assistant);
}

/** The thread shows nothing at our second look, as where a conversation on it has never run (recorded: null). */
const showsNothing = (thread: string, status: string | null = null): FaultRule => {
	const body = { thread_id: thread, status, values: { messages: [] } };
	return { endpoint: 'E15', nth: 2, do: 'status', status: 200, body };
};

describe('a thread on which another run goes on', () => {
	it('is waited for, and no message gets lost', async () => {
		const thread = await said();
		await theyAsk(thread, 300);
		const { json } = await call(ask(), 'ours', thread);
		expect(json).toMatchObject({ output: 'Echo: ours', recovered: false });
		expect(json).not.toHaveProperty('remembered');
		const contents = fixture.sandbox.store.threads.get(thread)?.messages;
		expect(contents?.map(({ content }) => content)).toEqual(
			['before', 'theirs', 'ours'].flatMap((one) => [one, `Echo: ${one}`]),
		);
	});

	it('is waited for also in its first moments, in which it cannot be read', async () => {
		const [thread = ''] = await newThreads(fixture.sandbox, 1);
		await theyAsk(thread, 300);
		add({ endpoint: 'E15', nth: 1, do: 'status', status: 500, body: 'no such thread' });
		const { json } = await call(ask(), 'ours', thread);
		expect(json).toMatchObject({ output: 'Echo: ours' });
		expect(fixture.sandbox.store.threads.get(thread)?.messages).toHaveLength(4);
	});

	it('is reported at once, or at the deadline, or run on, as is wanted', async () => {
		const thread = await said();
		await theyAsk(thread, 60_000);
		const busy = await call(ask(), 'ours', thread, { whenBusy: 'fail' });
		expect(busy.error).toBe('Another run is active on this thread');
		const late = await call(ask(), 'ours', thread, { deadlineMinutes: 0.005 });
		expect(late.error).toBe('Another run was still active on the thread when the deadline came');
		expect(sent('E4')).toHaveLength(2);
		const { json } = await call(ask(), 'ours', thread, { whenBusy: 'run' });
		expect(json?.output).toBe('Echo: ours');
	});

	it('may overwrite an answer, which is said', async () => {
		fixture.sandbox.store.putAssistant(SAYING_ASSISTANT);
		const assistantId = byId(SAYING_ASSISTANT.id);
		const { json: first } = await call(ask({ threadSource: 'new', assistantId }), 'zero');
		const thread = String(first?.threadId);
		await theyAsk(thread, 400, SAYING_ASSISTANT.id);
		add({ endpoint: 'E15', nth: 2, do: 'delay', ms: 700 });
		const { json } = await call(ask({ assistantId }), 'one', thread, { whenBusy: 'run' });
		const output = 'You said: one [users seen: 2]';
		expect(json).toMatchObject({ output, status: 'completed', remembered: false });
	});
});

describe('what cannot begin', () => {
	it('is said of a thread that nobody knows, and of the ID of a conversation', async () => {
		const thread = await said();
		const conversation = fixture.sandbox.store.conversationOf(thread)?.id;
		const unknown = await call(ask(), 'ours', '2f78e81b-096f-42ff-8ac0-8403fd81392d');
		expect(unknown.error).toBe('There is no conversation with this thread');
		const wrong = await call(ask(), 'ours', conversation);
		expect(wrong.error).toBe('"Thread" holds the ID of a conversation, not that of its thread');
	});

	it.each(['E15', 'E5'])('is a message where %s cannot be read: none is sent', async (endpoint) => {
		const thread = await said(`${INTERRUPTING_INPUT} first`);
		add({ endpoint, do: 'status', status: 403, body: 'no' });
		expect((await call(ask(), 'ours', thread)).error).toBe('The server answered 403: no');
		expect(sent('E4')).toHaveLength(1);
	});

	it('is a message that the server refuses with a reason, whatever thread it is for', async () => {
		const nobodys = '2f78e81b-096f-42ff-8ac0-8403fd81392d';
		add({ endpoint: 'E4', do: 'status', status: 400, body: { message: 'too long' } });
		const { error } = await call(ask(), 'ours', nobodys);
		expect(error).toBe('The server answered 400: too long');
	});

	it('is a decision that nothing waits for, and an answer to nothing', async () => {
		const decided = await call(decide(), '', await said());
		expect(decided.error).toBe('Nothing on this thread waits for a decision');
		const [thread = ''] = await newThreads(fixture.sandbox, 1);
		const answered = await call(again(), '', thread);
		expect(answered.error).toMatch(/^Nothing was said on this thread/);
		expect(sent('E4')).toHaveLength(1);
	});

	it('is a message whose thread is read as the deadline comes', async () => {
		const thread = await said();
		add({ endpoint: 'E15', do: 'delay', ms: 700 });
		const { error } = await call(ask(), 'ours', thread, { deadlineMinutes: 0.01 });
		expect(error).toBe('The run had not begun when the deadline came');
		expect(sent('E4')).toHaveLength(1);
	});

	it('is refused by the server, or sent again where that may help', async () => {
		next({ do: 'status', status: 403, body: 'no' });
		const refused = await call(ask({ threadSource: 'new' }));
		expect(refused.error).toBe('The server answered 403: no');
		fixture.sandbox.faults.clear();
		next({ do: 'status', status: 429, body: 'slow', headers: { 'retry-after': '0' } });
		const { json } = await call(ask({ threadSource: 'new' }));
		expect(json).toMatchObject({ output: 'Echo: ours', recovered: false });
		expect(sent('E4')).toHaveLength(3);
		add({ endpoint: 'E4', do: 'status', status: 429, body: 'no', headers: { 'retry-after': '0' } });
		expect((await call(ask({ threadSource: 'new' }))).error).toBe('The server answered 429: no');
		expect(sent('E4')).toHaveLength(8);
	});
});

describe('an answer', () => {
	const nothing = { role: 'ai', content: '' };
	const silence: FaultRule = { do: 'status', when: 'after', status: 201, body: nothing };

	it('stays where its thread cannot be read; an empty one is none then', async () => {
		const thread = await said();
		add({ endpoint: 'E15', nth: [2, 4], do: 'status', status: 403, body: 'no' });
		const { json } = await call(ask(), 'ours', thread);
		expect(json).toMatchObject({ output: 'Echo: ours', status: 'completed' });
		next({ do: 'run', outcome: 'empty' });
		const empty = await call(ask(), 'ours', thread);
		expect(empty.error).toBe('The run ended without an answer, and the server does not say why');
	});

	it.each(['{"role":"ai"}', '{"content":"Another"}', 'null'])(
		'of another form is none: whether the message has arrived is not known (%s)',
		async (body) => {
			const thread = await said();
			next({ do: 'status', status: 201, body, contentType: 'application/json' });
			const { error } = await call(ask(), 'ours', thread);
			expect(error).toMatch(/^It is not known whether the message has reached the assistant/);
		},
	);

	it.each(['busy', null])(
		'stays, or is waited for, where the thread does not show it yet (%s)',
		async (status) => {
			const thread = await said();
			add(showsNothing(thread, status));
			const { json } = await call(ask(), 'ours', thread);
			expect(json).toMatchObject({ output: 'Echo: ours', recovered: false });
			expect(json).not.toHaveProperty('remembered');
			fixture.sandbox.faults.clear();
			add(showsNothing(thread, status));
			next(silence);
			const silent = await call(ask(), 'again', thread);
			expect(silent.json).toMatchObject({ output: 'Echo: again', recovered: true });
		},
	);

	it('is taken up only where the server has answered with nothing', async () => {
		const asked = await call(ask({ threadSource: 'new' }), `${INTERRUPTING_INPUT} first`);
		expect(asked.json).toMatchObject({ status: 'interrupted', recovered: false });
		const thread = await said();
		next(silence);
		const { json } = await call(ask(), 'ours', thread);
		expect(json).toMatchObject({ output: 'Echo: ours', recovered: true });
	});

	it('is none while a person is waited for, whatever the server answers', async () => {
		const body = { role: 'ai', content: 'Please wait' };
		next({ do: 'status', when: 'after', status: 201, body });
		const { json } = await call(ask({ threadSource: 'new' }), `${INTERRUPTING_INPUT} first`);
		expect(json).toMatchObject({ status: 'interrupted', recovered: false });
	});

	it('is none where somebody cancels what waits for a person', async () => {
		const thread = await said();
		next({ do: 'delay', when: 'after', ms: 2_000 });
		const asking = call(ask(), `${INTERRUPTING_INPUT} first`, thread);
		// A run says so earlier than its thread, and cannot be cancelled in between.
		const { runs, threads } = fixture.sandbox.store;
		await clock.until(() => threads.get(thread)?.status === 'interrupted');
		await post(fixture.sandbox, `threads/${thread}/runs/${runs.at(-1)?.id}/cancel`);
		expect((await asking).error).toBe('The run was cancelled on the server: Canceled by user');
	});

	it('that says nothing is none: a message has no answer, and a decision changed nothing', async () => {
		const thread = await said(`${INTERRUPTING_INPUT} first`);
		add({ endpoint: 'E4', do: 'status', status: 201, body: nothing });
		const decided = await call(decide(), '', thread);
		expect(decided.error).toBe('The server answered, but what waits for a decision still waits');
		const { error } = await call(ask(), 'ours', thread);
		expect(error).toBe('The run ended without an answer, and the server does not say why');
	});

	it('that its thread does not hold was overwritten, which is said', async () => {
		const thread = await said();
		const body = { role: 'ai', content: 'Another' };
		add({ endpoint: 'E4', do: 'status', when: 'after', status: 201, body });
		const { json } = await call(ask(), 'ours', thread);
		expect(json).toMatchObject({ output: 'Another', remembered: false });
	});

	it('names the conversation though its thread shows another question', async () => {
		const [thread = ''] = await newThreads(fixture.sandbox, 1);
		const metadata = { id: fixture.sandbox.store.conversationOf(thread)?.id };
		const values = { messages: [{ id: 'theirs', content: 'theirs' }] };
		const body = { thread_id: thread, status: 'idle', metadata, values };
		add({ endpoint: 'E15', nth: 1, do: 'status', status: 500, body: 'no such thread' });
		add({ endpoint: 'E15', nth: 2, do: 'status', status: 200, body });
		next({ do: 'status', when: 'after', status: 201, body: { role: 'ai', content: 'Another' } });
		const { json } = await call(ask(), 'ours', thread);
		expect(json).toMatchObject({ output: 'Another', remembered: false });
		expect(json?.conversationId).toBe(metadata.id);
	});

	it('to a rejection is not overwritten where the thread holds the rejected call', async () => {
		const thread = await said(`${INTERRUPTING_INPUT} first`);
		const body = { role: 'ai', content: 'Let me look.' };
		next({ do: 'status', when: 'after', status: 201, body });
		const { json } = await call(decide({ decision: 'reject' }), '', thread);
		expect(json).toMatchObject({ output: 'Let me look.', status: 'completed' });
		expect(json).not.toHaveProperty('remembered');
	});

	it('is the last of what was said', async () => {
		const { store } = fixture.sandbox;
		const { id } = store.putKnowledgebase({ name: 'zebra' });
		store.putFindable(store.putDocument({ knowledgebaseId: id, name: 'z.md' }), ['Stripes.']);
		const assistant = 'a7000000-0000-4000-8000-000000000001';
		const tools = [{ name: `retriever-${id}`, knowledgebaseId: id }];
		store.putAssistant({ ...SAYING_ASSISTANT, id: assistant, tools });
		const parameters = ask({ threadSource: 'new', assistantId: byId(assistant) });
		const { json } = await call(parameters, 'ASK CITE SAY zebra');
		expect(json?.output).toMatch(/^Here is what I found: /);
		expect(json).toMatchObject({ sources: [{ cited: true }], recovered: false });
	});
});

describe('a wait that breaks', () => {
	const lost: FaultRule = { do: 'drop', when: 'after' };

	it('has its failure found, and what waits for a person', async () => {
		const thread = await said();
		next({ do: 'run', outcome: 'fail', error: 'Late' });
		next(lost);
		expect((await call(ask(), 'ours', thread)).error).toBe('The run failed: Late');
		fixture.sandbox.faults.clear();
		next(lost);
		const { json } = await call(ask(), `${INTERRUPTING_INPUT} first`, thread);
		expect(json).toMatchObject({ status: 'interrupted', recovered: true });
	});

	it('has the answer on a thread found, and that to the same question asked again', async () => {
		const thread = await said();
		next(lost);
		add({ endpoint: 'E15', nth: 2, do: 'status', status: 503, body: 'down' });
		const { json } = await call(ask(), 'ours', thread);
		expect(json).toMatchObject({ output: 'Echo: ours', recovered: true });
		fixture.sandbox.faults.clear();
		next({ do: 'run', ms: 200 });
		next(lost);
		const second = await call(again(), '', thread);
		expect(second.json).toMatchObject({ output: 'Echo: ours', recovered: true });
		expect(sent('E4')).toHaveLength(3);
	});

	it.each([
		['ours', 'q', { output: 'Found', recovered: true }],
		['ours', undefined, { output: 'Found', recovered: true }],
		['not ours', 'q', undefined],
	])('finds the answer to a message with files by its input (%s, ID %s)', async (...row) => {
		const [input, id, expected] = row;
		const thread = await said();
		// The server adds what is in a file to the text.
		const question = { id, content: 'Attachment File: a.txt\nours' };
		const messages = [question, { id: 'a', content: 'Found', tool_calls: [] }];
		const showing = (values: object) => ({ thread_id: thread, status: 'idle', values });
		const shows = { endpoint: 'E15', do: 'status', status: 200 } as const;
		next(lost);
		add({ ...shows, nth: 1, body: showing({ messages: [{ content: 'before' }] }) });
		add({ ...shows, nth: [2, 3], body: showing({ input, messages }) });
		const ids = idRows({ fileContext: fixture.world.fileContextId });
		const { json, error } = await call(ask(), 'ours', thread, { ids });
		if (expected) expect(json).toMatchObject(expected);
		else expect(error).toMatch(/^It is not known whether the message has reached the assistant/);
	});

	it.each([
		['confirm', { status: 'completed', output: expect.stringContaining('Confirmed') as string }],
		['reject', { status: 'completed', output: '', rejected: true }],
	])('has what came of a decision found (%s)', async (decision, expected) => {
		const thread = await said(`${INTERRUPTING_INPUT} first`);
		next({ do: 'run', ms: 200 });
		next(lost);
		add(showsNothing(thread));
		const { json } = await call(decide({ decision }), '', thread);
		expect(json).toMatchObject({ ...expected, recovered: true });
	});

	it('does not have what waited before for what waits now, where that is stored late', async () => {
		const thread = await said(`${INTERRUPTING_INPUT} first`);
		const where = { threadId: thread };
		const body = await post(fixture.sandbox, 'conversations/search', { where });
		next(lost);
		add({ endpoint: 'E5', nth: 2, do: 'status', status: 200, body });
		const { json } = await call(ask(), `${INTERRUPTING_INPUT} second`, thread);
		expect(json).toMatchObject({
			...{ status: 'interrupted', recovered: true },
			interrupt: [{ call: { args: { input: `${INTERRUPTING_INPUT} second` } } }],
		});
	});

	it.each([`${INTERRUPTING_INPUT} first`, 'ours'])(
		'does not have what was there before, where the thread only was touched (%s)',
		async (message) => {
			const thread = await said(message);
			next({ do: 'drop', when: 'before' });
			const asking = call(ask(), 'ours', thread);
			await clock.until(() => sent('E4').length >= 2);
			const updatedAt = '2026-11-25T12:00:00.000Z';
			Object.assign(fixture.sandbox.store.conversationOf(thread) ?? {}, { updatedAt });
			const { error } = await asking;
			expect(error).toMatch(/^It is not known whether the message has reached the assistant/);
		},
	);

	it('does not have the old answer for another that was not begun', async () => {
		const thread = await said();
		next({ do: 'drop', when: 'before' });
		const { error } = await call(again(), '', thread);
		expect(error).toMatch(/^It is not known whether the request has reached the assistant/);
	});

	/** What comes of a decision that does not arrive where somebody else decides meanwhile. */
	async function decidedByOthers(ours: string, theirs: string) {
		const thread = await said(`${INTERRUPTING_INPUT} first`);
		next({ do: 'drop', when: 'before' });
		const deciding = call(decide({ decision: ours }), '', thread, { deadlineMinutes: 0.02 });
		await clock.until(() => sent('E4').length >= 2);
		await decideAsOthers(fixture.sandbox, thread, theirs);
		return await deciding;
	}

	it('of a rejection is no rejection where somebody else has confirmed', async () => {
		const { json } = await decidedByOthers('reject', 'confirm');
		expect(json?.output).toContain('Confirmed');
		expect(json).not.toHaveProperty('rejected');
	});

	it('of a confirmation does not end with the rejection of somebody else', async () => {
		const { error } = await decidedByOthers('confirm', 'reject');
		expect(error).toMatch(/^It is not known whether the decision has reached the assistant/);
	});

	it('is not ended by the answer to others', async () => {
		const thread = await said();
		await theyAsk(thread, 300);
		fixture.sandbox.faults.clear();
		next({ do: 'drop', when: 'before' });
		const { error } = await call(ask(), 'ours', thread, { whenBusy: 'run' });
		expect(error).toMatch(/^It is not known whether the message has reached the assistant/);
	});

	it('of a decision that shows nothing is waited for until the deadline', async () => {
		const thread = await said(`${INTERRUPTING_INPUT} first`);
		next({ do: 'drop', when: 'before' });
		const { error, details } = await call(decide(), '', thread, { deadlineMinutes: 0.01 });
		expect(error).toMatch(/^It is not known whether the decision has reached the assistant/);
		expect(details.status).toBe('timedOut');
	});
});
