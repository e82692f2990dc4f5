import type { INodeParameters } from 'n8n-workflow';

import { keyNamespace } from 'nodes/XpertAi/operations/document/sourceIdentity';
import { derivedId } from 'nodes/XpertAi/payloads/ids';

import { answering } from './support/faults';
import { clock } from './support/clock';
import { stopOnce } from './support/fixture';
import { TEXTS, column, hintsOf, useIngest, isNote } from './support/ingest';

const { fixture, add, sent, documents, submit } = useIngest();

const night = async (
	sourceName: string,
	names: string,
	{ parameters, ...more }: { parameters?: object } & Parameters<typeof submit>[1] = {},
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

const found = () =>
	documents()
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
	const names = documents()
		.filter(isNote)
		.map(({ name }) => name);
	expect(names).toContain('n8n: what x, shard 1 of 2 has stored (do not process)');
});

describe('a source that gets a name', () => {
	const twice = (count: string) =>
		`${count} also found without a Source Name. Later, Document: Disable with Source Name empty takes those out.`;
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
			expect(hintsOf(plan)).toContain(twice('3 documents were'));
			const result = await night('x', 'abc', mirror);
			expect(hintsOf(result)).toContain(twice('3 documents were'));
			expect(hintsOf(result)).toContain(
				'Unless another node stores them: then leave them, and give that node a Source Name as well.',
			);
			expect(found()).toHaveLength(6);
			expect(hintsOf(await night('x', 'abc', mirror)).join()).not.toContain(
				'without a Source Name',
			);
			const { items } = await disableUnnamed('abc');
			expect(column(items, 'outcome')).toEqual(['disabled', 'disabled', 'disabled']);
			expect(found()).toEqual(['a of x', 'b of x', 'c of x']);
			await night('x', 'abc', mirror);
			expect(found()).toEqual(['a of x', 'b of x', 'c of x']);
		},
	);

	it('is told nothing where only others were stored without a name, or nothing is left of them', async () => {
		await night('', 'c');
		expect(hintsOf(await night('x', 'ab')).join()).not.toContain('without a Source Name');
		await disableUnnamed('c');
		expect(hintsOf(await night('y', 'abc')).join()).not.toContain('without a Source Name');
	});

	it('is told as far as the server can be asked: what it cannot say is said', async () => {
		await night('', 'a');
		const before = derivedId(fixture.world.knowledgebaseId, 'a');
		add(answering('status', 403, { path: before }));
		expect(hintsOf(await night('x', 'a')).join()).toContain('This key may not do this');
		expect(found()).toEqual(['a of nobody', 'a of x']);
	});
});

it('a source whose documents were stored before it was remembered is told once how many, and has lost nothing', async () => {
	await night('', 'abc', { parameters: { mode: 'all' } });
	const mirror = async () =>
		hintsOf(
			await night('', 'ab', {
				parameters: { mode: 'mirror', maxGonePercent: 100 },
			}),
		).join();
	expect(await mirror()).toContain(
		'2 documents were stored before this source was remembered. If some have left it, Document: Disable takes them out.,If another node stores them under the same keys, this one replaces them: give each node a Source Name.',
	);
	expect(await mirror()).not.toMatch(/before this source|another node|Notes from before/);
});

describe('what the first run with a memory finds', () => {
	const BEFORE =
		'2 documents were stored before this source was remembered. If some have left it, Document: Disable takes them out.';
	const TWICE =
		'2 documents were also found without a Source Name. Later, Document: Disable with Source Name empty takes those out.';
	/** Two documents are stored without a memory, with and without a name. */
	beforeEach(async () => {
		for (const source of ['', 'x']) await night(source, 'ab', { parameters: { mode: 'all' } });
	});
	const said = async (more: Parameters<typeof night>[2] = {}) =>
		hintsOf(await night('x', 'abc', more)).filter((hint) => [BEFORE, TWICE].includes(hint));

	it('warns of no other node where the source has a name, as its keys are its own', async () => {
		const hints = hintsOf(await night('x', 'abc'));
		expect(hints).toContain(BEFORE);
		expect(hints.join()).not.toContain('this one replaces them');
	});

	it('is said once by a run that comes to its end', async () => {
		expect(await said()).toEqual([BEFORE, TWICE]);
		expect(await said()).toEqual([]);
	});

	it('is said once where the run does not wait for processing, by the first that comes to its end', async () => {
		const nothing = { parameters: { afterStoring: 'nothing' } };
		add(answering('E16', 422, { nth: 3 }));
		expect((await night('x', 'abc', nothing)).error?.description).toContain(BEFORE);
		fixture.sandbox.faults.clear();
		expect(await said(nothing)).toEqual([BEFORE, TWICE]);
		expect(await said(nothing)).toEqual([]);
	});

	it('is said by the next run where the first one is killed', async () => {
		fixture.sandbox.requests.clear();
		add({ endpoint: 'process', do: 'hold' });
		const { onStart } = stopOnce(() => sent('process').length > 0);
		expect(hintsOf(await night('x', 'abc', { onStart }))).toEqual([]);
		fixture.sandbox.faults.clear();
		expect(await said()).toEqual([BEFORE, TWICE]);
		expect(await said()).toEqual([]);
	});

	it.each([
		['a document that is refused', answering('E16', 422, { nth: 1 })],
		['one that cannot be processed', undefined],
	])(
		'is said by the error of Stop Workflow for %s, and by the next run that comes to its end',
		async (_, fault) => {
			if (fault) add(fault);
			const metadata = { sandbox: { process: fault ? 'finish' : 'error' } };
			const documentSettings = { metadata: JSON.stringify(metadata) };
			const { error } = await night('x', 'abc', { parameters: { documentSettings } });
			expect(error?.description).toContain(BEFORE);
			expect(error?.description).toContain(TWICE);
			fixture.sandbox.faults.clear();
			expect(await said()).toEqual([BEFORE, TWICE]);
			expect(await said()).toEqual([]);
		},
	);

	it('is said by the error of a run that disables nothing, as none of the keys is known', async () => {
		add(answering('E16', 422, { nth: 3 }));
		await night('x', 'abc');
		const { error } = await night('x', 'q', { parameters: { mode: 'mirror' } });
		expect(error?.message).toMatch(/^Nothing was disabled: none of 2 known documents/);
		expect(error?.description).toContain(BEFORE);
		expect(error?.description).not.toContain('Nothing was disabled');
		expect(await said()).toEqual([BEFORE, TWICE]);
	});

	it('is added up for all sources of a run', async () => {
		await night('y', 'ab', { parameters: { mode: 'all' } });
		const result = await submit(
			{ ...TEXTS, mode: 'changed', sourceName: '={{ $json.source }}' },
			{
				items: ['x', 'y'].flatMap((source) =>
					[...'ab'].map((name) => ({ json: { name, source, text: 'new' } })),
				),
			},
		);
		expect(hintsOf(result)).toContain(BEFORE.replace('2', '4'));
	});
});

describe('a new document whose key another node has stored since the first run', () => {
	const REPLACED =
		'on the server already: of another node, of this one before it remembered, or disabled since.';
	const ANOTHER =
		'If another node stores them under the same keys, this one replaces them: give each node a Source Name.';
	/** Stores a document as another node with this Source Name does. */
	const storeOfAnother = (name: string, sourceName = '') => {
		const { knowledgebaseId } = fixture.world;
		const id = derivedId(keyNamespace(knowledgebaseId, sourceName), name);
		fixture.sandbox.store.putDocument({ id, knowledgebaseId, name });
	};
	const replaced = async (sourceName: string, names: string) =>
		hintsOf(await night(sourceName, names)).filter((hint) => /already:|another/.test(hint));

	it('is replaced, and that is said with what prevents it', async () => {
		await night('', 'a');
		for (const name of ['b', 'c']) storeOfAnother(name);
		expect(await replaced('', 'abcd')).toEqual([`2 documents were ${REPLACED}`, ANOTHER]);
		expect(found()).toEqual(['a of nobody', 'b of nobody', 'c of nobody', 'd of nobody']);
		expect(await replaced('', 'abcd')).toEqual([]);
	});

	it('is not replaced where the source has a name, as its keys are its own', async () => {
		await night('x', 'a');
		storeOfAnother('b', 'x');
		expect(await replaced('x', 'ab')).toEqual([]);
	});

	it('is not meant where the answer to the first try was lost', async () => {
		await night('', 'a');
		add({ endpoint: 'E3', do: 'drop', when: 'after', nth: 4 });
		expect(await replaced('', 'ab')).toEqual([]);
		expect(found()).toEqual(['a of nobody', 'b of nobody']);
	});

	it.each<[string, INodeParameters]>([
		['a shard, as it may come of another one', { options: { shard: '1' } }],
		[
			'an ID of its own',
			{ source: 'json', jsonBody: '={{ [{ id: $json.id, name: $json.name }] }}' },
		],
	])('is not meant where it has %s', async (_, parameters) => {
		const ids = ['a', 'b'].map((name) => derivedId(fixture.world.knowledgebaseId, name));
		const items = ids.map((id, at) => ({ json: { id, name: 'ab'[at], text: 'x' } }));
		const run = async (some: typeof items) =>
			hintsOf(
				await submit(
					{ ...TEXTS, mode: 'changed', afterStoring: 'nothing', ...parameters },
					{ items: some },
				),
			);
		await run(items.slice(0, 1));
		storeOfAnother('b');
		const hints = await run(items);
		expect(hints[0]).toContain('1 unchanged');
		expect(hints.join()).not.toMatch(/already:|another/);
	});

	it('is not said twice where the first run has said it', async () => {
		storeOfAnother('a');
		expect(await replaced('', 'ab')).toEqual([ANOTHER]);
	});
});

describe('Send Everything', () => {
	const all = { parameters: { mode: 'all' } };

	it('goes on with a memory that is there: what it sent is known to the next run', async () => {
		await night('x', 'ab', { parameters: { mode: 'mirror' } });
		const { items } = await night('x', 'ac', all);
		expect(column(items, 'outcome')).toEqual(['found', 'found']);
		const next = await night('x', 'ab', { parameters: { mode: 'mirror', maxGonePercent: 100 } });
		expect(column(next.items, 'outcome')).toEqual(['unchanged', 'unchanged', 'disabled']);
		expect(found()).toEqual(['a of x', 'b of x']);
	});

	it.each([403, 404])('remembers nothing where the memory cannot be read: %i', async (status) => {
		const body = { statusCode: status, message: `Cannot GET /api/ai/this` };
		add(answering('status', status, { nth: 1, body }));
		expect(column((await night('x', 'a', all)).items, 'outcome')).toEqual(['found']);
		expect(hintsOf(await night('x', 'a', all)).join()).not.toContain('remembered');
	});

	it('sends nothing where the server does not say whether there is a memory', async () => {
		add(answering('status', 500, { nth: 1 }));
		expect((await night('x', 'a', all)).error?.message).toContain('500');
		expect(found()).toEqual([]);
	});
});

describe('sources whose names differ from item to item', () => {
	const of = async (tenants: Record<string, string>, parameters: object = {}) =>
		await submit(
			{ ...TEXTS, mode: 'mirror', sourceName: '={{ $json.tenant }}', ...parameters },
			{
				items: Object.entries(tenants).flatMap(([tenant, names]) =>
					[...names].map((name) => ({ json: { name, tenant, text: `${name} of ${tenant}` } })),
				),
			},
		);

	it('keep their own documents, and those that bring one are mirrored', async () => {
		await of({ x: 'ab', y: 'ab', z: 'a' });
		expect(found()).toEqual(['a of x', 'a of y', 'a of z', 'b of x', 'b of y']);
		const result = await of({ x: 'a', y: 'ab' }, { maxGonePercent: 100 });
		expect(found()).toEqual(['a of x', 'a of y', 'a of z', 'b of y']);
		expect(hintsOf(result)).toContain(
			'Mirrored: the sources that brought a document in this run. Others keep what they have.',
		);
	});

	const orderOfLeases = () => {
		const notes = sent('E3').flatMap(({ body }) => body as Array<{ name?: string }>);
		const sources = notes.flatMap(
			({ name = '' }) => /whether (\S+) is at work/.exec(name)?.[1] ?? [],
		);
		return sources.filter((source, at) => source !== sources[at - 1]);
	};

	/** Lets the server process what a run did not wait for. */
	const processed = async (count: number) => await clock.until(() => found().length === count);

	it('are handled one after the other where none waits, so that a lease ends with its source', async () => {
		const parameters = { afterStoring: 'process', maxGonePercent: 100 };
		await of({ x: 'ab', y: 'ab', z: 'ab' }, parameters);
		expect(orderOfLeases()).toEqual(['x', 'y', 'z']);
		await processed(6);
		fixture.sandbox.requests.clear();
		const brought = { x: 'a', y: 'ab', z: 'b' };
		const { items } = await of(brought, parameters);
		expect(orderOfLeases()).toEqual(['x', 'y', 'z']);
		expect(items.filter(({ json }) => json.outcome === 'disabled')).toHaveLength(2);
		expect(found()).toEqual(['a of x', 'a of y', 'b of y', 'b of z']);
		const next = await of(brought, parameters);
		expect(new Set(column(next.items, 'outcome'))).toEqual(new Set(['unchanged']));
	});

	it('are complete before one that fails: what is gone from them is disabled, and nothing else', async () => {
		const parameters = { afterStoring: 'process', maxGonePercent: 100 };
		await of({ x: 'ab', y: 'ab', z: 'ab' }, parameters);
		await processed(6);
		add(answering('E16', 422, { nth: 1 }));
		const brought = { x: 'a', y: 'aq', z: 'a' };
		expect((await of(brought, parameters)).error?.message).toContain('1 disabled');
		expect(found()).toEqual(['a of x', 'a of y', 'a of z', 'b of y', 'b of z']);
		fixture.sandbox.faults.clear();
		expect((await of(brought, parameters)).error).toBeUndefined();
		await processed(4);
		expect(found()).toEqual(['a of x', 'a of y', 'a of z', 'q of y']);
	});

	it.each([
		['one of them', ['x'], ' Sources: x.'],
		['two of them', ['x', 'y'], ' Sources: x, y.'],
	])('are named where notes of %s are lost', async (_, lost, names) => {
		await of({ x: 'a', y: 'a', z: 'a' });
		const { knowledgebaseId } = fixture.world;
		for (const one of fixture.sandbox.store.documentsOf(knowledgebaseId))
			if (lost.some((name) => String(one.name).startsWith(`n8n: what ${name}`)))
				Object.assign(one, { processMsg: 'Invalid PDF structure' });
		const hints = hintsOf(await of({ x: 'a', y: 'a', z: 'a' }));
		expect(hints.filter((hint) => hint.startsWith('Notes from before'))).toEqual([
			expect.stringMatching(new RegExp(`"Forget Earlier Damage" in Tuning and Repair\\.${names}$`)),
		]);
		expect(hintsOf(await of({ x: 'a' })).join('\n')).toMatch(
			/"Forget Earlier Damage" in Tuning and Repair\.(\n|$)/,
		);
	});

	it('fail alone where another run of one is at work', async () => {
		add({ endpoint: 'E16', nth: 1, do: 'hold' });
		const first = night('x', 'q');
		await clock.until(() => sent('E16').length > 0);
		const { error } = await of({ x: 'a', y: 'ab' });
		expect(error?.message).toMatch(/^Nothing was sent: another run of this source is at work/);
		expect(found()).toEqual(['a of y', 'b of y']);
		fixture.sandbox.faults.clear();
		await first;
	});
});

describe('two nodes that mirror one source', () => {
	const one = (name: string, source: string) => ({
		json: { name, text: `${name} of ${source}` },
	});
	const named = { ...TEXTS, mode: 'mirror', sourceName: 'x', options: { maxGonePercent: 100 } };
	/** Runs a node with `a`, and beside it another one, by an output of its own if `branches`. */
	const both = async (
		{
			items = 'a',
			...beside
		}: {
			items?: string;
			branches?: boolean;
			first?: 'before' | 'alsoHere';
			parameters?: INodeParameters;
		},
		own: INodeParameters = named,
	) =>
		await submit(own, {
			items: [one('a', 'x')],
			beside: {
				...beside,
				items: [...items].map((name) => one(name, 'x')),
				parameters: {
					resource: 'document',
					operation: 'submit',
					knowledgebaseId: { __rl: true, mode: 'id', value: fixture.world.knowledgebaseId },
					...named,
					...beside.parameters,
				},
			},
		});
	const SAID = expect.stringContaining('"Beside" mirrors the same source in this execution');

	it('below a node that branches disable nothing of each other, and say it', async () => {
		await night('x', 'abc', { parameters: { mode: 'mirror' } });
		const result = await both({ branches: true, items: 'b' });
		expect(found()).toEqual(['a of x', 'b of x', 'c of x']);
		expect(hintsOf(result)).toContainEqual(SAID);
		expect(hintsOf(result).join()).toMatch(
			/Nothing is disabled\. "Beside".*"Source Name" of its own/,
		);
		const { hints = [] } = result.run.data.resultData.runData.Beside?.[0] ?? {};
		expect(hintsOf({ ...result, hints }).join()).toContain('"Xpert AI" mirrors the same source');
	});

	it('disable what is gone where only one of them got items', async () => {
		await night('x', 'abc', { parameters: { mode: 'mirror' } });
		const result = await both({ branches: true, items: '' });
		expect(found()).toEqual(['a of x']);
		expect(hintsOf(result).join()).not.toContain('Beside');
	});

	it.each([
		['only one of them got items', { branches: true, items: '' }],
		['both get the same items', {}],
	])('disable what is gone behind a longer chain where %s', async (_, beside) => {
		await night('x', 'abc', { parameters: { mode: 'mirror' } });
		const result = await both({ ...beside, first: 'before' });
		expect(found()).toEqual(['a of x']);
		expect(hintsOf(result).join()).not.toContain('Beside');
	});

	it('disable nothing where one of them also gets items past the node before both', async () => {
		await night('x', 'abc', { parameters: { mode: 'mirror' } });
		const result = await both({ first: 'alsoHere' });
		expect(found()).toEqual(['a of x', 'b of x', 'c of x']);
		expect(hintsOf(result)).toContainEqual(SAID);
	});

	it('disable what is gone where both get the same items', async () => {
		await night('x', 'abc', { parameters: { mode: 'mirror' } });
		const result = await both({});
		expect(found()).toEqual(['a of x']);
		expect(hintsOf(result).join()).not.toContain('Beside');
	});

	const LISTS = { operation: 'findChanges', documentKey: '={{ $json.name }}' };

	it('disable nothing beside Find Changes that disables what its items lack', async () => {
		await night('x', 'abc', { parameters: { mode: 'mirror' } });
		const parameters = { ...LISTS, whatIsGone: 'disable' };
		const result = await both({ branches: true, items: 'b', parameters });
		expect(hintsOf(result)).toContainEqual(SAID);
	});

	it.each<[string, INodeParameters]>([
		['has a name of its own', { sourceName: 'y' }],
		['has a shard of its own', { options: { shard: '2' } }],
		['disables nothing', { mode: 'changed' }],
		['only plans', { options: { dryRun: true } }],
		['has a name by an expression', { sourceName: '={{ "x" }}' }],
		['only finds what changed', { ...LISTS, whatIsGone: 'keep' }],
	])('say nothing where the other %s', async (_, parameters) => {
		await night('x', 'abc', { parameters: { mode: 'mirror' } });
		const result = await both({ branches: true, items: 'b', parameters });
		expect(hintsOf(result).join()).not.toContain('Beside');
		expect(found()).not.toContain('c of x');
	});

	it('say nothing where both have no name', async () => {
		const unnamed = { sourceName: '' };
		const result = await both(
			{ branches: true, items: 'b', parameters: unnamed },
			{ ...named, ...unnamed },
		);
		expect(hintsOf(result).join()).not.toContain('Beside');
	});

	it('one behind the other disable nothing of each other, and say it', async () => {
		await night('x', 'abc', { parameters: { mode: 'mirror' } });
		const knowledgebaseId = { __rl: true, mode: 'id', value: fixture.world.knowledgebaseId };
		const behind = { resource: 'document', operation: 'submit', knowledgebaseId, ...named };
		const { hints } = await submit(
			{ ...named, text: 'a', documentKey: 'a', name: 'a' },
			{ items: [one('a', 'x')], behind },
		);
		expect(hints.map(({ message }) => message).join()).toContain(
			'"Before" mirrors the same source',
		);
		expect(found()).toEqual(expect.arrayContaining(['b of x', 'c of x']));
	});
});

it('a setting that is read once for all items is refused where an expression gives others', async () => {
	const parameters = { tuning: { batchSize: '={{ $json.name === "a" ? 1 : 2 }}' } };
	const { error } = await night('x', 'ab', { parameters });
	expect(error?.message).toMatch(
		/^"Batch Size" must be the same for all items, but is \d+ here and \d+ in the first one \[item 1\]/,
	);
	expect(found()).toEqual([]);
});
