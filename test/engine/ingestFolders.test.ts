import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { answering } from './support/faults';
import { TEXTS, column, useIngest, isNote } from './support/ingest';

const { fixture, add, sent, submit } = useIngest();

/** What lies where: the folder of each document by its name. */
type Night = Record<string, string>;

const IN_FOLDERS: INodeParameters = {
	...TEXTS,
	documentKey: '={{ $json.name }}',
	documentSettings: { folder: '={{ $json.folder }}' },
};

const itemsOf = (night: Night) =>
	Object.entries(night).map(([name, folder]) => ({
		json: { name, folder, text: `About ${name}` },
	}));

const all = () => fixture.sandbox.store.documentsOf(fixture.world.knowledgebaseId);

const stored = () =>
	Object.fromEntries(
		all()
			.filter((document) => !isNote(document))
			.map(({ name, folder }) => [String(name).replace('.md', ''), folder]),
	);

const folderRows = () => all().filter(({ sourceType }) => sourceType === 'folder');

const bodies = () => sent('E3').map(({ body }) => body as IDataObject[]);

const night = async (what: Night, more: INodeParameters = {}) => {
	fixture.sandbox.requests.clear();
	const { items, error } = await submit({ ...IN_FOLDERS, ...more }, { items: itemsOf(what) });
	expect(error).toBeUndefined();
	return column(items, 'outcome');
};

describe('Folder', () => {
	it('makes the folders before the documents, and these are processed alone', async () => {
		const outcomes = await night({ a: 'Dept/Sales', b: 'Dept', c: '' });
		expect(outcomes).toEqual(['found', 'found', 'found']);
		expect(stored()).toEqual({ a: 'Dept/Sales', b: 'Dept', c: '' });
		expect(bodies().map((rows) => rows.map(({ name }) => name))).toEqual([
			['Dept', 'Sales'],
			['a.md', 'b.md', 'c.md'],
		]);
		const asked = sent().filter(({ endpoint = '' }) => /process|status/.test(endpoint));
		const isAsked = all().map(({ id, sourceType }) => [
			sourceType === 'folder',
			JSON.stringify(asked).includes(id),
		]);
		expect(new Set(isAsked.map(String))).toEqual(new Set(['true,false', 'false,true']));
		expect(folderRows().map(({ status }) => status as unknown)).toEqual([null, null]);
	});

	it('moves a document with the next run, whole and processed again, and leaves out what stays', async () => {
		const changed = { mode: 'changed' };
		await night({ a: 'A', b: 'A', c: 'B' }, changed);
		expect(await night({ a: 'B/C', b: 'A', c: '' }, changed)).toEqual([
			'found',
			'unchanged',
			'found',
		]);
		expect(stored()).toEqual({ a: 'B/C', b: 'A', c: '' });
		const documents = bodies()
			.flat()
			.filter((row) => !isNote(row));
		expect(documents.map(({ name, fileUrl }) => [name, typeof fileUrl])).toEqual([
			['a.md', 'string'],
			['c.md', 'string'],
		]);
		expect(documents[1]).toMatchObject({ parent: null });
		expect(await night({ a: 'B/C', b: 'A', c: '' }, changed)).toEqual(
			Array.from({ length: 3 }, () => 'unchanged'),
		);
	});

	it('is the directory of a file, below the one that is given', async () => {
		const file = async (directory?: string) => ({
			json: {},
			binary: {
				data: {
					...(await fixture.engine.binary(Buffer.from('hello'), 'a.md', 'text/markdown')),
					directory,
				},
			},
		});
		const from = async (directory: string | undefined, settings: INodeParameters) => {
			const documentSettings = { folderFromDirectory: true, ...settings };
			const parameters = { source: 'files', documentSettings, documentKey: '={{ "a" }}' };
			await submit(parameters, { items: [await file(directory)] });
			return Object.values(stored());
		};
		expect(await from('/data/handbook', {})).toEqual(['data/handbook']);
		expect(await from('C:\\data', {})).toEqual(['data']);
		expect(await from('data\\handbook', { folder: 'All' })).toEqual(['All/data/handbook']);
		expect(await from(undefined, { folder: 'All' })).toEqual(['All']);
		expect(await from(undefined, { folder: '' })).toEqual(['']);
	});

	it('counts in columns and JSON as well, where a parent of its own comes first', async () => {
		await submit(
			{ documentFields: { mappingMode: 'autoMapInputData', value: null, schema: [] } },
			{ items: [{ json: { name: 'a', folder: 'A' } }] },
		);
		const [row] = folderRows();
		await submit({
			source: 'json',
			jsonBody: JSON.stringify([
				{ name: 'b', folder: 'A/B' },
				{ name: 'c', folder: 'X', parent: { id: row?.id } },
			]),
		});
		expect(stored()).toEqual({ a: 'A', b: 'A/B', c: 'A' });
	});

	it('that cannot be made sends no document, and says why', async () => {
		const body = { message: 'Access denied to workspace', error: 'Forbidden', statusCode: 403 };
		add(answering('E3', 403, { body }));
		const { items, error } = await submit(IN_FOLDERS, { items: itemsOf({ a: 'A' }) });
		expect(items).toEqual([]);
		expect(error?.message).toContain('Access denied to workspace');
		expect(error?.description).toContain('belongs to another workspace');
		expect(stored()).toEqual({});
	});
});
