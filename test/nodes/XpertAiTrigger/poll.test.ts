import { Settings } from 'luxon';
import type { IPollFunctions } from 'n8n-workflow';

import type { TriggerSettings } from 'nodes/XpertAiTrigger/fields';
import { type ConversationChange, changesFetcher } from 'nodes/XpertAiTrigger/conversationChanges';
import { makeItems } from 'nodes/XpertAiTrigger/items';
import { parsing, success } from '../support/send';

const NOON = Date.UTC(2026, 0, 1, 12);

describe('the time of a change', () => {
	const timeOf = async (updatedAt: string) => {
		const items = [
			{ id: 'b', updatedAt: '2027' },
			{ id: 'a', updatedAt },
		];
		const send = parsing(() => success({ items, total: 2 }));
		const search = changesFetcher({} as IPollFunctions, send);
		return (await search({ order: 'DESC', limit: 2 })).changes[1]?.at;
	};

	it.each([
		['in UTC', '2026-01-01T12:00:00.000Z', NOON],
		['with an offset', '2026-01-01T13:00:00.000+01:00', NOON],
		['without a zone', '2026-01-01T12:00:00', NOON],
		['with microseconds', '2026-01-01T12:00:00.000999Z', NOON],
		['not there', '', NaN],
	])('is read, as one of UTC where it names no zone: %s', async (_, text, time) => {
		const { defaultZone } = Settings;
		Settings.defaultZone = 'Asia/Tokyo';
		expect(await timeOf(text)).toBe(time);
		Settings.defaultZone = defaultZone;
	});
});

describe('the event of an interrupted run', () => {
	const leftOver = { name: '__start__', path: ['__pregel_pull', '__start__'] };
	it.each<[string, object[], string | null, string]>([
		['waits with a task', [{ name: 'tool' }], null, 'waiting'],
		['was cancelled with a task', [{ name: 'tool' }], 'By user', 'cancelled'],
		['was cancelled without a task', [], null, 'cancelled'],
		['has answered beside one that was cancelled', [leftOver], null, 'answered'],
		['was cancelled with that one', [leftOver], 'By user', 'cancelled'],
	])('%s', async (_, tasks, error, event) => {
		const item = { id: 'a', updatedAt: '2027', status: 'interrupted', operation: { tasks }, error };
		const send = parsing(() => success({ items: [item], total: 1 }));
		const { changes } = await changesFetcher(
			{} as IPollFunctions,
			send,
		)({ order: 'ASC', limit: 1 });
		expect(changes[0]?.event).toBe(event);
	});
});

const SETTINGS: TriggerSettings = {
	events: ['answered'],
	simplify: true,
	options: { conversationsPerPoll: 100, includeMessages: false, onlyWith: '' },
};

const changeOn = (threadId?: string): ConversationChange => ({
	id: `of ${threadId}`,
	updatedAt: '',
	at: 0,
	threadId,
	event: undefined,
	assistantId: undefined,
	error: undefined,
	tasks: [],
	hasOnlyLeftOverTasks: false,
	record: {},
});

const PICTURE = { type: 'image_url', image_url: { url: 'https://a.example/a.png' } };

/** A server that has one message on each thread, but for those it does not give out. */
function serverWithout(...missing: string[]) {
	const asked: string[] = [];
	const send = parsing(async ({ path, method }) => {
		const threadId = path.replace('/threads/', '');
		asked.push(threadId);
		const failure = { kind: 'status', status: 500, reason: 'Gone', path, method } as const;
		if (missing.includes(threadId)) return { ok: false, failure };
		const text = { type: 'text', text: `Said on ${threadId}` };
		const content = threadId.startsWith('picture') ? [text, PICTURE] : text.text;
		const messages = [{ content, tool_calls: [] }];
		return {
			ok: true,
			status: 200,
			answer: { thread_id: threadId, status: 'idle', values: { messages } },
		};
	});
	return { send, asked };
}

const usual = { settings: SETTINGS, hasTime: () => true };

/** Makes the items of changes that were not tried before. */
const made = async (
	changes: ConversationChange[],
	{ most = 100, ...context }: { most?: number } & Parameters<typeof makeItems>[1],
) => await makeItems(changes, context, most, () => 0);
const idsOf = (changes: Array<{ id: string }>) => changes.map(({ id }) => id);

describe('making items of changes', () => {
	it('asks for no thread where there is none', async () => {
		const { send, asked } = serverWithout();
		const settings = { ...SETTINGS, options: { ...SETTINGS.options, includeMessages: true } };
		const { done } = await made([changeOn()], { ...usual, send, settings });
		expect(done[0]?.json).toMatchObject({ output: null, messages: [] });
		expect(asked).toEqual([]);
	});

	it('gives what is no text beside the reply, and messages as the server has them if asked to', async () => {
		const { send } = serverWithout();
		const { done } = await made([changeOn('picture')], { ...usual, send });
		expect(done[0]?.json).toMatchObject({ output: 'Said on picture', parts: [PICTURE] });
		const options = { ...SETTINGS.options, includeMessages: true };
		const messagesOf = async (simplify: boolean) => {
			const settings = { ...SETTINGS, simplify, options };
			return (await made([changeOn('a')], { ...usual, send, settings })).done[0]?.json?.messages;
		};
		expect(await messagesOf(true)).toEqual([{ from: 'assistant', text: 'Said on a' }]);
		expect(await messagesOf(false)).toEqual([{ content: 'Said on a', tool_calls: [] }]);
	});

	it('looks for a text in threads also where nothing of them is given', async () => {
		const { send } = serverWithout();
		const options = { ...SETTINGS.options, onlyWith: 'said ON b' };
		const settings = { ...SETTINGS, simplify: false, options };
		const { done } = await made(['a', 'b'].map(changeOn), { ...usual, send, settings });
		expect(done.map(({ json }) => json !== undefined)).toEqual([false, true]);
	});

	it('ends where five could not be read, also one by one', async () => {
		const missing = Array.from({ length: 20 }, (_, n) => `${n}`);
		for (const most of [1, 100]) {
			const { send, asked } = serverWithout(...missing);
			const { done, postponed } = await made(missing.map(changeOn), { ...usual, send, most });
			expect(done).toEqual([]);
			expect(postponed).toHaveLength(5);
			expect(asked).toHaveLength(5);
		}
	});

	it('tries the first even where no time is left, and no more then', async () => {
		const { send, asked } = serverWithout('0');
		const changes = Array.from({ length: 20 }, (_, n) => changeOn(`${n}`));
		const { done } = await made(changes, { ...usual, send, hasTime: () => false });
		expect(idsOf(done)).toEqual(['of 1', 'of 2', 'of 3', 'of 4']);
		expect(asked).toHaveLength(5);
		const alone = await made(changes, { ...usual, send, most: 1, hasTime: () => false });
		expect(alone.done).toEqual([]);
		expect(alone.postponed).toHaveLength(1);
	});
});
