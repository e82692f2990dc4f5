import { omit } from 'lodash';
import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { keyNamespace } from 'nodes/XpertAi/operations/document/sourceIdentity';
import { derivedId } from 'nodes/XpertAi/payloads/ids';

import { answering, withoutRoute } from './support/faults';
import { clock } from './support/clock';
import { TEXTS, column, hintsOf, useIngest, isNote } from './support/ingest';
import { byId } from './support/locators';

const { fixture, add, sent, documents, submit } = useIngest();

type Run = Parameters<typeof submit>[1];
type Versions = Record<string, string>;

/** What a listing tells of each file, by one letter; `versions` of those that are not of version 1. */
const listing = (letters: string, versions: Versions = {}) =>
	[...letters].map((id) => ({ json: { id, version: versions[id] ?? '1', name: `${id}.md` } }));

const SOURCE = { sourceName: 'drive' };
const FIELDS = { documentKey: '={{ $json.id }}', documentVersion: '={{ $json.version }}' };

/** Finds changes; some of Options may stand beside the parameters. */
const find = async (
	letters: string,
	{ versions, options, ...more }: INodeParameters & { versions?: Versions } = {},
	run: Run = {},
) =>
	await fixture.run(
		{
			resource: 'document',
			operation: 'findChanges',
			knowledgebaseId: byId(fixture.world.knowledgebaseId),
			...SOURCE,
			...FIELDS,
			...more,
			options: { maxGonePercent: 50, ...(options as object) },
		},
		{ items: listing(letters, versions), ...run },
	);

const store = async (letters: string, versions: Versions = {}, more: INodeParameters = {}) => {
	const items = listing(letters, versions).map(({ json }) => ({
		json: { ...json, text: `The word is ${json.id} ${json.version}.` },
	}));
	const { documentKey, ...settings } = FIELDS;
	const documentSettings = { ...settings, ...(more.documentSettings as object) };
	const fixed = { ...TEXTS, ...SOURCE, documentKey, mode: 'changed' };
	const parameters = { ...fixed, ...more, documentSettings };
	return await submit(parameters, { items });
};

const DISABLE = { whatIsGone: 'disable' };
const passed = ({ items }: { items: Array<{ json: IDataObject }> }) => column(items, 'id').join('');
const idOf = (key: string, name = 'drive') =>
	derivedId(keyNamespace(fixture.world.knowledgebaseId, name), key);
const found = () =>
	[...'abcdef'].filter((key) => fixture.sandbox.store.findable(idOf(key))).join('');
const writes = () => sent().filter(({ method }) => method !== 'GET');

describe('Find Changes', () => {
	it('passes on what is new, changed, or not found any more, as it came; a hint counts', async () => {
		await store('abcdef');
		// It is not found from then on.
		await find('abcde', DISABLE);
		fixture.sandbox.requests.clear();
		const result = await find('fgaecb', { versions: { c: '2' } });
		expect(passed(result)).toBe('fgc');
		expect(result.items).toEqual(
			[0, 1, 4].map((item) => ({
				json: listing('fgaecb', { c: '2' })[item]?.json,
				binary: { data: expect.objectContaining({ fileName: 'hello.txt' }) as object },
				pairedItem: { item },
			})),
		);
		expect(hintsOf(result)).toEqual([
			'Documents: 1 new, 1 changed, 1 back again, 3 unchanged, 1 gone.',
		]);
		expect(writes()).toEqual([]);
	});

	it('ends the workflow where nothing changed, and passes on all with Pass All', async () => {
		await store('abc');
		expect((await find('abc')).items).toEqual([]);
		expect(passed(await find('abc', { options: { resendAll: true } }))).toBe('abc');
	});

	it('passes on what Submit sends, until that has stored it', async () => {
		await store('abcd', {}, { afterStoring: 'wait' });
		const versions = { b: '2', d: '2' };
		expect(passed(await find('abcd', { versions }))).toBe('bd');
		// The download of one has failed.
		expect(column((await store('d', versions)).items, 'outcome')).toEqual(['found']);
		expect(passed(await find('abcd', { versions }))).toBe('b');
		await store('b', versions);
		expect(passed(await find('abcd', { versions }))).toBe('');
	});

	it.each([
		['wait', { status: 'error' }, 'a'],
		['nothing', { status: 'error' }, ''],
	])(
		'takes a document for done as Submit does, with After Storing %s',
		async (how, state, keys) => {
			await store('abc', {}, { afterStoring: how });
			// What is remembered of that stays when the memory is written.
			await find('ab', DISABLE);
			Object.assign(fixture.sandbox.store.documents.get(idOf('a')) ?? {}, state);
			expect(passed(await find('ab'))).toBe(keys);
			const again = await store('ab', {}, { afterStoring: how });
			const isUnchanged = column(again.items, 'outcome').map((outcome) => outcome === 'unchanged');
			expect(isUnchanged).toEqual([keys === '', true]);
		},
	);

	it('gives a plan for each document with Only Show What Would Happen, also of what is gone', async () => {
		await store('abc');
		fixture.sandbox.requests.clear();
		const versions = { b: '2' };
		const result = await find('abd', { ...DISABLE, versions, options: { dryRun: true } });
		expect(result.items.map(({ json }) => omit(json, 'name', 'id'))).toEqual([
			{ key: 'a', plan: 'unchanged' },
			{ key: 'b', plan: 'changed' },
			{ key: 'd', plan: 'new' },
			{ key: 'c', plan: 'gone' },
		]);
		expect([writes(), found()]).toEqual([[], 'abc']);
	});

	it('passes on an item without a version, and all of a source that was stored without', async () => {
		await store('ab');
		expect(passed(await find('ab', { versions: { a: '' } }))).toBe('a');
		await store('ab', {}, { documentSettings: { documentVersion: '' } });
		const result = await find('abc', { versions: { b: '' } });
		expect(passed(result)).toBe('abc');
		expect(hintsOf(result)).toContain(
			'1 document was stored without a version. Where they are submitted, set "Document Version" in Document Settings.',
		);
	});

	it('says when nothing of the source is remembered, and once it is, nothing', async () => {
		const said =
			'Nothing of this source is remembered, so nothing is left out. Check "Knowledgebase": one that does not exist looks the same here. If it was sent before, also check "Source Name" and "Shard"; "Send Everything" remembers nothing.';
		expect(hintsOf(await find('ab'))).toEqual(['Documents: 2 new.', said]);
		await store('ab');
		expect(hintsOf(await find('abc'))).toEqual(['Documents: 1 new, 2 unchanged.']);
		expect(hintsOf(await find('ab', { sourceName: 'drvie' }))).toContain(said);
	});

	it('does not call a source unknown while its first run is at work', async () => {
		add({ endpoint: 'E16', nth: 1, do: 'hold' });
		const running = store('ab');
		await clock.until(() => sent('E16').length > 0);
		const hints = hintsOf(await find('ab')).join('\n');
		expect(hints).toMatch(/Another run of this source is at work/);
		expect(hints).not.toContain('Nothing of this source is remembered');
		fixture.sandbox.faults.clear();
		await running;
	});

	it('keeps sources apart by their names, item by item', async () => {
		const ofTenant = { sourceName: '={{ $json.name[0] > "a" ? "other" : "drive" }}' };
		await store('ab', {}, ofTenant);
		const versions = { b: '2' };
		expect(passed(await find('ab', { ...ofTenant, versions }))).toBe('b');
		expect(passed(await find('ab', ofTenant))).toBe('');
		expect(passed(await find('ab'))).toBe('b');
	});

	it('passes on all items where the server keeps no memory, disables nothing, and says why', async () => {
		await store('ab');
		add(withoutRoute('status'));
		const result = await find('a', DISABLE);
		expect(passed(result)).toBe('a');
		expect(hintsOf(result)).toContain(
			'Nothing is left out: this server does not give back what earlier runs have stored.',
		);
		fixture.sandbox.faults.clear();
		expect(found()).toBe('ab');
	});
});

describe('refused before anything is sent', () => {
	it.each<[string, INodeParameters, Run, string]>([
		['a key', { documentKey: '={{ $json.none }}' }, {}, '"Document Key" is empty: its expression'],
		['a name', { sourceName: '={{ $json.none }}' }, {}, '"Source Name" is empty: its expression'],
		[
			'the whole',
			DISABLE,
			{ loops: 'n8n-nodes-base.splitInBatches' },
			'"What Is Gone" cannot be "Disable It: the Items Are',
		],
		['a next node', {}, { isTool: true }, 'Find Changes passes items on to the next node'],
	])('is an item or a node without %s', async (_, parameters, run, words) => {
		const { error, items } = await find('a', parameters, run);
		expect(error?.message ?? items[0]?.json.output).toContain(words);
		expect(sent()).toEqual([]);
	});

	it('is Submit with Mirror the Source behind it, though not with Send New and Changed', async () => {
		const behind = {
			resource: 'document',
			operation: 'findChanges',
			...SOURCE,
			...FIELDS,
			knowledgebaseId: byId(fixture.world.knowledgebaseId),
		};
		const items = [{ json: { id: 'a', version: '1', name: 'a', text: 'A' } }];
		const parameters = { ...TEXTS, ...SOURCE, documentKey: '={{ $json.id }}' };
		const mirrored = await submit({ ...parameters, mode: 'mirror' }, { items, behind });
		expect(mirrored.error?.message).toContain(
			'"When Run Again" cannot be "Mirror the Source (Disable What Is Gone)" behind "Before", which passes on only what changed',
		);
		const changed = await submit({ ...parameters, mode: 'changed' }, { items, behind });
		expect(column(changed.items, 'outcome')).toEqual(['found']);
		const other = { ...parameters, mode: 'mirror', sourceName: 'another' };
		expect(column((await submit(other, { items, behind })).items, 'outcome')).toEqual(['found']);
	});
});

describe('What Is Gone: Disable It', () => {
	it('disables what no item names, once, and remembers it under the lease alone', async () => {
		await store('abcd');
		const result = await find('abc', DISABLE);
		expect([result.items, found()]).toEqual([[], 'abc']);
		expect(hintsOf(result)).toEqual(['Documents: 3 unchanged, 1 gone, 1 disabled.']);
		fixture.sandbox.requests.clear();
		expect(hintsOf(await find('abc', DISABLE))).toEqual(['Documents: 3 unchanged.']);
		expect(writes()).toEqual([]);
		// Submit goes on with the same memory.
		expect(column((await store('abcd')).items, 'outcome')).toEqual([
			...['unchanged', 'unchanged', 'unchanged', 'found'],
		]);
	});

	const onError = 'continueRegularOutput';
	it.each<[string, Run, string]>([
		[
			'an item has no key',
			{ items: [...listing('abc'), { json: {} }], onError },
			'Nothing was disabled: 1 document was not read, or not stored for certain.',
		],
		[
			'it is only tested',
			{ mode: 'manual' },
			'1 of 4 documents are missing from this run. A scheduled run would disable them.',
		],
		[
			'more is gone than may be',
			{ items: listing('a'), onError },
			'Nothing was disabled: 3 of 4 documents are missing from this run, more than "Stop If More Than (%) Are Gone" allows (50).',
		],
	])('disables nothing if %s', async (_, run, words) => {
		await store('abcd');
		const result = await find('abc', DISABLE, run);
		expect(hintsOf(result)).toContain(words);
		expect([result.error, found()]).toEqual([undefined, 'abcd']);
	});

	it('disables by hand where Disable in Manual Runs is on', async () => {
		await store('abcd');
		const parameters = { ...DISABLE, options: { disableInManualRuns: true, maxGonePercent: 50 } };
		const result = await find('abc', parameters, { mode: 'manual' });
		expect(hintsOf(result)).toEqual(['Documents: 3 unchanged, 1 gone, 1 disabled.']);
		expect(found()).toBe('abc');
	});

	it('fails with Stop if more is gone than may be, and passes on the items otherwise', async () => {
		await store('abcd');
		const tooMuch = { ...DISABLE, versions: { a: '2' }, options: { maxGonePercent: 20 } };
		const { error } = await find('ab', tooMuch);
		expect(error?.message).toContain('Nothing was disabled: 2 of 4 documents');
		expect(error?.description).toMatch(
			/^Missing are for example c\.md, d\.md\. If another Find Changes lists them, give each one, and the Submit behind it, a "Source Name" of its own\. If they/,
		);
		const { outputs } = await find('ab', tooMuch, { onError: 'continueErrorOutput' });
		expect(outputs.map((items) => items.length)).toEqual([1, 1]);
	});

	const OTHER_KEYS = { ...DISABLE, documentKey: '=drive/{{ $json.id }}' };

	it('fails where no key is one of those before, says where to look, and disables nothing', async () => {
		await store('abcd');
		const { error } = await find('abcd', OTHER_KEYS);
		expect(error?.message).toBe(
			'Nothing was disabled: none of 4 known documents is in this run, whose keys differ from those before',
		);
		expect(error?.description).toMatch(
			/^Before, for example: [a-d], [a-d], [a-d]; now: drive\/a, drive\/b, drive\/c\. If another Find Changes lists the others, give each one, and the Submit behind it, a "Source Name" of its own\. Compare "Document Key" here, and in the other node of this source if there is one, with the keys of earlier runs\. Correct it if it is wrong now\. If the keys are meant to be new, Document: Disable takes the old documents out, by their old keys and the same "Source Name"\./,
		);
		expect(error?.description).not.toContain('100');
		expect(found()).toBe('abcd');
	});

	it('says that keys were made otherwise where their documents have the same names', async () => {
		await store('abcd');
		await store('abcd', {}, { documentKey: OTHER_KEYS.documentKey });
		const { error } = await find('abcd', { ...DISABLE, options: { maxGonePercent: 20 } });
		expect(error?.message).toContain('Nothing was disabled: 4 of 8 documents');
		expect(error?.description).toMatch(
			/^"[a-d]\.md" is missing under the key "drive\/[a-d]", and came under "[a-d]"\. Where keys are made otherwise than in an earlier run, documents are stored twice/,
		);
		expect(found()).toBe('abcd');
	});

	it.each<[string, INodeParameters, Run, string]>([
		['by hand', OTHER_KEYS, { mode: 'manual' }, 'A scheduled run would disable none'],
		[
			'before it happens',
			{ ...OTHER_KEYS, options: { dryRun: true } },
			{},
			'The next run would fail',
		],
	])('says %s that no key is one of those before', async (_, parameters, run, begin) => {
		await store('abcd');
		const result = await find('abcd', parameters, run);
		expect(result.error).toBeUndefined();
		const [, finding, advice] = hintsOf(result);
		expect(finding).toBe(
			`${begin}: none of 4 known documents is in this run, whose keys differ from those before.`,
		);
		expect(advice).toMatch(
			/^(Before, for example: .*; now: drive\/a, .*\. )?If another Find Changes lists the others, .* Compare "Document Key" here, .* Correct it if it is wrong now\. If the keys are meant to be new, Document: Disable takes the old documents out, by their old keys and the same "Source Name"\.$/,
		);
		expect(found()).toBe('abcd');
	});

	const FLAWED = { ...listing('c')[0]?.json };
	it.each<[string, IDataObject, INodeParameters]>([
		['its version is a number without its last digits', { ...FLAWED, version: 2 ** 60 }, {}],
		[
			'its version is no date',
			{ ...FLAWED, version: 'never' },
			{
				documentVersion: '={{ $json.version === "never" ? "never".toDateTime() : $json.version }}',
			},
		],
	])('disables others though an item with a known key is refused: %s', async (_, json, more) => {
		await store('abcd');
		const items = [...listing('ab'), { json }];
		const run = { items, onError: 'continueErrorOutput' } as const;
		const result = await find('', { ...DISABLE, ...more }, run);
		expect(result.outputs.map((some) => some.length)).toEqual([0, 1]);
		expect(hintsOf(result)).toEqual(['Documents: 2 unchanged, 1 gone, 1 disabled, 1 rejected.']);
		expect(found()).toBe('abc');
	});

	it('says that a source without an item is not mirrored, where each item names its source', async () => {
		const hint =
			'Mirrored: the sources that brought a document in this run. Others keep what they have.';
		await store('ab');
		const byItem = { sourceName: '={{ $json.id > "z" ? "other" : "drive" }}' };
		expect(hintsOf(await find('ab', { ...DISABLE, ...byItem }))).toContain(hint);
		expect(hintsOf(await find('ab', DISABLE))).not.toContain(hint);
		expect(hintsOf(await find('ab', byItem))).not.toContain(hint);
	});

	it.each([
		['enabled', ['disable', 'enable'], 'abcd'],
		['disabled', ['disable'], 'abc'],
	])('leaves a document that was %s by hand before it went, and says so', async (_, how, left) => {
		await store('abcd');
		for (const operation of how)
			await fixture.run({
				resource: 'document',
				operation,
				knowledgebaseId: byId(fixture.world.knowledgebaseId),
				...SOURCE,
				documentsBy: 'key',
				documentKey: 'd',
			});
		expect(found()).toBe(left);
		const byHand = await find('abc', DISABLE, { mode: 'manual' });
		const result = await find('abc', DISABLE);
		for (const one of [byHand, result])
			expect(hintsOf(one)).toEqual([
				'Documents: 3 unchanged.',
				'1 document was not disabled, though gone: switched by hand. If still found, Document: Disable takes it out.',
			]);
		expect(found()).toBe(left);
	});

	it.each([
		{ what: 'to disable what is gone', ...DISABLE, harmed: /none/, keys: 'e' },
		{
			what: 'where notes are missing',
			whatIsGone: 'keep',
			harmed: /stored, 1 of 1|calls its documents/,
			keys: 'ae',
		},
	])(
		'says that another run of the source is at work, tells no damage, and disables nothing: $what',
		async ({ what: _, harmed, keys, ...parameters }) => {
			await store('abcd');
			add({ endpoint: 'E16', nth: 1, do: 'hold' });
			const running = store('e');
			await clock.until(() => sent('E16').length > 4);
			const { documents } = fixture.sandbox.store;
			for (const { id, name } of [...documents.values()])
				if (harmed.test(String(name))) documents.delete(id);
			const result = await find('ae', parameters);
			const hints = hintsOf(result);
			expect(hints.join('\n')).toMatch(/Another run of this source is at work, or was stopped: ex/);
			expect(hints.join('\n')).not.toContain('missing');
			expect(hints.includes('Nothing was disabled: another run of this source is at work.')).toBe(
				keys === 'e',
			);
			expect(passed(result)).toBe(keys);
			fixture.sandbox.faults.clear();
			await running;
			expect(found()).toBe('abcde');
		},
	);

	it('fails where the lease cannot be taken, and disables nothing', async () => {
		await store('abcd');
		add(answering('E3', 403));
		const { error } = await find('abc', DISABLE);
		expect(error?.message).toContain('HTTP 403');
		expect(found()).toBe('abcd');
	});

	it('gives each item the failure of the memory where the workflow is to go on', async () => {
		add(answering('status', 403));
		const { outputs } = await find('ab', DISABLE, { onError: 'continueErrorOutput' });
		expect(column(outputs[1], 'error')).toEqual(Array(2).fill(expect.stringContaining('403')));
		expect(documents().filter(isNote)).toEqual([]);
	});
});

describe('a Find Changes and the Submit behind it', () => {
	const OTHER = '00000000-0000-4000-8000-0000000000aa';
	const knowledgebaseId = () => fixture.world.knowledgebaseId;
	/** Runs both in one workflow; the items bring all that Submit needs. Gives the hints of both nodes. */
	const both = async (
		letters: string,
		{ before, behind }: { before?: INodeParameters; behind?: INodeParameters } = {},
		more: Partial<Run> = {},
	) => {
		const listed = { resource: 'document', operation: 'findChanges', ...SOURCE, ...FIELDS };
		const { documentKey, ...settings } = FIELDS;
		const items = listing(letters).map(({ json }) => ({ json: { ...json, text: json.id } }));
		const result = await submit(
			{ ...TEXTS, ...SOURCE, documentKey, mode: 'changed', documentSettings: settings, ...behind },
			{
				items,
				behind: { ...listed, knowledgebaseId: byId(knowledgebaseId()), ...before },
				...more,
			},
		);
		const hints = result.run.data.resultData.runData.Before?.[0]?.hints ?? [];
		const hintsBefore = hintsOf({ ...result, hints: hints });
		return { ...result, hints: hintsOf(result), hintsBefore };
	};
	const ADVICE =
		'give both nodes the same, as each source has its own memory. Under a new name, all is stored once more.';

	it.each<[string, { before?: INodeParameters; behind?: INodeParameters }, [string, string]]>([
		[
			'Source Name',
			{ behind: { sourceName: 'Drive' } },
			['"Source Name" is "Drive" here and "drive"', '"Source Name" is "drive" here and "Drive"'],
		],
		[
			'Source Name, which one lacks',
			{ behind: { sourceName: '' } },
			['"Source Name" is "" here and "drive"', '"Source Name" is "drive" here and ""'],
		],
		[
			'Shard',
			{ behind: { options: { shard: '1 of 2' } } },
			['"Shard" is "1 of 2" here and ""', '"Shard" is "" here and "1 of 2"'],
		],
		[
			'Knowledgebase and Shard',
			{ before: { knowledgebaseId: byId(OTHER), options: { shard: '2' } } },
			[`here and "${OTHER}" in "Before", "Shard" is "" here and "2"`, `is "${OTHER}" here and`],
		],
	])('say it both if they differ by %s, with both values', async (_, differing, [own, its]) => {
		const onError = 'continueRegularOutput';
		const { hints, hintsBefore } = await both('ab', differing, { onError });
		const saying = (words: string) => expect.stringContaining(words) as string;
		expect(hints).toEqual(expect.arrayContaining([saying(own)]));
		expect(hints).toEqual(expect.arrayContaining([saying(`in "Before": ${ADVICE}`)]));
		expect(hintsBefore).toEqual(expect.arrayContaining([saying(its)]));
		expect(hintsBefore).toEqual(expect.arrayContaining([saying(ADVICE)]));
	});

	it.each<[string, { before?: INodeParameters; behind?: INodeParameters }]>([
		['are the same but for how they are written', { behind: { sourceName: ' drive ' } }],
		['may be the same by an expression', { behind: { sourceName: '={{ "drive" }}' } }],
		[
			'may have the same shard by an expression',
			{ before: { options: { shard: '={{ "1" }}' } }, behind: { options: { shard: '1' } } },
		],
	])('say nothing if their sources %s', async (_, alike) => {
		const { hints, hintsBefore, error } = await both('ab', alike);
		expect([error, [...hints, ...hintsBefore].join()]).toEqual([
			undefined,
			expect.not.stringContaining(ADVICE),
		]);
	});

	it('disable nothing before the download if they differ, and say so', async () => {
		await store('abcd');
		const differing = { before: DISABLE, behind: { sourceName: 'Drive' } };
		const { hintsBefore } = await both('abc', differing);
		expect(hintsBefore).toContain(
			`Nothing is disabled. "Source Name" is "drive" here and "Drive" in "Xpert AI": ${ADVICE}`,
		);
		expect(found()).toBe('abcd');
		await both('abc', { before: DISABLE });
		expect(found()).toBe('abc');
	});

	it('disable nothing if the one behind mirrors another source, and say so', async () => {
		const mirror = { mode: 'mirror', sourceName: 'Drive' };
		await store('abcd', {}, { sourceName: 'Drive' });
		const differing = { behind: { ...mirror, maxGonePercent: 100 } };
		const { hints } = await both('abc', differing);
		expect(hints).toContain(
			`Nothing is disabled. "Source Name" is "Drive" here and "drive" in "Before": ${ADVICE}`,
		);
		expect(fixture.sandbox.store.findable(idOf('d', 'Drive'))).toBeTruthy();
	});

	it.each([
		['if blanks stand about its name', ' drive '],
		['if only one of them has a name', ''],
	])('are one source for Mirror, which is refused, also %s', async (_, sourceName) => {
		const { error } = await both('a', { behind: { sourceName, mode: 'mirror' } });
		expect(error?.message).toContain('behind "Before", which passes on only what changed');
	});

	const NO_VERSION = { documentSettings: {} };
	const PASSES_AGAIN =
		'"Before" passes on all of these documents again next time, because they are stored without a version: it compares nothing else. Set "Document Version" in both nodes.';
	const ALL = { options: { resendAll: true } };

	it.each<[string, INodeParameters]>([
		['if the documents are stored without a version', {}],
		['also if the one before has none itself', { documentVersion: '' }],
	])('say that all are passed on again, %s', async (_, before) => {
		const { hints } = await both('ab', { before: { ...before, ...ALL }, behind: NO_VERSION });
		expect(hints).toContain(PASSES_AGAIN);
	});

	it.each<[string, INodeParameters]>([
		['they are stored with a version', {}],
		['nothing is stored', { ...NO_VERSION, options: { dryRun: true } }],
		['nothing is remembered', { ...NO_VERSION, mode: 'all', sourceName: 'Drive' }],
		['they are of another source', { ...NO_VERSION, sourceName: 'Drive' }],
	])('say nothing of versions where %s', async (_, behind) => {
		const before = { ...ALL, ...(behind.mode === 'all' && { sourceName: 'Drive' }) };
		const { error, hints } = await both('ab', { before, behind });
		expect([error, hints.join()]).toEqual([undefined, expect.not.stringContaining(PASSES_AGAIN)]);
	});

	it('say nothing of versions where a file of records holds many documents', async () => {
		const records = [{ key: 'a', text: 'The word is a.' }];
		const data = await fixture.engine.binary(
			Buffer.from(JSON.stringify(records)),
			'records.json',
			'application/json',
		);
		const items = listing('a').map((item) => ({ ...item, binary: { data } }));
		const source = { source: 'records', textField: 'text', documentKeyField: 'key' };
		const result = await both(
			'a',
			{ before: ALL, behind: { ...source, ...NO_VERSION } },
			{ items },
		);
		expect(column(result.items, 'key')).toEqual(['a']);
		expect(result.hints.join()).not.toContain(PASSES_AGAIN);
	});

	it('take the only copies for no second ones if only one of them has a name', async () => {
		const unnamed = { behind: { sourceName: '' } };
		await both('abc', unnamed);
		expect((await both('abc', unnamed)).hintsBefore.join()).not.toContain('without a Source Name');
		expect((await both('abc')).hintsBefore.join()).toContain(
			'3 documents were also found without a Source Name',
		);
	});

	it('leave what was stored without a name to be said once they have the same', async () => {
		await store('abc', {}, { sourceName: '' });
		const named = { behind: { sourceName: 'Drive' } };
		const twice = '3 documents were also found without a Source Name';
		expect((await both('abc', named)).hints.join()).not.toContain(twice);
		const same = await both('abc', {
			...named,
			before: { sourceName: 'Drive', options: { resendAll: true } },
		});
		expect(same.hints.join()).toContain(twice);
	});
});
