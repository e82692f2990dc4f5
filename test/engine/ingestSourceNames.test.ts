import { derivedId } from '../../nodes/XpertAi/payloads/derivedId';
import { useFixture } from './support/fixture';
import { TEXTS, column, embedsDocuments, hintsOf, ingestOn, isNote } from './support/ingest';
import { useShortSleeps } from './support/shortSleeps';

const fixture = useFixture();
useShortSleeps();
const { submit } = ingestOn(fixture);
embedsDocuments(fixture);

/** One night of a source: its documents are texts that say whose they are. */
const night = async (
	sourceName: string,
	names: string,
	{ parameters, ...more }: { parameters?: object; mode?: 'manual'; name?: string } = {},
) =>
	await submit(
		{
			...TEXTS,
			mode: 'changed',
			sourceName,
			...parameters,
		},
		{
			...more,
			items: [...names].map((name) => ({
				json: { name, text: `${name} of ${sourceName || 'nobody'}` },
			})),
		},
	);

/** What assistants find. */
const found = () =>
	fixture.sandbox.store
		.documentsOf(fixture.world.knowledgebaseId)
		.flatMap(({ id }) => fixture.sandbox.store.findable(id)?.chunks ?? [])
		.sort();

it('two named sources may bring the same names: each keeps its own documents', async () => {
	for (let nights = 0; nights < 2; nights++)
		for (const source of ['x', 'y']) await night(source, 'ab', { parameters: { mode: 'mirror' } });
	expect(found()).toEqual(['a of x', 'a of y', 'b of x', 'b of y']);
	const { items } = await night('x', 'ab');
	expect(column(items, 'outcome')).toEqual(['unchanged', 'unchanged']);
});

it('a source that has no name keeps the IDs it always had', async () => {
	const { items } = await night('', 'a');
	expect(column(items, 'id')).toEqual([derivedId(fixture.world.knowledgebaseId, 'a')]);
});

it('shards of a source without a name are remembered apart as well', async () => {
	const shard = (which: string) => ({
		parameters: { mode: 'mirror', maxGonePercent: 100, options: { shard: which } },
	});
	await night('', 'ab', shard('1 of 2'));
	await night('', 'cd', shard('2 of 2'));
	expect(found()).toHaveLength(4);
	const { items } = await night('', 'ab', shard('1 of 2'));
	expect(column(items, 'outcome')).toEqual(['unchanged', 'unchanged']);
	await night('', 'a', shard('1 of 2'));
	expect(found()).toEqual(['a of nobody', 'c of nobody', 'd of nobody']);
});

it('a source without a name is the same when its node is called otherwise', async () => {
	await night('', 'ab');
	const parameters = { mode: 'mirror', maxGonePercent: 100 };
	const { items } = await night('', 'a', { name: 'Fill the handbook', parameters });
	expect(column(items, 'outcome')).toEqual(['unchanged', 'disabled']);
	expect(found()).toEqual(['a of nobody']);
});

it('shards of a source are remembered apart, and have the same IDs in any of them', async () => {
	const all = { mode: 'mirror', maxGonePercent: 100 };
	await night('x', 'ab', { parameters: { ...all, options: { shard: '1 of 2' } } });
	await night('x', 'cd', { parameters: { ...all, options: { shard: '2 of 2' } } });
	expect(found()).toHaveLength(4);
	await night('x', 'abcd', { parameters: { ...all, options: { shard: '1 of 1' } } });
	expect(found()).toHaveLength(4);
	const names = fixture.sandbox.store
		.documentsOf(fixture.world.knowledgebaseId)
		.filter(isNote)
		.map(({ name }) => name);
	expect(names).toContain('n8n: what x, shard 1 of 2 has stored (do not process)');
});

describe('a source that gets a name', () => {
	it('sends everything once more, and leaves no earlier copy behind', async () => {
		await night('', 'abc');
		const { items } = await night('x', 'abc');
		expect(found()).toEqual(['a of x', 'b of x', 'c of x']);
		expect(column(items, 'outcome')).toEqual([
			...Array.from({ length: 3 }, () => 'found'),
			...Array.from({ length: 3 }, () => 'disabled'),
		]);
		fixture.sandbox.requests.clear();
		const again = await night('x', 'abc');
		expect(column(again.items, 'outcome')).toEqual(['unchanged', 'unchanged', 'unchanged']);
		expect(found()).toEqual(['a of x', 'b of x', 'c of x']);
	});

	it('leaves alone what it does not bring: that may be of another source', async () => {
		await night('', 'abc');
		await night('x', 'ab');
		expect(found()).toEqual(['a of x', 'b of x', 'c of nobody']);
	});

	it('takes the earlier copies away as the new ones are processed, and says so', async () => {
		await night('', 'ab');
		const started = { parameters: { afterStoring: 'process' } };
		const result = await night('x', 'ab', started);
		expect(hintsOf(result)).toContain(
			'2 documents are there twice, as the source was named: the earlier copies go when the new ones are processed.',
		);
		while (found().length < 4) await new Promise((resolve) => setTimeout(resolve, 20));
		await night('x', 'ab', started);
		expect(found()).toEqual(['a of x', 'b of x']);
	});

	it('takes them away in spite of other documents that cannot be sent', async () => {
		await night('', 'ab');
		fixture.sandbox.faults.add({ endpoint: 'E16', nth: 2, do: 'status', status: 422 });
		const parameters = { source: 'text', afterStoring: 'wait', name: '={{ $json.name }}' };
		const items = ['a', 'b'].map((name) => ({ json: { name, text: `${name} of x` } }));
		await submit(
			{
				...parameters,
				text: '={{ $json.text }}',
				mode: 'changed',
				sourceName: 'x',
			},
			{ items, onError: 'continueErrorOutput' },
		);
		expect(found()).toEqual(['a of x', 'b of nobody']);
		fixture.sandbox.faults.clear();
		await night('x', 'ab');
		expect(found()).toEqual(['a of x', 'b of x']);
	});

	it('only says in a manual execution what it would do', async () => {
		await night('', 'ab');
		const result = await night('x', 'ab', { mode: 'manual' });
		expect(hintsOf(result)).toContain(
			'2 documents are there twice, as the source was named. A scheduled run would disable the earlier copies.',
		);
		expect(found()).toHaveLength(4);
	});

	it('leaves them to the next run where they cannot be asked for, or disabled', async () => {
		await night('', 'ab');
		fixture.sandbox.faults.add({ endpoint: 'status', nth: 5, do: 'status', status: 403 });
		expect(hintsOf(await night('x', 'ab')).join()).toContain(
			'Not known: what was stored before the source was named. The server answered 403',
		);
		expect(found()).toHaveLength(4);
		fixture.sandbox.faults.clear();
		fixture.sandbox.requests.clear();
		await night('x', 'ab');
		expect(found()).toEqual(['a of x', 'b of x']);
	});

	it('has its name back as it was without it: what is disabled is sent again', async () => {
		await night('', 'ab');
		await night('x', 'ab');
		await night('', 'ab');
		expect(found()).toEqual(['a of nobody', 'a of x', 'b of nobody', 'b of x']);
	});
});
