import { FakeClock } from '../../sandbox';
import { conversationOf, newThread, runOn } from './support/client';
import { useSandbox } from './support/useSandbox';

const clock = new FakeClock(Date.UTC(2026, 0, 1));
const { sandbox, client } = useSandbox({ clock });

const create = (fields: object) =>
	client.post<{ id: string; threadId: string }>('/api/ai/conversations', fields);

const search = async (body: object) => {
	const { status, data } = await client.post<{ items: Array<{ title: string }>; total: number }>(
		'/api/ai/conversations/search',
		body,
	);
	return { status, titles: data.items?.map(({ title }) => title) };
};

describe('a conversation', () => {
	it('is still found when it is overwritten', async () => {
		const { data } = await create({ title: 'before' });
		await create({ id: data.id, title: 'after' });
		expect((await search({})).titles).toEqual(['after']);
	});

	it('is made where one that is not there is changed, and no search finds it', async () => {
		const id = '9d0b5d29-99cd-433a-8aed-09da49af7099';
		const changed = await client.patch(`/api/ai/conversations/${id}`, { title: 'made' });
		expect(changed).toMatchObject({ status: 200, data: { id, title: 'made' } });
		expect((await client.get(`/api/ai/conversations/${id}`)).data).toMatchObject({ title: 'made' });
		expect((await search({})).titles).toEqual([]);
	});

	it('moves its updatedAt with each change', async () => {
		const thread = await newThread(client);
		const moment = async () => (await conversationOf(client, thread))?.updatedAt;
		const made = await moment();
		await clock.advance(1000);
		await runOn(client, thread, 'hello');
		expect(made).not.toBe(await moment());
		expect(await moment()).toBe(new Date(clock.now()).toISOString());
	});
});

describe('searching conversations', () => {
	const moment = (day: number) => new Date(Date.UTC(2026, 0, day)).toISOString();

	beforeEach(() => {
		const rows: Array<[title: string, status: string | null, day: number]> = [
			['Apple', 'idle', 1],
			['Banana', 'error', 2],
			['Cherry', null, 3],
			['apricot', 'busy', 4],
		];
		for (const [title, status, day] of rows) {
			sandbox.store.putConversation({ title, status, updatedAt: moment(day) });
		}
	});

	it.each<[object, string[]]>([
		[{ status: 'idle' }, ['Apple']],
		[{ status: { $eq: 'idle' } }, ['Apple']],
		[{ status: { $ne: 'idle' } }, ['Banana', 'apricot']],
		[{ status: { $in: ['idle', 'busy'] } }, ['Apple', 'apricot']],
		[{ status: { $notIn: ['idle', 'busy'] } }, ['Banana']],
		[{ status: { $isNull: true } }, ['Cherry']],
		[{ status: { $isNull: false } }, ['Apple', 'Banana', 'apricot']],
		// The database keeps microseconds: a moment as it was answered lies just before the one that is kept.
		[{ updatedAt: { $gt: moment(3) } }, ['Cherry', 'apricot']],
		[{ updatedAt: { $gte: moment(3) } }, ['Cherry', 'apricot']],
		[{ updatedAt: { $lt: moment(2) } }, ['Apple']],
		[{ updatedAt: { $lte: moment(2) } }, ['Apple']],
		[{ updatedAt: { $in: [moment(2)] } }, []],
		[{ updatedAt: { $gte: '2026-01-03T01:00:00.000+01:00' } }, ['Cherry', 'apricot']],
		[{ updatedAt: { $gte: 'yesterday' } }, ['Apple', 'Banana', 'Cherry', 'apricot']],
		// Of two operators only the first counts.
		[{ updatedAt: { $gte: moment(2), $lt: moment(4) } }, ['Banana', 'Cherry', 'apricot']],
		[{ title: { $like: 'Ap%' } }, ['Apple']],
		[{ title: { $ilike: 'ap%' } }, ['Apple', 'apricot']],
		[{ title: { $like: '_anana' } }, ['Banana']],
		[{ title: { $contains: 'err' } }, ['Cherry']],
		[{ title: { $unknown: 'x' } }, []],
		[{ status: 'idle', updatedAt: { $gt: moment(2) } }, []],
	])('takes %j', async (where, titles) => {
		expect(await search({ where, order: { updatedAt: 'ASC' } })).toEqual({ status: 200, titles });
	});
});
