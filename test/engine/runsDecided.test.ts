import type { INodeParameters } from 'n8n-workflow';

import { ECHO_ASSISTANT_ID, type FaultRule, INTERRUPTING_INPUT } from 'sandbox';
import { clock } from './support/clock';
import {
	answering,
	lasting,
	losing,
	arrivals,
	ask,
	decide,
	decideAsOthers,
	message,
	onThread,
	post,
	useRuns,
} from './support/runs';

const { fixture, call, add, sent, stored } = useRuns();

const senders = (thread: string) =>
	fixture.sandbox.store.threads.get(thread)?.messages.map(({ from }) => from);

const QUESTION = `${INTERRUPTING_INPUT} first`;
const REJECTED = 'This was rejected, and not carried out.';
const NOTHING_WAITS = 'Nothing on this thread waits for a decision';

/** A thread that waits for a person: what came out, and the call that waits. */
async function waiting() {
	const { json = {} } = await call(ask({ threadSource: 'new' }), QUESTION);
	const [asked] = json.interrupt as Array<{ callId: string }>;
	return { json, thread: String(json.threadId), callId: asked?.callId ?? '' };
}

describe('a run that asks a person', () => {
	it('is interrupted, and goes on under its ID when that is confirmed, with what goes along', async () => {
		const { json, thread } = await waiting();
		expect(json).toMatchObject({
			status: 'interrupted',
			output: 'This waits for a person to decide: SubAgent (May I answer this?).',
			interrupt: [{ tool: 'subagent', args: { input: QUESTION } }],
		});
		const additionalFieldsJson = '{"input":{"decision":{"payload":{"only":1}}}}';
		const decided = await call(decide({ options: { additionalFieldsJson } }), '', thread);
		// What was said before the tool was called is not the answer.
		const output = `Tool said: Confirmed: ${QUESTION} {"only":1}`;
		expect(decided.json).toMatchObject({ output, status: 'completed', runId: json.runId });
		expect(stored(thread).map(({ status }) => status)).toEqual(['success']);
	});

	it.each<[string, INodeParameters, object]>([
		['by a rejection', decide({ decision: 'reject' }), { output: REJECTED, rejected: true }],
		[
			'without Simplify',
			decide({ decision: 'reject', simplify: false }),
			{ role: 'ai', content: '', rejected: true },
		],
	])(
		'is ended %s, and nothing is carried out, but what was before',
		async (_, parameters, expected) => {
			const { thread } = await waiting();
			await call(decide(), '', thread);
			await call(ask(), `${INTERRUPTING_INPUT} second`, thread);
			const before = senders(thread);
			expect((await call(parameters, '', thread)).json).toMatchObject(expected);
			expect(senders(thread)).toEqual(before);
		},
	);

	it.each<[string, string, object]>([
		['rejected with a payload that is null', 'reject', { decision: { payload: null } }],
		['rejected with a payload', 'reject', { decision: { payload: { only: 1 } } }],
		['confirmed with a rejection', 'confirm', { decision: { type: 'reject', payload: {} } }],
		['confirmed as a message', 'confirm', { action: 'send' }],
		['rejected for another agent', 'reject', { target: { agentKey: 'x' } }],
	])('is not carried out after all: %s', async (_, ...row) => {
		const [decision, input] = row;
		const { thread } = await waiting();
		const options = { additionalFieldsJson: JSON.stringify({ input }) };
		const { error } = await call(decide({ decision, options }), '', thread);
		expect(error).toMatch(/^"Additional Fields \(JSON\)" at input\.\w+(\.type)? is what the node /);
		expect(senders(thread)).toEqual(['person', 'assistant']);
	});
});

describe('changed arguments', () => {
	const change = async (thread: string, id: string) => {
		const changedArguments = JSON.stringify({ [id]: { input: 'what a person wrote' } });
		return await call(decide({ options: { changedArguments } }), '', thread);
	};

	it('are carried out', async () => {
		const { thread, callId } = await waiting();
		// Joined from its beginning, the run tells of both its waits while it goes on.
		add({ ...onThread(thread, { do: 'run', ms: 400 }), nth: 2 });
		const { json } = await change(thread, callId);
		expect(json).toMatchObject({ status: 'completed' });
		expect(json?.output).toContain('Confirmed: what a person wrote');
	});

	it('that have arrived and are not carried out are said to have, and those of no call', async () => {
		const { thread, callId } = await waiting();
		const unknown = await change(thread, 'another call');
		expect(unknown.error).toBe('"Changed Arguments" names a call that does not wait');
		expect(unknown.details.description).toContain(`Waiting: ${callId}.`);
		add(
			{ ...onThread(thread, { do: 'drop', when: 'after' }), nth: 1 },
			{ ...onThread(thread, { do: 'status', status: 403, body: 'no' }), nth: 2 },
			{ endpoint: 'run', nth: 1, do: 'delay', ms: 200 },
		);
		const { error, details } = await change(thread, callId);
		expect(error).toBe('This key may not do this: no (HTTP 403)');
		expect(details.description).toMatch(/The changed arguments have arrived\. .* left empty\./);
		expect((await change(thread, callId)).error).toBe('The waiting run lists no calls');
	});
});

describe('a decision', () => {
	const theirs = { assistant_id: ECHO_ASSISTANT_ID, input: message('theirs') };
	const asks = async (thread: string) =>
		await post(fixture.sandbox, `threads/${thread}/runs/wait`, theirs);
	const decides = (type: string) => async (thread: string) =>
		await decideAsOthers(fixture.sandbox, thread, type);

	it.each([
		['reject', 'confirms', decides('confirm'), 'What was rejected was carried out'],
		['confirm', 'rejects', decides('reject'), 'What was confirmed was not carried out'],
		['reject', 'goes on', asks, 'the thread has gone on without a decision'],
	])(
		'to %s is told as it went where somebody else %s before it',
		async (decision, _, others, said) => {
			const { thread } = await waiting();
			add({ ...onThread(thread, { do: 'delay', ms: 200 }), nth: 1 });
			const before = sent('runs').length;
			const deciding = call(decide({ decision }), '', thread);
			await clock.until(() => sent('runs').length > before);
			await others(thread);
			expect((await deciding).error).toContain(said);
		},
	);

	it.each<[string, FaultRule, RegExp]>([
		['never arrived', losing('runs', 'before'), /^The decision did not reach the assistant\. /],
		['was refused', answering('runs', 403), /: no \(HTTP 403\)$/],
		[
			'was put off',
			answering('runs', 429, { headers: { 'retry-after': '0' } }),
			/: no \(HTTP 429\)$/,
		],
	])('that %s is to be made again, long before the deadline', async (_, fault, words) => {
		const { thread } = await waiting();
		add(fault);
		const { error, details } = await call(decide(), '', thread);
		expect(error).toMatch(words);
		expect(details.description).toContain('Decide again: what waits still waits.');
		fixture.sandbox.faults.clear();
		expect((await call(decide(), '', thread)).json).toMatchObject({ status: 'completed' });
	});

	it.each<[string, number, object | string]>([
		['a moment', 2, { status: 'completed' }],
		['long', 100, 'Another run is active on this thread'],
	])(
		'is not refused for nothing to decide while the conversation is busy for %s',
		async (...row) => {
			const [, times, expected] = row;
			const { thread } = await waiting();
			const { id } = fixture.sandbox.store.conversationOf(thread) ?? {};
			const body = { items: [{ id, threadId: thread, status: 'busy', operation: null }], total: 1 };
			add(answering('E5', 201, { body, times }));
			const { json, error } = await call(decide(), '', thread);
			if (error) expect(error).toBe(expected);
			else expect(json).toMatchObject(expected as object);
		},
	);

	it('whose answer was lost is carried out once, and told', async () => {
		const { thread } = await waiting();
		add(lasting(300), losing('runs', 'after'));
		const { json } = await call(decide(), '', thread);
		expect(json).toMatchObject({ status: 'completed' });
		expect(arrivals(fixture.sandbox, thread)).toBe(2);
	});

	const cancels = async (thread: string) => {
		const [run] = stored(thread);
		await post(fixture.sandbox, `threads/${thread}/runs/${run?.id}/cancel`);
	};
	const errs = (more: object) => async (thread: string) =>
		Object.assign(fixture.sandbox.store.conversationOf(thread) ?? {}, { error: 'x', ...more });
	const CANCELLED = 'The run was cancelled on the server: Canceled by user';

	it.each<[string, (thread: string) => Promise<unknown>, string | undefined]>([
		['was made before', async (thread) => await call(decide(), '', thread), NOTHING_WAITS],
		['is about a run that was cancelled', cancels, CANCELLED],
		['finds no task', errs({ operation: null }), NOTHING_WAITS],
		['finds the error of another run', errs({}), undefined],
	])('that %s is sent only where something waits', async (_, happen, words) => {
		const { thread } = await waiting();
		await happen(thread);
		const before = arrivals(fixture.sandbox, thread);
		const { error } = await call(decide(), '', thread);
		expect(error).toBe(words);
		expect(arrivals(fixture.sandbox, thread) - before).toBe(words === undefined ? 1 : 0);
	});
});
