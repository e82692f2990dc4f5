import { mapValues } from 'lodash';
import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { EVENTS } from 'nodes/XpertAiTrigger/fields';
import { OVERLAP_MS } from 'nodes/XpertAiTrigger/pollState';
import { ECHO_ASSISTANT_ID, INTERRUPTING_INPUT, type Sandbox, startSandbox } from 'sandbox';

import { EMPTY_WORDS } from '../nodes/support/thrown';
import { answering } from './support/faults';
import { clock, useClock } from './support/clock';
import { say, talk } from './support/conversations';
import { byId } from './support/locators';
import { createPollEngine } from './support/pollEngine';
import type { ActiveTrigger, PollEngine, TriggerRun } from './support/pollEngine';

const FAILING_INPUT = 'BOOM';
const HELPER_ID = 'd0000000-0000-4000-8000-000000000001';
const ALL: INodeParameters = { events: [...EVENTS] };
const ofHelper: INodeParameters = { ...ALL, assistantId: byId(HELPER_ID) };
const ofEcho: INodeParameters = { ...ALL, assistantId: byId(ECHO_ASSISTANT_ID) };
/** Another token of the same user. */
const ROTATED = 'another-token';

useClock();

let engine: PollEngine;
let sandbox: Sandbox;
let active: ActiveTrigger | undefined;

beforeAll(async () => {
	engine = await createPollEngine();
});

beforeEach(async () => {
	clock.reset();
	sandbox = await startSandbox({ clock, tokens: [{ token: ROTATED, kind: 'plain' }] });
});

afterEach(async () => {
	await active?.deactivate();
	active = undefined;
	await sandbox.close();
});

const credential = () => ({ baseUrl: sandbox.url, accessToken: sandbox.accessToken });

async function activate(
	parameters: INodeParameters = ALL,
	more: Partial<TriggerRun> = {},
): Promise<ActiveTrigger> {
	await active?.deactivate();
	const trigger = await clock.during(
		engine.activate({ parameters, credential: credential(), ...more }),
	);
	active = { ...trigger, poll: async () => await clock.during(trigger.poll()) };
	return active;
}

/** Somebody cancels a run, as the recorded server shows it. */
async function cancelledTalk(): Promise<string> {
	const { threadId } = sandbox.store.putConversation({ title: 'Cancelled' });
	sandbox.faults.add({ endpoint: 'E4', path: threadId, do: 'run', ms: 60_000 });
	const run = say(sandbox, threadId, 'Take your time');
	await clock.settled();
	// Until its first step a thread cannot be read.
	await clock.advance(1_000);
	sandbox.cancelRuns(threadId);
	await clock.advance(60_000);
	await run;
	return threadId;
}

const titles = ({ items }: ActiveTrigger) => items().map(({ title }) => title);

describe('what the trigger gives', () => {
	it('is an item of each conversation that was answered, failed, was cancelled or waits', async () => {
		const trigger = await activate();
		await clock.advance(1_000);
		const answered = await talk(sandbox, 'Hello', { title: 'Answered' });
		await clock.advance(1_000);
		const failed = await talk(sandbox, FAILING_INPUT, { title: 'Failed' });
		await clock.advance(1_000);
		const waiting = await talk(sandbox, `${INTERRUPTING_INPUT} first`, { title: 'Waiting' });
		const cancelled = await cancelledTalk();
		await trigger.poll();
		// What was cancelled may have given way to another run for a moment: it comes once it has stayed so.
		await trigger.poll();

		const common = {
			conversationId: expect.any(String),
			assistantId: ECHO_ASSISTANT_ID,
			output: null,
			error: null,
			interrupt: null,
			updatedAt: expect.stringMatching(/^\d{4}-.*Z$/),
		};
		expect(trigger.started.map(({ length }) => length)).toEqual([3, 1]);
		expect(trigger.items()).toEqual([
			{
				...common,
				event: 'answered',
				threadId: answered,
				title: 'Answered',
				status: 'idle',
				output: 'Echo: Hello',
			},
			{
				...common,
				event: 'failed',
				threadId: failed,
				title: 'Failed',
				status: 'error',
				error: 'The model failed: BOOM',
			},
			{
				...common,
				event: 'waiting',
				threadId: waiting,
				title: 'Waiting',
				output: expect.stringMatching(/^This waits for a person to decide/),
				status: 'interrupted',
				interrupt: [expect.objectContaining({ tool: 'subagent' })],
			},
			{
				...common,
				event: 'cancelled',
				threadId: cancelled,
				title: 'Cancelled',
				status: 'interrupted',
				error: 'Canceled by user',
			},
		]);
	});

	it('is not the mark of a run that has given way to another, which goes on', async () => {
		const trigger = await activate();
		await clock.advance(1_000);
		const threadId = await cancelledTalk();
		await trigger.poll();
		expect(trigger.items()).toEqual([]);
		sandbox.faults.clear();
		await say(sandbox, threadId, 'Again');
		await clock.advance(1_000);
		await trigger.poll();
		await trigger.poll();
		expect(trigger.items()).toMatchObject([{ event: 'answered', output: 'Echo: Again' }]);
	});

	it('is what failed and what waits unless other events are chosen', async () => {
		const trigger = await activate({});
		await talk(sandbox, 'Hello', { title: 'Answered' });
		await clock.advance(1_000);
		await talk(sandbox, FAILING_INPUT, { title: 'Failed' });
		await clock.advance(1_000);
		await talk(sandbox, INTERRUPTING_INPUT, { title: 'Waiting' });
		await trigger.poll();
		expect(titles(trigger)).toEqual(['Failed', 'Waiting']);
	});

	it('is of one assistant where one is chosen', async () => {
		const trigger = await activate({ ...ALL, assistantId: byId(HELPER_ID) });
		await talk(sandbox, 'Hello', { title: 'With the echo' });
		await talk(sandbox, 'Hello', { title: 'With the helper', assistantId: HELPER_ID });
		await trigger.poll();
		expect(titles(trigger)).toEqual(['With the helper']);
	});

	it('is an answer without the links that only Xpert AI opens', async () => {
		const trigger = await activate();
		const link = '[⟦1⟧](xpert://knowledgebase/chunk?documentId=d&chunkId=c)';
		await talk(sandbox, `Tea steeps ${link}. See [here](https://example.com).`);
		await trigger.poll();
		expect(trigger.items().map(({ output }) => output)).toEqual([
			'Echo: Tea steeps. See [here](https://example.com).',
		]);
	});

	it('is the record of the server without Simplify, and asks for no thread', async () => {
		const trigger = await activate({ ...ALL, simplify: false });
		const threadId = await talk(sandbox, 'Hello');
		await trigger.poll();
		const [conversation] = [...sandbox.store.conversations.values()];
		const { createdById: _, ...record } = conversation as unknown as IDataObject;
		expect(trigger.items()).toEqual([{ event: 'answered', ...record, threadId }]);
		expect(sandbox.requests.of('E15')).toHaveLength(0);
	});

	it('is only what holds a text in its title or a message, where one is asked for', async () => {
		const trigger = await activate({ ...ALL, options: { onlyWith: 'invoice' } });
		await talk(sandbox, 'Hello', { title: 'An Invoice' });
		await clock.advance(1_000);
		await talk(sandbox, 'Where is my INVOICE?', { title: 'A question' });
		await clock.advance(1_000);
		await talk(sandbox, 'Hello', { title: 'Something else' });
		await trigger.poll();
		await trigger.poll();
		expect(titles(trigger)).toEqual(['An Invoice', 'A question']);
		// What did not hold it is not read anew at each poll.
		expect(sandbox.requests.of('E15')).toHaveLength(3);
	});
});

describe('a thread that cannot be read', () => {
	const GONE = answering('E15', 500, { body: {} });
	const NOT_READ = 'The server answered 500: Internal Server Error';

	it('has its change given in the third poll, saying why it comes without the messages', async () => {
		const trigger = await activate({
			...ALL,
			options: { onlyWith: 'nowhere', includeMessages: true },
		});
		await talk(sandbox, 'Hello', { title: 'Gone' });
		sandbox.faults.add(GONE);
		await trigger.poll();
		await trigger.poll();
		expect(trigger.started).toEqual([]);
		await trigger.poll();
		await trigger.poll();
		expect(trigger.items()).toEqual([
			expect.objectContaining({ title: 'Gone', output: null, messages: null, notRead: NOT_READ }),
		]);
		expect(trigger.errors).toEqual([]);
	});

	it('holds up no later one, also where one comes a poll', async () => {
		const trigger = await activate({ ...ALL, options: { conversationsPerPoll: 1 } });
		const bad = await talk(sandbox, 'Hello', { title: 'Bad' });
		for (const title of ['One', 'Two']) {
			await clock.advance(1_000);
			await talk(sandbox, 'Hello', { title });
		}
		sandbox.faults.add({ ...GONE, path: bad });
		for (let n = 0; n < 4; n++) await trigger.poll();
		expect(trigger.started.map((items) => items.length)).toEqual([1, 1, 1]);
		expect(titles(trigger)).toEqual(['One', 'Two', 'Bad']);
	});

	it('shows its change in the editor at once', async () => {
		await talk(sandbox, 'Hello', { title: 'Gone' });
		sandbox.faults.add(GONE);
		const { items } = await engine.test({ parameters: ALL, credential: credential() });
		expect(items.map(({ json }) => json.notRead)).toEqual([NOT_READ]);
	});
});

describe('each change', () => {
	it('is given once, also to later polls and after n8n was restarted', async () => {
		const trigger = await activate();
		const thread = await talk(sandbox, 'Hello', { title: 'One' });
		await trigger.poll();
		await trigger.poll();
		await clock.advance(1_000);
		await say(sandbox, thread, 'And again');
		await trigger.poll();
		expect(trigger.items().map(({ output }) => output)).toEqual(['Echo: Hello', 'Echo: And again']);

		const restarted = await activate(ALL, { staticData: trigger.stored() });
		await restarted.poll();
		expect(restarted.started).toEqual([]);
	});

	it('of the time before the first activation is not given, also after other events were chosen', async () => {
		await talk(sandbox, 'Hello', { title: 'Before' });
		const first = await activate({ events: ['failed'] });
		const second = await activate(ALL, { staticData: first.stored() });
		await second.poll();
		expect(second.started).toEqual([]);
	});

	it('is given once where polls take longer than the time between them', async () => {
		const trigger = await activate();
		await talk(sandbox, 'Hello', { title: 'One' });
		sandbox.faults.add({ endpoint: 'E5', do: 'delay', ms: 100, times: 1 });
		trigger.beginPoll();
		await clock.settled();
		const both = trigger.poll();
		await clock.until(() => trigger.started.length > 0);
		await clock.advance(100);
		await both;
		expect(titles(trigger)).toEqual(['One']);
	});

	it.each<
		[
			what: string,
			before: INodeParameters,
			then: INodeParameters,
			access?: { credentialId?: string; accessToken?: string },
		]
	>([
		['Assistant is filled in', ALL, ofHelper],
		['Assistant is another', ofEcho, ofHelper],
		['Assistant is emptied', ofEcho, ALL],
		['other events are chosen', { events: ['failed'] }, ALL],
		['the credential is another', ofHelper, ofHelper, { credentialId: '2' }],
		['the token is another', ofHelper, ofHelper, { accessToken: ROTATED }],
	])(
		'is given from the last poll on, and none from before, when %s',
		async (_, before, then, { credentialId, ...token } = {}) => {
			const first = await activate(before);
			await talk(sandbox, 'Hello', { title: 'Before' });
			await clock.advance(10 * OVERLAP_MS);
			await talk(sandbox, 'Hello', { title: 'Before as well', assistantId: HELPER_ID });
			await first.poll();
			await first.poll();
			await clock.advance(10 * OVERLAP_MS);
			await talk(sandbox, 'Hello', { title: 'Since then', assistantId: HELPER_ID });
			// As a newer n8n keeps it: also of polls that started nothing.
			const staticData = mapValues(first.stored(), () => ({ ...first.memory() }));
			const own = { credentialId, credential: { ...credential(), ...token }, staticData };
			const second = await activate(then, own);
			await second.poll();
			expect(titles(second)).toEqual(['Since then']);
		},
	);

	it('is only of the time from now on with another server', async () => {
		const first = await activate();
		const staticData = first.stored();
		const elsewhere = await startSandbox({ clock });
		elsewhere.store.putConversation({ title: 'Past of the other', status: 'idle' });
		const moved = { baseUrl: elsewhere.url, accessToken: elsewhere.accessToken };
		try {
			const parameters = { ...ALL, simplify: false };
			const other = await activate(parameters, { staticData, credential: moved });
			await other.poll();
			expect(other.started).toEqual([]);
			await clock.advance(1_000);
			elsewhere.store.putConversation({ title: 'From now on', status: 'idle' });
			await other.poll();
			expect(titles(other)).toEqual(['From now on']);
		} finally {
			await elsewhere.close();
		}
	});
});

it('a memory of a clock that was wrong goes on with the changes of the last five minutes', async () => {
	const future = Date.UTC(2030, 0);
	const trigger = await activate();
	await talk(sandbox, 'Hello', { title: 'Before' });
	await clock.advance(2 * OVERLAP_MS);
	Object.assign(trigger.memory(), { since: future, again: future - OVERLAP_MS });
	await talk(sandbox, 'Hello', { title: 'One' });
	for (let n = 0; n < 2; n++) await trigger.poll();
	expect(titles(trigger)).toEqual(['One']);
	expect(trigger.errors).toEqual([]);
});

/** So many conversations, one a second, of which none has failed. */
async function hold(count: number): Promise<void> {
	for (let n = 0; n < count; n++) {
		sandbox.store.putConversation({ title: `Talk ${n}`, status: 'idle' });
		await clock.advance(1_000);
	}
}

it('a change comes out where a poll has time for one page, and none of the first is of interest', async () => {
	const trigger = await activate({ events: ['failed'], simplify: false }, { budgetMs: 1 });
	await hold(450);
	sandbox.store.putConversation({ title: 'Failed', status: 'error' });
	for (let n = 0; n < 10; n++) {
		sandbox.requests.clear();
		await trigger.poll();
		expect(sandbox.requests.of('E5')).toHaveLength(1);
	}
	expect(titles(trigger)).toEqual(['Failed']);
});

describe('a poll that fails', () => {
	const BAD_GATEWAY = { do: 'status', status: 502, body: 'Bad Gateway' } as const;

	it('is not shown while it gets on, as some hosts forget what a poll has remembered that fails', async () => {
		const trigger = await activate({ events: ['failed'] });
		await hold(150);
		sandbox.faults.add({ endpoint: 'E5', nth: [2, 3, 4], ...BAD_GATEWAY });
		await trigger.poll();
		expect(trigger.errors).toEqual([]);
		sandbox.faults.add({ endpoint: 'E5', ...BAD_GATEWAY });
		await trigger.poll();
		expect(trigger.errors).toEqual([expect.objectContaining({ httpCode: '502' })]);
	});

	it.each<[string, unknown]>([
		['a list that is not counted', { items: [] }],
		['a list of something else', { items: [{ name: 'Something' }], total: 1 }],
		[
			'a list that is not sorted',
			{
				items: ['2099', '2026'].map((year) => ({ id: year, updatedAt: `${year}-01-01` })),
				total: 2,
			},
		],
	])('is one to which %s comes', async (_, body) => {
		const trigger = await activate();
		await talk(sandbox, 'Hello', { title: 'One' });
		sandbox.faults.add(answering('E5', 200, { body }));
		await trigger.poll();
		expect(trigger.errors.map(({ message }) => message)).toEqual([
			expect.stringMatching(/^The server's answer cannot be read/),
		]);
		sandbox.faults.clear();
		await trigger.poll();
		expect(titles(trigger)).toEqual(['One']);
	});

	it('is shown in words, on activation as well, and the next one catches up', async () => {
		const trigger = await activate();
		await talk(sandbox, 'Hello', { title: 'One' });
		const body = { message: 'Unauthorized' };
		sandbox.faults.add(answering('E5', 403, { body }));
		await trigger.poll();
		expect(trigger.errors).toEqual([
			expect.objectContaining({
				message: 'This key may not do this: Unauthorized (HTTP 403)',
				// None is chosen.
				description: expect.not.stringContaining('"Assistant"'),
			}),
		]);
		sandbox.faults.clear();
		await trigger.poll();
		expect(titles(trigger)).toEqual(['One']);
		sandbox.faults.add(answering('E5', 401, { body }));
		await expect(activate()).rejects.toThrow(
			'The server does not accept this key: Unauthorized (HTTP 401)',
		);
	});
});

describe('a setting that cannot be used', () => {
	it.each<[string, INodeParameters]>([
		[
			'"Only With Title or Text" in "Options" is Fixed and holds an expression: switch it to Expression',
			{ options: { onlyWith: '{{ $json.text }}' } },
		],
		['"Events" must not be empty, but is []', { events: '={{ [] }}' }],
		[
			'"Conversations per Poll" in "Options" must be at least 1, but is 0',
			{ options: { conversationsPerPoll: 0 } },
		],
	])('is refused by its label: %s', async (message, parameters) => {
		const { error } = await engine.test({ parameters, credential: credential() });
		expect(error?.message).toBe(message);
		expect(error?.description).toMatch(/^No poll was made\. [A-Z]/);
		expect(error?.description).not.toMatch(EMPTY_WORDS);
		expect(sandbox.requests.all).toEqual([]);
	});

	it.each<[string, INodeParameters, object]>([
		['"Assistant" must be a UUID such as', { assistantId: byId('nope') }, {}],
		[
			'The credential could not be read here, where its expressions have no item',
			{},
			{ baseUrl: '={{ $json.server }}' },
		],
	])('is refused on activation: %s', async (message, parameters, changes) => {
		const changed = { credential: { ...credential(), ...changes } };
		await expect(activate({ ...ALL, ...parameters }, changed)).rejects.toThrow(message);
		expect(sandbox.requests.all).toEqual([]);
	});
});

describe('a test in the editor', () => {
	it('shows the newest change that fits, and is remembered nowhere', async () => {
		await talk(sandbox, FAILING_INPUT, { title: 'Older' });
		await clock.advance(1_000);
		await talk(sandbox, FAILING_INPUT, { title: 'Newest' });
		await clock.advance(1_000);
		await talk(sandbox, 'Hello', { title: 'Answered' });
		const run = { parameters: {}, credential: credential() };
		for (let n = 0; n < 2; n++) {
			const { items } = await engine.test(run);
			expect(items.map(({ json }) => json.title)).toEqual(['Newest']);
		}
	});

	it('says what to do where there is none', async () => {
		const { error } = await engine.test({ parameters: {}, credential: credential() });
		expect(error?.message).toBe('No conversation to show fits the settings');
		expect(error?.description).toContain('Choose other Events');
		expect(error?.description).not.toMatch(EMPTY_WORDS);
	});
});
