import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { BROKEN_ASSISTANT_ID, ECHO_ASSISTANT_ID, SAYING_ASSISTANT, startSandbox } from 'sandbox';
import type { FaultRule, Sandbox } from 'sandbox';
import { OWNER } from 'sandbox/entities';
import { derivedId } from 'nodes/XpertAi/payloads/ids';
import { clock } from './support/clock';
import { useFixture } from './support/fixture';
import { ID } from './support/records';
import { byId } from './support/locators';
import { answering, ask, delaying, losing, says, withoutRoute } from './support/runs';
import { worker } from './support/workers';

const fixture = useFixture();

const BERT = 'b0000000-0000-4000-8000-000000000003';
const TOKENS = Array.from({ length: 100 }, (_, n) => n);

/** A server that several people use: each token is one that this process has not used. */
let server: Sandbox;
let used = 0;
let anns = '';

beforeAll(async () => {
	const tokens = TOKENS.flatMap((n) => [{ token: `ann${n}` }, { token: `bert${n}`, userId: BERT }]);
	server = await startSandbox({ clock, accessToken: 'ann', tokens });
});
beforeEach(() => {
	server.reset();
	server.store.putAssistant(SAYING_ASSISTANT);
	anns = `ann${++used}`;
});
afterAll(async () => await server.close());

function idsOf(key: string, owner: string = OWNER.userId, assistant: string = SAYING_ASSISTANT.id) {
	const threadId = derivedId(derivedId(assistant, key), owner);
	return { threadId, conversationId: derivedId(threadId, 'conversation') };
}

type Circumstances = Parameters<typeof fixture.run>[1];

async function run(parameters: INodeParameters, json: IDataObject, how: Circumstances = {}) {
	const assistantId = byId(SAYING_ASSISTANT.id);
	const { items, error, ...result } = await fixture.run(ask({ assistantId, ...parameters }), {
		items: [{ json }],
		...how,
		credential: { baseUrl: server.url, accessToken: anns, ...how.credential },
	});
	// Of the answer that tells whose a key is, nothing but the ID goes anywhere.
	expect(JSON.stringify([items, error, error?.description, error?.context])).not.toMatch(
		/secret|owner@example|INSERT/,
	);
	return { ...result, items, error, json: items[0]?.json };
}

const KEYED = { threadSource: 'key', conversationKey: '={{ $json.thread }}' };

/** Says something under a key, in an execution of its own. */
const say = async (key: unknown, message: string, more: INodeParameters = {}, accessToken = anns) =>
	await run({ ...KEYED, ...more }, { thread: key, message } as IDataObject, {
		credential: { accessToken },
	});

const sent = () => server.requests.all.map(({ endpoint }) => endpoint);
/** The conversations that were made, without the records of locks. */
const made = () =>
	server.requests
		.of('E13')
		.flatMap(({ body }) => ('threadId' in Object(body) ? [body as IDataObject] : []));
const add = (...rules: FaultRule[]) => server.faults.add(...rules);
const seen = (count: number) => expect.stringContaining(`[users seen: ${count}]`) as string;

describe('a key', () => {
	it('is one conversation, under IDs of its own, which its first message makes', async () => {
		expect((await say('ann', 'one')).json).toMatchObject({ output: seen(1), ...idsOf('ann') });
		const { threadId, conversationId: id } = idsOf('ann');
		expect(made()).toEqual([{ id, threadId, title: 'one', createdById: OWNER.userId }]);
		expect((await say('ann', 'two')).json).toMatchObject({ output: seen(2), ...idsOf('ann') });
		await say('bob', 'one', { options: { title: 'Mails of Bob' } });
		expect(made().slice(1)).toEqual([expect.objectContaining({ title: 'Mails of Bob' })]);
	});

	it.each<[string, string, unknown]>([
		['as a number', '4711', 4711],
		['with blanks around it', 'ann', ' ann\n'],
		['in NFD', 'J\u00fcrgen', 'Ju\u0308rgen'],
	])('is the same %s', async (_, key, again) => {
		await say(key, 'one');
		expect((await say(again, 'two')).json).toMatchObject({ output: seen(2), ...idsOf(key) });
	});

	it('is one conversation for two tokens of one person, and another for somebody else', async () => {
		const others = idsOf('chat', BERT);
		for (const [token, ids, count] of [
			[anns, idsOf('chat'), 1],
			['ann', idsOf('chat'), 2],
			[`bert${used}`, others, 1],
			['bert0', others, 2],
		] as const)
			expect((await say('chat', 'x', {}, token)).json).toMatchObject({
				output: seen(count),
				...ids,
			});
	});

	it('is another conversation with another assistant', async () => {
		await say('ann', 'one');
		const { json } = await say('ann', 'one', { assistantId: byId(ECHO_ASSISTANT_ID) });
		const ids = idsOf('ann', OWNER.userId, ECHO_ASSISTANT_ID);
		expect(json).toMatchObject({ output: 'Echo: one', ...ids });
	});

	it('is answered for two processes whose first messages come at once, in one conversation', async () => {
		add({ endpoint: 'runs', do: 'run', ms: 300 });
		const workers = [await worker(server), await worker(server)];
		const asked = workers.map(async (one, n) => await one('ann', SAYING_ASSISTANT.id, `w${n}`));
		const answers = await clock.during(Promise.all(asked));
		expect(answers).toMatchObject([0, 1].map(() => ({ status: 'completed', ...idsOf('ann') })));
		expect(server.store.threads.get(idsOf('ann').threadId)?.messages).toHaveLength(4);
		expect([...server.store.conversations.keys()]).toEqual([idsOf('ann').conversationId]);
	});
});

const me = (status: number, more = {}) => answering('me', status, more);
const search = (status: number, more = {}) => answering('E5', status, more);
/** What the database says where a conversation has come into being meanwhile. */
const EXISTS = { code: '23505', query: 'INSERT INTO', driverError: { code: '23505' } };
const refused = answering('E13', 400, { when: 'after', body: EXISTS, nth: 1 });
const lost = losing('E13', 'after', { nth: 1 });
const sees = (nth: number | number[]) => search(200, { nth, body: { items: [], total: 0 } });

describe("a key's first message, whatever the server answers", () => {
	it.each<[string, FaultRule, number?]>([
		['the conversation came into being meanwhile', refused],
		['the answer to its making is lost', lost, 2],
		['whose the key is cannot be told for a while', me(503, { times: 12 })],
	])('is answered in the one conversation where %s', async (_, fault, tries = 1) => {
		add(fault);
		expect((await say('ann', 'one')).json).toMatchObject({ output: seen(1), ...idsOf('ann') });
		expect(made().map(({ id }) => id)).toEqual(Array(tries).fill(idsOf('ann').conversationId));
		expect((await say('ann', 'two')).json).toMatchObject({ output: seen(2), ...idsOf('ann') });
		expect(server.store.conversations.size).toBe(1);
	});

	const body = '<html>Sign in</html>';

	it.each<[string, ...FaultRule[]]>([
		['it is down', me(503)],
		['it does not answer', delaying('me', 600_000)],
		['it takes no key at all', me(401), search(401)],
	])('is not sent, as whose the key is is not known, where %s', async (_, ...faults) => {
		add(...faults);
		const { error } = await say('ann', 'one', { options: { deadlineMinutes: 0.5 } });
		expect(error?.message).toMatch(/^Th(e server|is key)/);
		expect(sent().filter((one) => one !== 'me' && one !== 'E5')).toEqual([]);
		server.faults.clear();
		expect((await say('ann', 'two')).json).toMatchObject({ output: seen(1), ...idsOf('ann') });
	});

	it.each<[string, FaultRule]>([
		['the route is not there, which it says twice', withoutRoute('me')],
		['it is forbidden to the key, which may search', me(403)],
		['a conversation made with the owner is not shown', sees([1, 2, 3])],
	])('is said in the conversation of the credential where %s', async (_, fault) => {
		add(fault);
		const first = await say('ann', 'one');
		const second = await say('ann', 'two');
		expect([first.json?.output, second.json?.output]).toEqual([seen(1), seen(2)]);
		const { threadId, conversationId } = first.json ?? {};
		expect(threadId).not.toBe(idsOf('ann').threadId);
		expect(second.json).toMatchObject({ threadId, conversationId });
		expect(made().at(-1)).toEqual({ title: 'one', threadId });
	});

	it('is not sent where the conversation of the credential is that of somebody else', async () => {
		add(me(405));
		await say('chat', 'I earn 5,000');
		const { error } = await say('chat', 'what does Ann earn?', {}, `bert${used}`);
		expect(error?.message).toBe('The conversation of this key belongs to somebody else');
		expect(server.store.runs.map(({ text }) => text)).toEqual(['I earn 5,000']);
	});

	it('asks anew whose the key is after a 401: it may have been replaced', async () => {
		await say('ann', 'one');
		add(search(401, { nth: 1 }));
		expect((await say('ann', 'two')).error?.message).toContain('401');
		expect((await say('ann', 'two')).json?.output).toEqual(seen(2));
		expect(server.requests.of('me')).toHaveLength(2);
	});

	const page = answering('E15', 404, { body, nth: [1, 2] });

	it.each([
		['nobody says whose the key is', losing('me', 'before', { nth: [1, 2] })],
		['one list shows no conversation', sees(1)],
		['two lists show no conversation', sees([1, 2])],
		['a page comes in place of the thread', page],
		['the answer to a new conversation is lost', lost],
	])('is never said into the memory of somebody else: %s', async (_, fault) => {
		await say('chat', 'I earn 5,000');
		add(fault);
		for (const word of ['b1', 'b2'])
			expect((await say('chat', word, {}, `bert${used}`)).json?.output).toEqual(
				expect.stringMatching(/^You said: b[12] \[users seen: [12]\]$/),
			);
		const { threadId } = idsOf('chat');
		const onAnns = server.store.runs.filter((one) => one.threadId === threadId);
		expect(onAnns.map(({ text }) => text)).toEqual(['I earn 5,000']);
	});
});

describe('a conversation that is chosen by itself', () => {
	const CHAT = '@n8n/n8n-nodes-langchain.chatTrigger';

	/** Says something in a chat with nothing set but the assistant. */
	const chat = async (sessionId: unknown, chatInput: string, how: Circumstances = {}) =>
		await run(
			{ threadSource: 'auto', message: '={{ $json.chatInput }}' },
			{ action: 'sendMessage', sessionId, chatInput } as IDataObject,
			{ trigger: CHAT, ...how },
		);

	it('is that of the session, for each visitor of a chat, and the same as with that key', async () => {
		for (const [visitor, count] of [
			['ann', 1],
			['bob', 1],
			['ann', 2],
			['bob', 2],
		] as const)
			expect((await chat(visitor, 'x')).json).toMatchObject({
				output: seen(count),
				...idsOf(visitor),
			});
		expect((await say('ann', 'three')).json?.output).toEqual(seen(3));
	});

	it('is that of the session also where a failed message comes back to be asked again', async () => {
		await chat('ann', 'x', { loops: 'n8n-nodes-base.wait' });
		expect((await chat('ann', 'x')).json).toMatchObject({ output: seen(2), ...idsOf('ann') });
	});

	it.each<[string, unknown, Circumstances]>([
		['behind another trigger', 'ann', { trigger: 'n8n-nodes-base.webhook' }],
		['in Loop Over Items', 'ann', { loops: 'n8n-nodes-base.splitInBatches' }],
		['as the tool of an agent', 'ann', { isTool: true }],
	])('is a new one %s', async (_, session, how) => {
		for (const words of ['one', 'two'])
			expect((await chat(session, words, how)).json?.output).toEqual(seen(1));
		expect(new Set(made().map(({ threadId }) => threadId)).size).toBe(2);
	});

	const OUTSIDE =
		'"Conversation" is "Of This Chat", and this execution has no chat, or this node is in Loop Over Items: each message begins a new conversation. If that is meant, choose "New"; otherwise "With a Key".';

	it.each<[string, Circumstances, string[]]>([
		['behind another trigger', { trigger: 'n8n-nodes-base.webhook' }, [OUTSIDE]],
		['in Loop Over Items', { loops: 'n8n-nodes-base.splitInBatches' }, [OUTSIDE]],
		['not as the tool of an agent', { isTool: true }, []],
		['not in a chat', {}, []],
	])('is told as a new one where it is chosen %s', async (_, how, expected) => {
		const { hints } = await chat('ann', 'one', how);
		expect(hints.map(({ message }) => message)).toEqual(expected);
	});

	it('is that of a session that is a number, which is the same as its text', async () => {
		await chat(4711, 'one');
		expect((await chat('4711', 'two')).json).toMatchObject({ output: seen(2), ...idsOf('4711') });
	});

	it.each<[string, unknown]>([
		['is missing', undefined],
		['is null', null],
		['is blank', ' '],
	])('is a new one where the session %s, which a hint says', async (_, session) => {
		const { json, hints } = await chat(session, 'one');
		expect(json?.output).toEqual(seen(1));
		expect(hints.map(({ message }) => message)).toEqual([
			'The chat message has no sessionId: each message begins a new conversation. Have the page send one, or set "Conversation" to "With a Key", with a key that tells visitors apart.',
		]);
	});

	it('is none for a session that stands for a missing value', async () => {
		const { error } = await chat('undefined', 'one');
		const words =
			'The sessionId of the Chat Trigger holds "undefined", which stands for a missing value';
		expect([error?.message, sent()]).toEqual([words, []]);
	});
});

describe('what cannot be a conversation is refused in words, and nothing is sent', () => {
	const additionalFieldsJson = { assistant_id: 'another' };
	const keyed = (conversationKey: string) => ({ conversationKey });
	const empty = (gave = 'nothing') =>
		`"Conversation Key" is empty: its expression gave ${gave} for this item`;
	const lacks = (part: string, gave = 'nothing') =>
		`"Conversation Key" lacks a part: {{ ${part} }} gave ${gave} for this item`;
	const NO_LIST = '"Conversation Key" must be text, but is ["ann"]';
	const OURS = '"Additional Fields (JSON)" at assistant_id is what the node sets itself';

	it.each<[string, unknown, INodeParameters, string]>([
		['a key of blanks', '  ', {}, empty('only blanks')],
		['no key', undefined, {}, empty()],
		['a key with text around nothing', '', keyed('=chat-{{ $json.user }}'), lacks('$json.user')],
		[
			'a key with text before nothing',
			'',
			keyed('={{ "chat-" + $json.user }}'),
			lacks('$json.user'),
		],
		[
			'a key of a channel and a user that is missing',
			'mail',
			keyed('={{ $json.thread }}:{{ $json.user }}'),
			lacks('$json.user'),
		],
		[
			'a key with a part that is blank',
			' ',
			keyed('=chat-{{ $json.thread }}'),
			lacks('$json.thread', 'only blanks'),
		],
		[
			'a key of a list beside text',
			'',
			keyed('=chat-{{ [1] }}'),
			'lacks a part: {{ [1] }} gave [1]',
		],
		[
			'a key that another node made of a missing value',
			'chat-undefined',
			{},
			'"Conversation Key" holds "undefined", which stands for a missing value',
		],
		['a list', 'ann', keyed('={{ ["ann"] }}'), NO_LIST],
		['another assistant than that of the key', 'ann', { options: { additionalFieldsJson } }, OURS],
	])('%s', async (_, key, parameters, words) => {
		const { error } = await say(key, 'one', parameters);
		expect(error?.message).toContain(words);
		expect(sent()).toEqual([]);
	});
});

describe('a run that fails, with Failures as Replies', () => {
	const asReply = { options: { failuresAsReplies: true } };

	it('says its reason as the reply, on the success output', async () => {
		const assistantId = byId(BROKEN_ASSISTANT_ID);
		const parameters = { threadSource: 'new', assistantId, ...asReply };
		const { outputs, error } = await run(
			parameters,
			{ message: 'one' },
			{ onError: 'continueErrorOutput' },
		);
		expect(error).toBeUndefined();
		const [failed] = server.store.runs;
		const conversationId = server.store.conversationOf(failed?.threadId ?? ID)?.id;
		const output = 'The run failed: No model for "broken"';
		const json = {
			output,
			status: 'failed',
			threadId: failed?.threadId,
			conversationId,
			runId: failed?.id,
		};
		expect(outputs.map((items) => items?.map((one) => one.json))).toEqual([[json], []]);
	});

	it.each([
		['empty', '', 'nothing'],
		['of blanks', ' \n ', 'only blanks'],
	])('says so of a message that is %s, and the others go on', async (_, text, gave) => {
		const items = [says('ann', text), says('bob', 'one')];
		const { items: out, error } = await run({ ...KEYED, ...asReply }, {}, { items });
		expect(error).toBeUndefined();
		expect(out.map(({ json }) => json.output)).toEqual([
			`"Message" is empty: its expression gave ${gave} for this item [item 0]`,
			seen(1),
		]);
	});
});
