import { derivedId } from '../../nodes/XpertAi/payloads/derivedId';
import { useFixture } from './support/fixture';
import { TEXTS, column, embedsDocuments, hintsOf, ingestOn, isNote } from './support/ingest';

const fixture = useFixture();
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
	const twice = (count: string) =>
		`${count} also stored without a Source Name, and found twice. Document: Disable takes them out.`;
	/** Takes out what was stored under keys without the name of a source. */
	const disableUnnamed = async (names: string) =>
		await fixture.run(
			{
				resource: 'document',
				operation: 'disable',
				knowledgebaseId: fixture.world.knowledgebaseId,
				documentKey: '={{ $json.name }}',
				sourceName: '',
			},
			{ items: [...names].map((name) => ({ json: { name } })) },
		);

	it.each(['all', 'changed', 'mirror'])(
		'after it was sent with %s is told once how many are found twice, and that Disable takes them out',
		async (mode) => {
			await night('', 'abc', { parameters: { mode } });
			const mirror = { parameters: { mode: 'mirror' } };
			const plan = await night('x', 'abc', {
				parameters: { mode: 'mirror', options: { dryRun: true } },
			});
			expect(hintsOf(plan)).toContain(twice('3 documents are'));
			const result = await night('x', 'abc', mirror);
			expect(hintsOf(result)).toContain(twice('3 documents are'));
			expect(found()).toHaveLength(6);
			expect(hintsOf(await night('x', 'abc', mirror)).join()).not.toContain('twice');
			const { items } = await disableUnnamed('abc');
			expect(column(items, 'outcome')).toEqual(['disabled', 'disabled', 'disabled']);
			expect(found()).toEqual(['a of x', 'b of x', 'c of x']);
			await night('x', 'abc', mirror);
			expect(found()).toEqual(['a of x', 'b of x', 'c of x']);
		},
	);

	it('is told nothing where only others were stored without a name, or nothing is left of them', async () => {
		await night('', 'c');
		expect(hintsOf(await night('x', 'ab')).join()).not.toContain('twice');
		await disableUnnamed('c');
		expect(hintsOf(await night('y', 'abc')).join()).not.toContain('twice');
	});

	it('is told as far as the server can be asked: what it cannot say is said', async () => {
		await night('', 'a');
		const before = derivedId(fixture.world.knowledgebaseId, 'a');
		fixture.sandbox.faults.add({ endpoint: 'status', path: before, do: 'status', status: 403 });
		expect(hintsOf(await night('x', 'a')).join()).toContain('This key may not do this');
		expect(found()).toEqual(['a of nobody', 'a of x']);
	});
});

it('a source without notes whose documents are there is told that what has gone may still be found', async () => {
	await night('', 'abc', { parameters: { mode: 'all' } });
	const mirror = { mode: 'mirror', maxGonePercent: 100 };
	const lost = expect.stringMatching(
		/^Notes from before .* may still be found although they left the source/,
	) as string;
	for (let nights = 0; nights < 2; nights += 1)
		expect(hintsOf(await night('', 'ab', { parameters: mirror }))).toContainEqual(lost);
	const forget = { ...mirror, options: { forgetDamage: true } };
	expect(hintsOf(await night('', 'ab', { parameters: forget }))).not.toContainEqual(lost);
	expect(hintsOf(await night('', 'ab', { parameters: mirror }))).not.toContainEqual(lost);
});
