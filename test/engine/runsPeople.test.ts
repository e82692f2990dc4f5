import { SAYING_ASSISTANT, startSandbox } from '../../sandbox';
import type { FaultRule, Sandbox } from '../../sandbox';
import { derivedId } from '../../nodes/XpertAi/payloads/derivedId';
import { clock } from './support/clock';
import { useFixture } from './support/fixture';
import { byId } from './support/locators';
import { ask, occupy, onOthers, saidOn, says } from './support/runs';

const fixture = useFixture();

/** A server that several people use: Ann with two tokens, and Bert. */
let server: Sandbox;

beforeAll(async () => {
	server = await startSandbox({
		clock,
		accessToken: 'of-ann',
		tokens: [{ token: 'also-of-ann' }, { token: 'of-bert', userId: 'bert' }],
	});
});
beforeEach(() => {
	server.reset();
	server.store.putAssistant(SAYING_ASSISTANT);
});
afterAll(async () => await server.close());

const threadOf = (key: string) => derivedId(SAYING_ASSISTANT.id, key);

/** Says something under a key, or under several, with a person's token, in an execution of its own. */
async function say(accessToken: string, key: string | string[], message: string, parameters = {}) {
	const result = await fixture.run(
		ask({
			...{ threadSource: 'key', conversationKey: '={{ $json.thread }}' },
			...{ assistantId: byId(SAYING_ASSISTANT.id), ...parameters },
		}),
		{
			items: [key].flat().map((one) => says(one, message)),
			credential: { baseUrl: server.url, accessToken },
		},
	);
	return { ...result, json: result.items[0]?.json };
}

describe('one conversation key with the credentials of two people', () => {
	it('is a conversation for each, and neither hears what the other said', async () => {
		const ann = await say('of-ann', 'chat', 'I earn 5,000');
		const bert = await say('of-bert', 'chat', 'what does Ann earn?');
		expect(ann.json).toMatchObject({ threadId: threadOf('chat'), status: 'completed' });
		expect(bert.json?.output).toBe('You said: what does Ann earn? [users seen: 1]');
		expect(bert.json?.threadId).not.toBe(ann.json?.threadId);
		expect(saidOn(server, threadOf('chat'))).toEqual(['I earn 5,000']);
	});

	it('finds the conversation of each again, every time', async () => {
		const first = [await say('of-ann', 'chat', 'a1'), await say('of-bert', 'chat', 'b1')];
		const second = [await say('of-ann', 'chat', 'a2'), await say('of-bert', 'chat', 'b2')];
		for (const [index, { json }] of second.entries()) {
			expect(json?.output).toContain('[users seen: 2]');
			expect(json).toMatchObject({
				threadId: first[index]?.json?.threadId,
				conversationId: first[index]?.json?.conversationId,
			});
		}
		expect(server.requests.of('E13')).toHaveLength(2);
	});

	it.each<FaultRule>([
		{ endpoint: 'E15', do: 'status', status: 500, body: 'down', nth: 1 },
		{ endpoint: 'E15', do: 'status', status: 404, body: '<h1>Nothing here</h1>', nth: [1, 2] },
		{ endpoint: 'E15', do: 'drop', when: 'before', nth: [1, 2] },
		{ endpoint: 'E5', do: 'status', status: 200, body: { items: [], total: 0 }, nth: [1, 2] },
		{ endpoint: 'E5', do: 'status', status: 503, body: 'down', nth: [1, 3] },
		{ endpoint: 'E13', do: 'drop', when: 'after', nth: 1 },
		{ endpoint: 'E13', do: 'status', status: 502, body: 'down', nth: 1 },
	])(
		'is never one memory, whatever one fault does to the requests of the second: %j',
		async (fault) => {
			await say('of-ann', 'chat', 'I earn 5,000');
			server.faults.add(fault);
			const items = [await say('of-bert', 'chat', 'b1'), await say('of-bert', 'chat', 'b2')];
			expect(saidOn(server, threadOf('chat'))).toEqual(['I earn 5,000']);
			for (const { json } of items.filter((one) => one.json))
				expect(json?.output).toMatch(/^You said: b[12] \[users seen: [12]\]$/);
			expect(items.at(-1)?.json).toMatchObject({ status: 'completed' });
		},
	);

	it('is one conversation for two tokens of one person', async () => {
		await say('of-ann', 'chat', 'one');
		const { json } = await say('also-of-ann', 'chat', 'two');
		expect(json).toMatchObject({
			output: 'You said: two [users seen: 2]',
			threadId: threadOf('chat'),
		});
	});
});

describe('an answer whose thread does not hold it, as another run has overwritten the messages', () => {
	it('says so in its item and in a hint', async () => {
		await say('of-ann', ['chat', 'other'], 'zero');
		// Another begins before it and ends after it.
		const theyAsk = async (key: string) => {
			server.faults.add(onOthers(threadOf(key), { do: 'run', ms: 2_000 }));
			const theirs = { action: 'send', message: { input: { input: 'theirs' } } };
			await occupy(server, threadOf(key), theirs, SAYING_ASSISTANT.id);
		};
		// What the thread holds is read once both have ended.
		server.faults.add({ endpoint: 'E15', do: 'delay', ms: 3_000 });
		await theyAsk('chat');
		const anyway = { options: { whenBusy: 'run', concurrency: 2 } };
		const { json, hints } = await say('of-ann', 'chat', 'one', anyway);
		const output = 'You said: one [users seen: 2]';
		expect(json).toMatchObject({ output, status: 'completed', remembered: false });
		expect(hints.map(({ message }) => message)).toEqual([
			'One answer is not on the thread: another run at the same time has overwritten the messages.',
		]);
		for (const key of ['chat', 'other']) await theyAsk(key);
		const raw = await say('of-ann', ['chat', 'other'], 'two', { ...anyway, simplify: false });
		expect(raw.json).toMatchObject({ role: 'ai', remembered: false });
		expect(raw.hints[0]?.message).toContain('2 answers are not on the thread');
	});

	it('is none where the thread holds it', async () => {
		const { json, hints } = await say('of-ann', 'chat', 'one');
		expect(json).not.toHaveProperty('remembered');
		expect(hints).toEqual([]);
	});
});
