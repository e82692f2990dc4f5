import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { keyNamespace } from 'nodes/XpertAi/operations/document/sourceIdentity';
import { derivedId } from 'nodes/XpertAi/payloads/ids';

import { TEXTS, column, hintsOf, isNote, useIngest } from './support/ingest';
import { byId } from './support/locators';

const { fixture, documents, submit, storedNames, sent } = useIngest();

type Run = Parameters<typeof submit>[1];

const UNSTORED = 'Nothing was disabled: 1 document was not read, or not stored for certain.';

/** A night of a source that mirrors; an item that is refused ends no run. */
const night = async (parameters: INodeParameters, rows: IDataObject[], run: Run = {}) =>
	await submit(
		{ ...TEXTS, mode: 'mirror', sourceName: 's', maxGonePercent: 100, ...parameters },
		{
			items: rows.map((row, at) => ({ json: { name: `n${at}`, text: 'A text', ...row } })),
			onError: 'continueErrorOutput',
			...run,
		},
	);

const findChanges = async (parameters: INodeParameters, rows: IDataObject[], run: Run = {}) =>
	await fixture.run(
		{
			resource: 'document',
			operation: 'findChanges',
			knowledgebaseId: byId(fixture.world.knowledgebaseId),
			sourceName: 's',
			...parameters,
		},
		{ items: rows.map((json) => ({ json })), ...run },
	);

const disabled = () => documents().filter((one) => one.disabled === true && !isNote(one));

/** A row with all that the templates read. */
const row = (id: string) => ({ id, folder: 'f', x: `x${id}`, slug: id });

describe('an item whose expression lacks a value', () => {
	it.each<[field: string, parameters: INodeParameters, missing: string]>([
		['Document Key', { documentKey: '=handbook/{{ $json.id }}' }, 'id'],
		['Document Key', { documentKey: '={{ $json.folder }}/{{ $json.id }}' }, 'folder'],
		['Document Key', { documentKey: '=doc/{{ $json.x }}/y' }, 'x'],
		['Document Key', { documentKey: "={{ 'doc-' + $json.id }}" }, 'id'],
		['Document Key', { documentKey: '={{ `doc-${$json.id}` }}' }, 'id'],
		['Name', { name: '=Page {{ $json.id }}' }, 'id'],
		['Source Name', { sourceName: '=tenant-{{ $json.folder }}' }, 'folder'],
		['Shard', { options: { shard: '={{ $json.folder }} of 20' } }, 'folder'],
		['Folder', { documentSettings: { folder: '={{ $json.folder }}/Sales' } }, 'folder'],
		[
			'Address',
			{
				source: 'addresses',
				afterStoring: 'nothing',
				url: '=https://a.example/{{ $json.slug }}',
				documentKey: '={{ $json.id }}',
			},
			'slug',
		],
	])('is refused by name in %s, and none is disabled (%#)', async (field, parameters, missing) => {
		await night(parameters, [row('1'), row('2'), row('3')]);
		fixture.sandbox.requests.clear();
		const before = storedNames();
		const result = await night(parameters, [row('1'), { ...row('2'), [missing]: undefined }]);
		expect(column(result.outputs[1], 'error')).toEqual([
			expect.stringMatching(
				new RegExp(
					`^"${field}".* lacks a part: \\{\\{ \\$json\\.${missing} \\}\\} gave nothing for this item \\[item 1\\]$`,
				),
			),
		]);
		expect(storedNames()).toEqual(before);
		expect(disabled()).toEqual([]);
		expect(hintsOf(result)).toContain(UNSTORED);
	});

	it('is refused where all of its parts are empty, as nothing but fixed text is left', async () => {
		const parameters = { documentKey: '=handbook/{{ $json.id }}' };
		const { error } = await night(parameters, [{ id: '' }], { onError: 'stopWorkflow' });
		expect(error?.message).toContain('lacks a part: {{ $json.id }} gave nothing for this item');
		expect(sent()).toEqual([]);
	});

	it('ends Find Changes with nothing disabled', async () => {
		const documentKey = '={{ $json.folder }}/{{ $json.id }}';
		await night({ documentKey }, [row('1'), row('2')]);
		const result = await findChanges(
			{ documentKey, whatIsGone: 'disable', options: { maxGonePercent: 100 } },
			[{ id: '2' }],
			{ onError: 'continueErrorOutput' },
		);
		expect(column(result.outputs[1], 'error')).toEqual([
			'"Document Key" lacks a part: {{ $json.folder }} gave nothing for this item',
		]);
		expect(hintsOf(result)).toContain(UNSTORED);
		expect(disabled()).toEqual([]);
	});

	it('is refused in Disable, which disables nothing else', async () => {
		await night({ documentKey: '=a{{ $json.id }}' }, [{ id: 1 }, { id: 2 }]);
		const { error } = await fixture.run(
			{
				resource: 'document',
				operation: 'disable',
				knowledgebaseId: byId(fixture.world.knowledgebaseId),
				sourceName: 's',
				documentKey: '=a{{ $json.id }}',
			},
			{ items: [{ json: {} }] },
		);
		expect(error?.message).toBe(
			'"Document Key" lacks a part: {{ $json.id }} gave nothing for this item',
		);
		expect(disabled()).toEqual([]);
	});
});

describe('what is there is taken as it is called', () => {
	const NAMES = [
		'docs/topics/null-safety.md',
		'reference/undefined/index.md',
		'undefined behavior.md',
	];

	it.each<[string, INodeParameters]>([
		['read', { documentKey: '={{ $json.path }}' }],
		['read beside text', { documentKey: '=repo/{{ $json.path }}' }],
		['read in other letters', { documentKey: '={{ $json.path.toLowerCase() }}' }],
		['read in pieces', { documentKey: "={{ $json.path.split('/').join(':') }}" }],
		['the name of the document', { name: '={{ $json.path }}' }],
	])('a file about a missing value, whose key is %s', async (_, parameters) => {
		await night(
			parameters,
			[...NAMES, 'gone.md'].map((path) => ({ path })),
		);
		const result = await night(
			parameters,
			NAMES.map((path) => ({ path })),
		);
		expect(column(result.items, 'outcome')).toEqual([
			...['unchanged', 'unchanged', 'unchanged', 'disabled'],
		]);
	});

	it.each<[string, INodeParameters, IDataObject, unknown]>([
		['a folder', { folder: '={{ $json.folder }}' }, { folder: 'undefined' }, 'undefined'],
		['an empty folder', { folder: '={{ $json.folder }}' }, { folder: '' }, null],
		['a folder that is null', { folder: '={{ $json.folder }}' }, { folder: null }, null],
		['no folder', { folder: '={{ $json.folder }}' }, {}, null],
		[
			'an empty part of a folder',
			{ folder: '={{ $json.a }}/{{ $json.b }}' },
			{ a: 'x', b: '' },
			'x',
		],
	])('%s', async (_, documentSettings, json, folder) => {
		const { error } = await night({ documentSettings }, [json], { onError: 'stopWorkflow' });
		expect(error).toBeUndefined();
		const names = documents().filter(({ sourceType }) => sourceType === 'folder');
		expect(names.map(({ name }) => name)).toEqual(folder === null ? [] : [folder]);
	});

	it('a number and a date beside text', async () => {
		const documentKey = '=v{{ $json.n }}, {{ DateTime.fromISO($json.day, { zone: "utc" }) }}';
		const { items } = await night({ documentKey }, [{ n: 0, day: '2026-01-31' }]);
		expect(column(items, 'key')).toEqual(['v0, 2026-01-31T00:00:00.000Z']);
	});
});

describe('a version', () => {
	const field = (documentVersion: string) => ({ documentSettings: { documentVersion } });

	const missing = (count: number, meaning = 'Until you correct it, content is compared.') =>
		`${count} document${count === 1 ? ' was' : 's were'} without a version: "Document Version" gave none that counts. ${meaning}`;

	it.each<[string, string, IDataObject]>([
		['a text made of nothing', '={{ String($json.md5) }}', {}],
		['a revision that is missing', '=v{{ $json.rev }}', {}],
		['a part that is missing', '={{ $json.etag }}-{{ $json.size }}', { etag: 'a' }],
		['an object beside text', '=v{{ $json.rev }}', { rev: { a: 1 } }],
		['an object', '={{ $json.rev }}', { rev: { a: 1 } }],
		['an empty part', '=v{{ $json.rev }}', { rev: '' }],
		['an invalid date', '={{ DateTime.fromISO($json.day).toFormat("yyyy") }}', {}],
		['a misspelt column', '={{ $json.updatedat }}', {}],
		['the word undefined', '={{ $json.rev }}', { rev: 'undefined' }],
		['the word null', '={{ $json.rev }}', { rev: 'null' }],
		['the word NaN', '={{ $json.rev }}', { rev: 'NaN' }],
		['the words Invalid DateTime', '={{ $json.rev }}', { rev: 'Invalid DateTime' }],
		['true or false', '={{ $json.active }}', { active: true }],
	])('is none that is %s: the content is compared, which a hint says', async (_, version, json) => {
		await night(field(version), [{ ...json, text: 'One' }]);
		const result = await night(field(version), [{ ...json, text: 'Two' }]);
		expect(column(result.items, 'outcome')).toEqual(['found']);
		expect(hintsOf(result)).toContain(missing(1));
		const again = await night(field(version), [{ ...json, text: 'Two' }]);
		expect(column(again.items, 'outcome')).toEqual(['unchanged']);
	});

	it('of a record may be a date, and is counted under the name of its field where it is missing', async () => {
		const run = async (records: unknown[]) =>
			await submit(
				{
					source: 'json',
					jsonBody: '={{ $json.records }}',
					documentKeyField: 'path',
					documentSettings: { documentVersionField: 'at' },
					mode: 'changed',
					sourceName: 's',
				},
				{ items: [{ json: { records: records as IDataObject[] } }] },
			);
		const record = (path: string, at: unknown) => ({ path, name: path, at });
		const day = new Date('2026-01-31T00:00:00Z');
		await run([record('a', day), record('b', 'null')]);
		const result = await run([record('a', '2026-01-31T00:00:00.000Z'), record('b', 'null')]);
		expect(column(result.items, 'outcome')).toEqual(['unchanged', 'unchanged']);
		expect(hintsOf(result)).toContain(
			'1 document was without a version: "Version Field" gave none that counts. Until you correct it, content is compared.',
		);
	});

	const find = async (documentVersion: string, rows: IDataObject[]) =>
		await findChanges({ documentKey: '={{ $json.id }}', documentVersion }, rows);

	it.each<[string, string, IDataObject]>([
		['that no item has', '={{ $json.updatedat }}', {}],
		['that is true or false', '={{ $json.active }}', { active: true }],
	])('%s lets all items pass in Find Changes, which a hint says', async (_, version, json) => {
		const items = [1, 2, 3].map((id) => ({ ...json, id }));
		const result = await find(version, items);
		expect(result.items).toHaveLength(3);
		expect(hintsOf(result)).toContain(missing(3, 'They pass until you correct it.'));
	});

	const FIXED =
		'"Document Version" is Fixed, so all documents have the same version and none would ever count as changed';

	it.each(['updated_at', '=updated_at', "={{ 'v1' }}"])(
		'that is the same for all is refused with what to do: %s',
		async (version) => {
			const two = [{ id: 1 }, { id: 2 }];
			for (const { error } of [
				await night(field(version), two, { onError: 'stopWorkflow' }),
				await find(version, two),
			]) {
				expect(error?.message).toContain(FIXED);
				expect(error?.description).toContain('Switch the field to Expression');
				expect(error?.description).toContain('Version Field');
			}
			expect(sent()).toEqual([]);
		},
	);

	const SHARED =
		'All 2 documents have the same version "page": while it stays, what changes in them is not seen. Check "Document Version".';

	it('that all documents share is told, unless it is a number or a date', async () => {
		const twoOf = async (types: string[]) =>
			hintsOf(
				await night(
					{ ...field('={{ $json.type }}'), documentKey: '={{ $json.id }}' },
					types.map((type, id) => ({ id, type })),
				),
			);
		expect(await twoOf(['page', 'page'])).toContain(SHARED);
		const items = [0, 1].map((id) => ({ id, type: 'page' }));
		expect(hintsOf(await find('={{ $json.type }}', items))).toContain(SHARED);
		for (const types of [
			['page', 'post'],
			['1', '1'],
			['', 'page'],
		])
			expect((await twoOf(types)).join()).not.toContain('same version');
	});

	it('may be the same where there is one document', async () => {
		const { items, hints } = await night(field('v1'), [{}]);
		expect(column(items, 'outcome')).toEqual(['found']);
		expect(hints.map(({ message }) => message).join()).not.toContain('without a version');
	});
});

describe('a Document Key that is Fixed', () => {
	const FIXED = /^"Document Key" is Fixed, so all documents have the same key .* \[item 0\]$/;
	const two = [{ t: 1 }, { t: 2 }];

	it.each(['path', '=path', "={{ 'path' }}"])(
		'is refused with what to do where a source has several documents: %s',
		async (documentKey) => {
			for (const { error } of [
				await night({ documentKey }, two),
				await night({ documentKey, mode: 'all' }, two, { onError: 'stopWorkflow' }),
				await findChanges({ documentKey }, two),
			]) {
				expect(error?.message).toMatch(FIXED);
				expect(error?.description).toContain('Switch the field to Expression');
				expect(error?.description).toContain('Key Field');
			}
			expect(fixture.sandbox.requests.all).toEqual([]);
		},
	);

	it.each<[string, INodeParameters, IDataObject[]]>([
		['there is one document', {}, [{}]],
		['each source has one', { sourceName: '=tenant-{{ $json.t }}' }, two],
	])('is taken where %s', async (_, parameters, rows) => {
		const { items } = await night({ documentKey: 'path', ...parameters }, rows);
		expect(column(items, 'outcome')).toEqual(rows.map(() => 'found'));
	});
});

describe('Metadata Rows', () => {
	const rows = (...content: string[]) => ({
		documentSettings: {
			metadataRows: { values: content.map((one, at) => ({ key: `k${at}`, content: one })) },
		},
	});

	const leftOut = (count: number) =>
		`Values of Metadata or Metadata Rows whose expression, or a part, gave nothing: ${count}. Left out: filters miss them.`;

	it('leave out a value that lacks a part, which a hint counts', async () => {
		const parameters = rows(
			...['={{ "dep-" + $json.none }}', '=dep-{{ $json.none }}', '={{ String($json.none) }}'],
			...['={{ $json.none }}', '={{ $json.there }}', '=dep-{{ $json.there }}', '={{ $json.list }}'],
		);
		const result = await night(parameters, [{ there: 'undefined', list: ['a'] }]);
		const stored = documents().find(({ name }) => name === 'n0.md');
		expect(stored?.metadata).toMatchObject({ k4: 'undefined', k5: 'dep-undefined', k6: ['a'] });
		expect(Object.keys(stored?.metadata ?? {})).not.toEqual(
			expect.arrayContaining([expect.stringMatching(/k[0-3]/)]),
		);
		expect(hintsOf(result)).toContain(leftOut(3));
		expect(hintsOf(result)).toContain(
			'Correct the expressions of these Metadata Rows: k0, k1, k2.',
		);
	});

	it('are named where no item has a value for them, as where a column is misspelt', async () => {
		const parameters = rows('={{ $json.departement }}', '={{ $json.team }}', 'fixed');
		const items = [{ team: 'a' }, { team: null }];
		const hint =
			'Metadata Rows without a value in any item: k0. Correct them, or filters miss them.';
		expect(hintsOf(await night(parameters, items))).toContain(hint);
		const given = await night(parameters, [...items, { departement: 'Sales' }]);
		expect(hintsOf(given).join()).not.toContain('Metadata Rows');
		const { documentSettings } = rows('={{ $json.departement }}');
		const beside = { documentSettings: { ...documentSettings, metadata: '{"k0": "Sales"}' } };
		expect(hintsOf(await night(beside, items)).join()).not.toContain('Metadata Rows');
	});

	it('and Metadata itself count where its expression gives nothing', async () => {
		const parameters = { documentSettings: { metadata: '={{ $json.meta }}' } };
		const result = await night(parameters, [{}, { meta: null }, { meta: { a: 1 } }, { meta: {} }]);
		expect(hintsOf(result)).toContain(leftOut(2));
		const fixed = await night({ documentSettings: { metadata: '' } }, [{}]);
		expect(hintsOf(fixed).join()).not.toContain('Metadata Rows');
	});
});

describe('Document Fields', () => {
	const fields = (value: Record<string, string>) => ({
		source: 'fields',
		documentFields: { mappingMode: 'defineBelow', value },
	});

	it.each([
		['folder', '={{ $json.none }}/Sales'],
		['fileUrl', '=https://a.example/{{ $json.none }}'],
		['id', '=doc-{{ $json.none }}'],
	])('refuse a %s that lacks a part', async (name, expression) => {
		const { error } = await night(fields({ name: 'a', [name]: expression }), [{}], {
			onError: 'stopWorkflow',
		});
		expect(error?.message).toContain('lacks a part: {{ $json.none }} gave nothing for this item');
		expect(sent()).toEqual([]);
	});

	it('may leave them empty', async () => {
		const none = '={{ $json.none }}';
		const value = { name: 'a', fileUrl: none, folder: none, id: none };
		const parameters = { ...fields(value), afterStoring: 'nothing' };
		const { error, items } = await night(parameters, [{}], { onError: 'stopWorkflow' });
		expect([error, column(items, 'name')]).toEqual([undefined, ['a']]);
	});
});

it('a source that is named by a part keeps its IDs: they are made of what n8n gives', async () => {
	const parameters = {
		sourceName: '=tenant-{{ $json.t }}',
		documentKey: "={{ 'doc' + $json.id }}",
	};
	const { items } = await night(parameters, [{ t: 7, id: 1 }]);
	const owner = keyNamespace(fixture.world.knowledgebaseId, 'tenant-7');
	expect(column(items, 'id')).toEqual([derivedId(owner, 'doc1')]);
});
