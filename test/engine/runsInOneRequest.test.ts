import { range } from 'lodash';
import type { INodeParameters, INodeProperties } from 'n8n-workflow';

import { runOptionsField } from 'nodes/XpertAi/operations/thread/run/optionFields';
import { ECHO_ASSISTANT_ID, type FaultRule, INTERRUPTING_INPUT, SAYING_ASSISTANT } from 'sandbox';

import { clock } from './support/clock';
import { byId } from './support/locators';
import { ID } from './support/records';
import {
	again,
	answering,
	ask,
	decide,
	decideAsOthers,
	message,
	occupy,
	onOthers,
	post,
	putKnowing,
	useRuns,
} from './support/runs';

const { fixture, add, sent, newThread, call: runs } = useRuns();

/** What goes wrong with the next request of ours that waits. */
const next = (rule: FaultRule): FaultRule => ({ endpoint: 'E4', nth: 1, ...rule });
/** The server answers so, whether the run took place or not. */
const answers = (body: unknown, when: 'before' | 'after' = 'after') =>
	next({ do: 'status', when, status: 201, body, contentType: 'application/json' });

const call = async (parameters: INodeParameters, words?: string, thread?: string, tuning = {}) =>
	await runs({ ...parameters, tuning: { inOneRequest: true, ...tuning } }, words, thread);

const until = (deadlineMinutes: number) => ({ options: { deadlineMinutes } });

const NEW = ask({ threadSource: 'new' });
const OURS = 'Echo: ours';
const QUESTION = `${INTERRUPTING_INPUT} first`;
const NOTHING = { role: 'ai', content: '' };
const ANOTHER = { role: 'ai', content: 'Another' };
const LOST = next({ do: 'drop', when: 'after' });
const UNREAD = next({ do: 'drop', when: 'before' });
const NO_ANSWER = 'The run ended without an answer, and the server does not say why';
const NOTHING_WAITS = 'Nothing on this thread waits for a decision';
const isUnknown = (what: string) =>
	expect.stringMatching(`^It is not known whether the ${what} has reached the assistant`) as string;

/** A thread on which something was said, and the faults that come after it. */
async function said(words = 'before', ...faults: FaultRule[]): Promise<string> {
	const { json } = await call(NEW, words);
	add(...faults);
	return String(json?.threadId);
}

async function theyAsk(thread: string, ms: number, assistant?: string): Promise<void> {
	add(onOthers(thread, { do: 'run', ms, nth: 1 }));
	await occupy(fixture.sandbox, thread, message('theirs'), assistant);
}

/** The thread shows nothing at our second look, as where a conversation on it has never run (recorded: null). */
const showsNothing = (thread: string, status: string | null = null): FaultRule => {
	const body = { thread_id: thread, status, values: { messages: [] } };
	return answering('E15', 200, { nth: 2, body });
};

it('one request is not offered together with what cancels a run, which it cannot', () => {
	const hidden = (runOptionsField.options as INodeProperties[]).filter(
		({ displayOptions }) => displayOptions?.hide?.['/tuning.inOneRequest'],
	);
	expect(hidden.map(({ name }) => name)).toEqual(['whenGivenUp']);
});

describe('a thread on which another run goes on', () => {
	it.each([
		['is waited for, and no message gets lost', 'before'],
		['is waited for also in its first moments, in which it cannot be read', ''],
	])('%s', async (_, before) => {
		const fresh = await newThread();
		const thread = before ? await said(before) : fresh;
		await theyAsk(thread, 300);
		if (!before) add(answering('E15', 500, { nth: 1 }));
		const { json } = await call(ask(), 'ours', thread);
		expect(json).toMatchObject({ output: 'Echo: ours' });
		expect(json).not.toHaveProperty('remembered');
		const contents = fixture.sandbox.store.threads.get(thread)?.messages;
		expect(contents?.map(({ content }) => content)).toEqual(
			[...(before ? [before] : []), 'theirs', 'ours'].flatMap((one) => [one, `Echo: ${one}`]),
		);
	});

	it('is reported at once, or at the deadline, or run on, as is wanted', async () => {
		const thread = await said();
		await theyAsk(thread, 60_000);
		const busy = await call(ask(), 'ours', thread, { whenBusy: 'fail' });
		expect(busy.error).toBe('Another run is active on this thread');
		const late = await call(ask(until(0.005)), 'ours', thread);
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
	const conversation = (thread: string) => fixture.sandbox.store.conversationOf(thread)?.id ?? '';
	const unknown = () => ID;
	const itself = (thread: string) => thread;
	const tooLong = answering('E4', 400, { body: { message: 'too long' } });
	const late: FaultRule = { endpoint: 'E15', do: 'delay', ms: 700 };
	const MIXED_UP = '"Thread" holds the ID of a conversation, not that of its thread';
	const NOBODY = 'There is no conversation with thread …';
	const NOT_BEGUN = 'The run had not begun when the deadline came';

	it.each<[string, (thread: string) => string, FaultRule[], string, INodeParameters?]>([
		['a message on a thread that nobody knows', unknown, [], NOBODY],
		['a message on the ID of a conversation', conversation, [], MIXED_UP],
		['a message refused with a reason', unknown, [tooLong], 'The server answered 400: too long'],
		[
			'a message whose thread is refused',
			itself,
			[answering('E15', 403)],
			'This key may not do this: no (HTTP 403)',
		],
		['a message whose deadline has come', itself, [late], NOT_BEGUN],
		['a decision that nothing waits for', itself, [], NOTHING_WAITS, decide()],
	])('is %s', async (_, threadOf, faults, words, parameters = ask()) => {
		const thread = await said('before', ...faults);
		const { error } = await call({ ...parameters, ...until(0.01) }, 'ours', threadOf(thread));
		expect(error).toBe(words);
		expect(sent('E4').filter(({ status }) => status === 201)).toHaveLength(1);
	});

	it('is an answer to nothing', async () => {
		const { error } = await call(again(), '', await newThread());
		expect(error).toMatch(/^Nothing was said on this thread/);
		expect(sent('E4')).toEqual([]);
	});

	it('is sent again where that may help', async () => {
		const slow = answering('E4', 429, { headers: { 'retry-after': '0' } });
		add({ ...slow, nth: 1 });
		expect((await call(NEW)).json).toMatchObject({ output: 'Echo: ours' });
		add(slow);
		expect((await call(NEW)).error).toBe(
			'The server takes no more requests just now: no (HTTP 429)',
		);
		expect(sent('E4')).toHaveLength(7);
	});
});

describe('an answer', () => {
	const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
	const mixed = { role: 'ai', content: [{ type: 'text', text: '# **See**:' }, image] };
	const picture = { role: 'ai', content: [image] };
	const failing = next({ do: 'run', outcome: 'fail', error: 'No' });
	const down = answering('E15', 403, { nth: [2, 3, 4] });
	const other = (body: unknown) => answers(body, 'before');
	const asks = { status: 'interrupted' };
	const parts = [image];

	it.each<[string, FaultRule[], object, string?]>([
		['of text and other parts', [answers(mixed)], { output: '# **See**:', parts }],
		['of nothing but an image', [answers(picture)], { output: '', parts }],
		['that its thread does not hold', [answers(ANOTHER)], { output: 'Another', remembered: false }],
		['that is empty, but on its thread', [answers(NOTHING)], { output: OURS }],
		['whose thread is down for a while', [down], { output: OURS }],
		['while a person is waited for', [answers(ANOTHER)], asks, QUESTION],
	])('%s comes out as it is', async (_, faults, expected, message = 'ours') => {
		const thread = await said('before', ...faults);
		const { json } = await call(ask(), message, thread);
		expect(json).toMatchObject(expected);
		if (json?.output === OURS) expect(json).not.toHaveProperty('remembered');
	});

	it.each<[string, FaultRule[], string]>([
		['of a failed run, whose thread is down for a while', [failing, down], 'The run failed: No'],
		['that is empty, and not on its thread', [other(NOTHING)], NO_ANSWER],
		['without content', [other('{"role":"ai"}')], isUnknown('message')],
		['without a role', [other('{"content":"Another"}')], isUnknown('message')],
		['that is null', [other('null')], isUnknown('message')],
	])('%s is none', async (_, faults, words) => {
		const thread = await said('before', ...faults);
		expect((await call(ask(), 'ours', thread)).error).toEqual(words);
	});

	it('whose thread stays unreadable is beside the error: what became of the run is not known', async () => {
		const thread = await said('before', answering('E15', 403, { nth: range(2, 99) }));
		const { error, details } = await call(ask(until(2)), 'ours', thread);
		expect(error).toBe('The server answered, but what became of the run is not known');
		expect(details).toMatchObject({ unverified: 'Echo: ours', threadId: thread, status: 'failed' });
	});

	it.each(['busy', null])(
		'stays, or is waited for, where the thread shows as its status: %s',
		async (status) => {
			const thread = await said();
			add(showsNothing(thread, status));
			const { json } = await call(ask(), 'ours', thread);
			expect(json).toMatchObject({ output: 'Echo: ours' });
			expect(json).not.toHaveProperty('remembered');
			fixture.sandbox.faults.clear();
			add(showsNothing(thread, status), answers(NOTHING));
			const silentOne = await call(ask(), 'again', thread);
			expect(silentOne.json).toMatchObject({ output: 'Echo: again' });
		},
	);

	it('is none where somebody cancels what waits for a person', async () => {
		const thread = await said('before', next({ do: 'delay', when: 'after', ms: 2_000 }));
		const asking = call(ask(), QUESTION, thread);
		// A run says so earlier than its thread, and cannot be cancelled in between.
		const { store } = fixture.sandbox;
		await clock.until(() => store.threads.get(thread)?.status === 'interrupted');
		await post(fixture.sandbox, `threads/${thread}/runs/${store.runs.at(-1)?.id}/cancel`);
		expect((await asking).error).toBe('The run was cancelled on the server: Canceled by user');
	});

	it('of nothing to a decision has changed nothing: what waits still waits', async () => {
		const thread = await said(QUESTION, answers(NOTHING, 'before'));
		const { json } = await call(decide(), '', thread);
		expect(json).toMatchObject({ status: 'interrupted', interrupt: [{ tool: 'subagent' }] });
	});

	it('names the conversation though its thread shows another question', async () => {
		const thread = await newThread();
		const metadata = { id: fixture.sandbox.store.conversationOf(thread)?.id };
		const values = { messages: [{ id: 'theirs', content: 'theirs' }] };
		const body = { thread_id: thread, status: 'idle', metadata, values };
		add(
			answering('E15', 500, { nth: 1 }),
			answering('E15', 200, { nth: 2, body }),
			answers(ANOTHER),
		);
		const { json } = await call(ask(), 'ours', thread);
		const expected = { output: 'Another', remembered: false, conversationId: metadata.id };
		expect(json).toMatchObject(expected);
	});

	it('is the last of what was said', async () => {
		const parameters = ask({ threadSource: 'new', ...putKnowing(fixture.sandbox) });
		const { json } = await call(parameters, 'ASK CITE SAY zebra');
		expect(json?.output).toMatch(/^Here is what I found: /);
		expect(json).toMatchObject({ sources: [{ number: 1 }] });
	});
});

describe('a wait that breaks', () => {
	const confirmed = expect.stringContaining('Confirmed') as string;
	const slow = next({ do: 'run', ms: 200 });
	const failing = next({ do: 'run', outcome: 'fail', error: 'Late' });
	const once = answering('E15', 503, { nth: 2 });
	const reject = decide({ decision: 'reject' });
	const rejected = { output: 'This was rejected, and not carried out.', rejected: true };

	it.each<[string, INodeParameters, string, FaultRule[], object | string]>([
		['has the failure found', ask(), 'before', [failing, LOST], 'The run failed: Late'],
		['has the answer found', ask(), 'before', [LOST, once], { output: OURS }],
		['has another answer found', again(), 'before', [slow, LOST], { output: 'Echo: before' }],
		['has what was confirmed found', decide(), QUESTION, [slow, LOST], { output: confirmed }],
		['has what was rejected found', reject, QUESTION, [slow, LOST], rejected],
		['has no answer to what did not arrive', ask(), 'before', [UNREAD], isUnknown('message')],
		['has no old answer for another', again(), 'before', [UNREAD], isUnknown('request')],
	])('%s', async (_, parameters, before, faults, expected) => {
		const thread = await said(before, ...faults);
		if (before === QUESTION) add(showsNothing(thread));
		const { json, error } = await call(parameters, 'ours', thread);
		if (error) expect(error).toEqual(expected);
		else expect(json).toMatchObject({ ...(expected as object), status: 'completed' });
		expect(sent('E4')).toHaveLength(2);
	});

	it.each([
		['found', 'ours', 'q', { output: 'Found' }],
		['found without the ID of the question', 'ours', undefined, { output: 'Found' }],
		['not that to another message', 'not ours', 'q', undefined],
	])('has the answer to a message with files by its input: %s', async (_, input, id, expected) => {
		const thread = await said('before', LOST);
		// The server adds what is in a file to the text.
		const question = { id, content: 'Attachment File: a.txt\nours' };
		const messages = [question, { id: 'a', content: 'Found', tool_calls: [] }];
		const shows = (nth: number[], values: object) =>
			add(answering('E15', 200, { nth, body: { thread_id: thread, status: 'idle', values } }));
		shows([1], { messages: [{ content: 'before' }] });
		shows([2, 3], { input, messages });
		const { json, error } = await call(ask(), 'ours', thread);
		if (expected) expect(json).toMatchObject(expected);
		else expect(error).toEqual(isUnknown('message'));
	});

	it.each([QUESTION, 'ours'])(
		'does not have what was there before, where the thread only was touched (%s)',
		async (message) => {
			const thread = await said(message, UNREAD);
			const asking = call(ask(), 'ours', thread);
			await clock.until(() => sent('E4').length >= 2);
			const updatedAt = '2026-11-25T12:00:00.000Z';
			Object.assign(fixture.sandbox.store.conversationOf(thread) ?? {}, { updatedAt });
			expect((await asking).error).toEqual(isUnknown('message'));
		},
	);

	it.each([
		[
			'to reject is told as it went where others confirm',
			'reject',
			'confirm',
			{ output: confirmed },
		],
		['to confirm is told as it went where others reject', 'confirm', 'reject', undefined],
		['to confirm is told as it went where nobody decides', 'confirm', undefined, undefined],
	])('of a decision %s', async (_, ours, theirs, expected) => {
		const thread = await said(QUESTION, UNREAD);
		const deciding = call(decide({ decision: ours, ...until(0.02) }), '', thread);
		await clock.until(() => sent('E4').length >= 2);
		if (theirs) await decideAsOthers(fixture.sandbox, thread, theirs);
		const { json, error, details } = await deciding;
		expect(json?.rejected).toBeUndefined();
		if (expected) return expect(json).toMatchObject(expected);
		expect([error, details.status]).toEqual([isUnknown('decision'), 'timedOut']);
	});

	it('is not ended by the failure of others, whose reason is not ours', async () => {
		const thread = await said('before', LOST);
		const asking = call(ask(), 'ours', thread);
		await clock.until(() => sent('E4').length >= 2);
		await clock.settled();
		fixture.sandbox.faults.clear();
		add(next({ do: 'run', outcome: 'fail', error: 'Theirs' }));
		const theirs = { assistant_id: ECHO_ASSISTANT_ID, input: message('theirs') };
		await post(fixture.sandbox, `threads/${thread}/runs/wait`, theirs);
		expect((await asking).error).toEqual(isUnknown('message'));
	});

	it('is ended by the answer to ours where others failed meanwhile', async () => {
		const thread = await said('before', next({ do: 'delay', when: 'after', ms: 2_000 }));
		const asking = call(ask(), 'ours', thread);
		await clock.until(() => sent('E4').length >= 2);
		await clock.settled();
		add(next({ do: 'run', outcome: 'fail', error: 'Theirs' }));
		const theirs = { assistant_id: ECHO_ASSISTANT_ID, input: message('theirs') };
		await post(fixture.sandbox, `threads/${thread}/runs/wait`, theirs);
		const { json } = await asking;
		expect(json).toMatchObject({ output: OURS, status: 'completed' });
		expect(json).not.toHaveProperty('remembered');
	});

	it('is not ended by the answer to others', async () => {
		const thread = await said();
		await theyAsk(thread, 300);
		fixture.sandbox.faults.clear();
		add(UNREAD);
		const { error } = await call(ask(), 'ours', thread, { whenBusy: 'run' });
		expect(error).toEqual(isUnknown('message'));
	});
});
