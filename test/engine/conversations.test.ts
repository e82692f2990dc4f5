import type { IDataObject } from 'n8n-workflow';

import type { FaultRule } from 'sandbox';
import { OWNER } from 'sandbox/entities';
import { answering } from './support/faults';
import { useFixture } from './support/fixture';
import { hintsOf } from './support/ingest';

const fixture = useFixture();
const { add, sent } = fixture;

const NOBODY = '0d92edd2-52a2-410c-9096-cb44e9bfac48';

const conversation = (operation: string, more: object = {}) => ({
	resource: 'conversation',
	operation,
	conversationId: { __rl: true, mode: 'id', value: fixture.world.conversationId },
	...more,
});

const methods = () => sent().map(({ method }) => method);

describe('Conversation: Create', () => {
	const create = async () =>
		await fixture.run({ resource: 'conversation', operation: 'create', title: 'Mine' });
	const made = () => sent('E13').map(({ body }) => body as IDataObject);
	const stored = () =>
		[...fixture.sandbox.store.conversations.values()].filter(({ title }) => title === 'Mine');
	const LOST: FaultRule = { endpoint: 'E13', nth: 1, do: 'drop', when: 'after' };

	it('makes one under an ID of its own for each item, once, also where the answer is lost', async () => {
		add(LOST);
		const { items } = await create();
		const [first, again, ...more] = made();
		expect([again, more]).toEqual([first, []]);
		expect(first).toMatchObject({ title: 'Mine', createdById: OWNER.userId });
		expect(items[0]?.json.id).toBe(first?.id);
		await create();
		expect(stored().map(({ id }) => id)).toEqual([
			first?.id,
			expect.not.stringMatching(String(first?.id)),
		]);
	});

	it('sends neither, and not again, where whose the key is is not told', async () => {
		add(answering('me', 405), LOST);
		const { error } = await fixture.run(
			{ resource: 'conversation', operation: 'create', title: 'Mine' },
			{ credential: { allowedHttpRequestDomains: 'domains', allowedDomains: '127.0.0.1' } },
		);
		expect(error).toBeDefined();
		expect(made()).toEqual([{ title: 'Mine' }]);
	});
});

describe('Conversation: Delete looks first', () => {
	it('and deletes what is there, with its messages', async () => {
		const { items } = await fixture.run(conversation('delete'));
		expect(items[0]?.json).toEqual({ deleted: true });
		expect(methods()).toEqual(['GET', 'DELETE']);
		expect(fixture.sandbox.store.conversations.has(fixture.world.conversationId)).toBe(false);
	});

	/** Adds a second answer; servers keep a conversation with two (recorded, `conversation-delete`). */
	function answerAgain() {
		const { messages } = fixture.sandbox.store;
		const { answerId, conversationId } = fixture.world;
		const answer = messages.find(({ id }) => id === answerId);
		messages.push({ ...answer!, id: NOBODY, createdAt: '2099-01-01T00:00:00.000Z' });
		const own = () => messages.filter((one) => one.conversationId === conversationId);
		return { own, newestFirst: [NOBODY, answerId] };
	}

	it('and deletes the messages before, newest first, where it was asked more than once', async () => {
		const { own, newestFirst } = answerAgain();
		const { items } = await fixture.run(conversation('delete'));
		expect(items[0]?.json).toEqual({ deleted: true });
		const deleted = sent('deleteMessage').map(({ path }) => path);
		expect(deleted.slice(0, 2)).toEqual(newestFirst.map((id) => expect.stringMatching(`/${id}$`)));
		expect(methods()).toEqual(['GET', 'DELETE', 'POST', ...deleted.map(() => 'DELETE'), 'DELETE']);
		expect(own()).toEqual([]);
		expect(fixture.sandbox.store.conversations.has(fixture.world.conversationId)).toBe(false);
	});

	it('and says how many messages are left where deleting them breaks off', async () => {
		const { own } = answerAgain();
		const all = own().length;
		add(answering('deleteMessage', 403, { nth: 2 }));
		const { error } = await fixture.run(conversation('delete'));
		expect(error?.message).toMatch(
			`. The conversation is not deleted: ${all - 1} of its ${all} messages are left`,
		);
		expect(own()).toHaveLength(all - 1);
	});

	it('says when there was nothing, and sends no request to delete it', async () => {
		const result = await fixture.run(conversation('delete', { conversationId: NOBODY }));
		expect(result.items[0]?.json).toEqual({ deleted: false });
		expect(hintsOf(result)).toEqual([
			'Conversations that were not there: 1. Check "Conversation": it takes the conversationId, not the threadId.',
		]);
		expect(methods()).toEqual(['GET']);
	});

	it('leaves a conversation alone whose run is under way, without saying its ID', async () => {
		const { conversationId, ranThreadId } = fixture.world;
		fixture.sandbox.store.strandThread(ranThreadId);
		const { error } = await fixture.run(conversation('delete'));
		expect(error?.message).toBe('The conversation was not deleted: a run of it is under way');
		expect(`${error?.message} ${error?.description}`).not.toMatch(conversationId);
		expect(`${error?.message} ${error?.description}`).not.toMatch(ranThreadId);
		expect(methods()).toEqual(['GET']);
	});

	it('deletes it while it runs when told to', async () => {
		fixture.sandbox.store.strandThread(fixture.world.ranThreadId);
		const options = { deleteWhileRunning: true };
		const { items } = await fixture.run(conversation('delete', { options }));
		expect(items[0]?.json).toEqual({ deleted: true });
		expect(methods()).toEqual(['GET', 'DELETE']);
	});
});

describe('a conversation that is not there', () => {
	it.each([
		['get', {}],
		['update', { title: 'Mine' }],
	])('is said to be so, and is not made: %s', async (operation, more) => {
		const { error } = await fixture.run(
			conversation(operation, { conversationId: NOBODY, ...more }),
		);
		expect(error?.message).toBe('There is no conversation with this ID');
		expect(error?.description).toContain('Check "Conversation"');
		expect(methods()).toEqual(['GET']);
		expect(fixture.sandbox.store.conversations.has(NOBODY)).toBe(false);
	});

	it('is said to be so, not to have no messages', async () => {
		const { error } = await fixture.run(conversation('getMessages', { conversationId: NOBODY }));
		expect(error?.message).toBe('There is no conversation with this ID');
		expect(methods()).toEqual(['POST', 'GET']);
	});
});

describe('Conversation: Rate looks for the answer first', () => {
	const rated = () => fixture.sandbox.store.feedbacks.map(({ messageId }) => messageId);

	it('and rates that of a run, though others came later', async () => {
		const { store } = fixture.sandbox;
		const { answerId, conversationId } = fixture.world;
		const first = store.messages.find(({ id }) => id === answerId);
		const later = { id: NOBODY, createdAt: '2099-01-01T00:00:00.000Z', executionId: NOBODY };
		store.messages.push({ ...first!, ...later, conversationId });

		await fixture.run(conversation('rate'));
		await fixture.run(conversation('rate', { options: { runId: first?.executionId } }));
		expect(rated()).toEqual([NOBODY, answerId]);
	});

	it.each([
		['of a run that is not there', { options: { runId: NOBODY } }],
		['of a conversation that is not there', { conversationId: NOBODY }],
	])('rates nothing %s', async (_, more) => {
		const { error } = await fixture.run(conversation('rate', more));
		expect(error?.message).toBe('There is no answer to rate');
		expect(rated()).toEqual([]);
	});

	it('rates no question, whatever a server gives for an answer', async () => {
		const body = { items: [{ id: NOBODY, role: 'human' }], total: 1 };
		add(answering('getMessages', 200, { body }));
		const { error } = await fixture.run(conversation('rate'));
		expect(error?.message).toBe('There is no answer to rate');
		expect(rated()).toEqual([]);
	});

	it.each<[RegExp, object]>([
		[/^"Comment" holds half of a char/, { additionalFields: { content: 'cut in \ud83d' } }],
		[/^"Run ID" in "Options" must be a UUID such as/, { options: { runId: 'abc' } }],
	])('looks for nothing where %s', async (words, more) => {
		const { error } = await fixture.run(conversation('rate', more));
		expect(error?.message).toMatch(words);
		expect(methods()).toEqual([]);
	});
});

describe('Conversation: Get Messages', () => {
	it('gives none where a conversation has none that fit', async () => {
		const { items, error } = await fixture.run(
			conversation('getMessages', { options: { executionId: NOBODY } }),
		);
		expect([error, items]).toEqual([undefined, []]);
	});

	it('says of each message who wrote it, its text and its run', async () => {
		const { items } = await fixture.run(
			conversation('getMessages', { returnAll: true, simplify: true }),
		);
		const { store } = fixture.sandbox;
		const stored = store.messages.filter(
			({ conversationId }) => conversationId === fixture.world.conversationId,
		);
		expect(stored.map(({ role }) => role)).toEqual(expect.arrayContaining(['ai', 'human']));
		expect(items.map(({ json }) => json)).toEqual(
			stored.map(({ id, role, executionId = null }) =>
				expect.objectContaining({
					id,
					from: role === 'ai' ? 'assistant' : 'user',
					text: expect.stringMatching(/\w/),
					runId: executionId,
				}),
			),
		);
	});

	it('leaves out the links of an answer, which lead nowhere, and none of a question', async () => {
		const text =
			'See [⟦1⟧](xpert://knowledgebase/chunk?knowledgebaseId=k&documentId=d&chunkId=c) there';
		const items = ['ai', 'human'].map((role) => ({ id: role, role, content: text }));
		add(answering('getMessages', 200, { body: { items, total: 2 } }));
		const result = await fixture.run(conversation('getMessages', { simplify: true }));
		expect(result.items.map(({ json }) => json.text)).toEqual(['See there', text]);
	});
});
