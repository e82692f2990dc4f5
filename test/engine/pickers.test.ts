import { clock } from './support/clock';
import { useFixture } from './support/fixture';

const fixture = useFixture();
const { add, sent } = fixture;

const list = async (method: string, filter?: string, token?: string) => {
	const { url: baseUrl, accessToken } = fixture.sandbox;
	const credential = { baseUrl, accessToken };
	return await clock.during(fixture.engine.listSearch(method, credential, filter, token));
};

/** All pages of a picker, as somebody scrolls through them. */
async function scroll(method: string) {
	const pages = [];
	for (let token: string | undefined, n = 0; n < 20; n++) {
		const page = await list(method, undefined, token);
		pages.push(page.results);
		token = page.paginationToken as string | undefined;
		if (!token) return pages.flat();
	}
	throw new Error('the list does not end');
}

describe('the list of assistants', () => {
	it('filters by what is typed', async () => {
		const { results, paginationToken } = await list('searchAssistants', 'ECH');
		expect(results.map(({ name }) => name)).toEqual(['Echo']);
		expect(paginationToken).toBeUndefined();
	});

	it.each([96, 100, 150])(
		'ends without doubles on a server that ignores limit and offset, with %i more assistants',
		async (more) => {
			const seeded = fixture.sandbox.store.assistants.size;
			for (let n = 0; n < more; n++) fixture.sandbox.store.putAssistant({ name: `assistant-${n}` });
			const entries = await scroll('searchAssistants');
			expect(entries).toHaveLength(more + seeded);
			expect(new Set(entries.map(({ value }) => value)).size).toBe(more + seeded);
		},
	);

	it('tells assistants with one title apart by slug, name or description, or by ID', async () => {
		const put = (more: object) =>
			fixture.sandbox.store.putAssistant({ title: 'Help', name: 'help', slug: 'desk', ...more });
		const all = [
			put({ slug: 'sales' }),
			put({ name: 'help-us', description: 'For customers' }),
			put({ name: 'Help', description: 'For customers in Europe' }),
			put({ description: 'For partners' }),
			put({ description: 'For partners', id: 'd0000000-0000-4000-8000-00000000000f' }),
		];
		const { results } = await list('searchAssistants', 'help');
		expect(results.map(({ value }) => value)).toEqual(all.map(({ id }) => id));
		expect(results.map(({ name }) => name)).toEqual([
			'Help (sales)',
			'Help (help-us)',
			'Help (For customers in Europe)',
			expect.stringMatching(/^Help \([0-9a-f]{8}\)$/),
			'Help (d0000000)',
		]);
	});

	it('leaves out what has no ID, and takes an empty slug or description for none', async () => {
		const record = { name: 'a', metadata: { title: 'Twin', slug: '' }, description: null };
		const body = [
			null,
			{ ...record, assistant_id: 5 },
			{ ...record, assistant_id: '11111111-2' },
			{ ...record, assistant_id: '22222222-2' },
			{ assistant_id: '33333333-3', name: null },
		];
		add({ do: 'status', status: 200, body });
		const { results } = await list('searchAssistants');
		expect(results.map(({ name }) => name)).toEqual([
			'Twin (11111111)',
			'Twin (22222222)',
			'33333333-3',
		]);
	});

	it('is asked for again after a passing failure', async () => {
		add({ nth: 1, do: 'status', status: 503 });
		expect((await list('searchAssistants')).results).not.toEqual([]);
	});

	it('says so where the key may use none', async () => {
		add({ do: 'status', status: 200, body: [] });
		await expect(list('searchAssistants', 'echo')).rejects.toMatchObject({
			message: expect.stringContaining('This key may use no assistant'),
			description: expect.stringContaining('Publish one on the server'),
		});
	});

	it('says why it cannot be shown', async () => {
		add({ do: 'status', status: 403, body: { message: 'Forbidden' } });
		await expect(list('searchAssistants')).rejects.toThrow(
			'This key may not do this: Forbidden (HTTP 403)',
		);
	});
});

describe('the list of threads', () => {
	it('shows the status too, and tells those that look the same apart', async () => {
		const put = (status: string | null) => {
			const one = fixture.sandbox.store.putConversation({ title: 'Order 4711', status });
			one.updatedAt = '2026-01-31T08:00:00.000Z';
			return one.threadId;
		};
		const [one, other] = [put('idle'), put('idle'), put('error')];
		const { results } = await list('searchThreads', 'order');
		const name = (status: string) =>
			expect.stringMatching(new RegExp(`^Order 4711 · ${status} · 2026-01-31 \\d\\d:00`)) as string;
		const nameOf = (thread?: string) => results.find(({ value }) => value === thread)?.name;
		expect(results.map((entry) => entry.name)).toEqual([name('idle'), name('idle'), name('error')]);
		expect(nameOf(one)).toContain(`(${one?.slice(0, 8)})`);
		expect(nameOf(other)).toContain(`(${other?.slice(0, 8)})`);
	});

	it('names a conversation without a title, a status and a time of change', async () => {
		const items = [null, ''].map((title, id) => ({ threadId: `t${id}`, title }));
		const body = { items: [...items, { id: 'without a thread', threadId: null }] };
		add({ do: 'status', status: 200, body });
		const { results } = await list('searchThreads');
		expect(results.map(({ name }) => name)).toEqual(['Untitled (t0)', 'Untitled (t1)']);
	});

	it('shows title and last change, newest first, and chooses the thread', async () => {
		const { results } = await list('searchThreads');
		const { body } = sent().at(-1) ?? {};
		expect(body).toEqual({ order: { updatedAt: 'DESC' }, limit: 100, offset: 0 });
		expect(results.map(({ value }) => value)).toEqual(
			expect.arrayContaining([fixture.world.threadId, fixture.world.ranThreadId]),
		);
		expect(results[0]?.name).toMatch(/^T.* · \d{4}-\d{2}-\d{2} \d{2}:\d{2}$/);
	});

	it('pages through many conversations', async () => {
		for (let n = 0; n < 230; n++) fixture.sandbox.store.putConversation({ title: `Talk ${n}` });
		const entries = await scroll('searchThreads');
		const all = fixture.sandbox.store.conversations.size;
		expect(all).toBeGreaterThan(230);
		expect(entries).toHaveLength(all);
		expect(new Set(entries.map(({ value }) => value)).size).toBe(all);
	});
});

describe('the list of conversations', () => {
	it('shows what the list of threads shows, and chooses the conversation', async () => {
		const { id } = fixture.sandbox.store.putConversation({ title: 'About invoices' });
		const { results } = await list('searchConversations', 'invoice');
		expect(results).toEqual([{ value: id, name: expect.stringContaining('About invoices') }]);
	});
});
