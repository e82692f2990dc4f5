import { FolderCreator, withParentFolder } from 'nodes/XpertAi/ingest/folders';
import type { DocumentRecord } from 'nodes/XpertAi/payloads/document';
import type { RequestOutcome } from 'nodes/XpertAi/transport/request';

import { calling } from '../../support/send';

const KB = '1ce4c698-25dd-471c-817d-94cd2c4cce13';
const DONE: RequestOutcome = { ok: true, status: 201, answer: [] };
const REFUSED: RequestOutcome = {
	ok: false,
	failure: { kind: 'status', status: 403, method: 'POST', path: '/bulk' },
};

interface Row {
	id: string;
	name: string;
	sourceType: string;
	parent?: { id: string };
}

/** Folders of a server that answers so, and the rows it was sent. */
function foldersOn(...outcomes: RequestOutcome[]) {
	const sent: Row[][] = [];
	const send = calling(({ body }) => {
		sent.push(JSON.parse(String(body)) as Row[]);
		return outcomes.shift() ?? DONE;
	});
	const folders = new FolderCreator(KB, { storePath: '/bulk', send });
	const make = async (...paths: string[]) =>
		await folders.createFor(paths.map((folder): DocumentRecord => ({ folder })));
	return { sent, make, names: () => sent.map((rows) => rows.map(({ name }) => name)) };
}

const parentOf = (folder: string, knowledgebaseId = KB) =>
	withParentFolder({ folder }, knowledgebaseId).parent as { id: string } | null;

describe('a document in a folder', () => {
	it('has the row of its path as parent, the same in every run', async () => {
		const { sent, make } = foldersOn();
		await make('Dept/Sales');
		const [[dept, sales] = []] = sent;
		expect([dept, sales]).toEqual([
			{ id: dept?.id, name: 'Dept', sourceType: 'folder' },
			{ id: sales?.id, name: 'Sales', sourceType: 'folder', parent: { id: dept?.id } },
		]);
		expect(parentOf('Dept/Sales')).toEqual({ id: sales?.id });
		expect(parentOf('Dept')).toEqual({ id: dept?.id });
		expect(parentOf('Dept/Sales', 'another')).not.toEqual({ id: sales?.id });
	});

	it.each([
		['Dept/Sales', '/Dept/Sales/'],
		['Dept/Sales', ' Dept / Sales '],
		['Dept/Sales', 'Dept//Sales'],
		['docs', './docs'],
		['docs', '../docs'],
		['docs/..a', 'docs/..a'],
		['\u00c4', 'A\u0308'],
	])('is in "%s"', (path, folder) => {
		expect(withParentFolder({ folder }, KB)).toEqual(withParentFolder({ folder: path }, KB));
		expect(withParentFolder({ folder }, KB).folder).toBe(path);
	});

	it('is in another than one of that name elsewhere or in other capitals', () => {
		const paths = ['A/C', 'B/C', 'C', 'c', 'A', 'B'];
		expect(new Set(paths.map((path) => parentOf(path)?.id)).size).toBe(paths.length);
	});

	it.each([
		['an empty folder', ''],
		['the root', '/'],
		['a folder above the root', '..'],
		['a folder that is null', null],
	])('has no parent with %s', (_, folder) => {
		expect(withParentFolder({ name: 'a', folder }, KB)).toEqual({
			name: 'a',
			folder: '',
			parent: null,
		});
	});

	it.each<[string, DocumentRecord]>([
		['without a folder', { name: 'a' }],
		['with a parent of its own', { folder: 'A', parent: { id: KB } }],
		['with an empty folder and no parent', { folder: '', parent: null }],
	])('is unchanged %s', (_, record) => {
		expect(withParentFolder(record, KB)).toBe(record);
	});
});

describe('the folders of a run', () => {
	it('are each created once, outer ones first', async () => {
		const { names, make } = foldersOn();
		await make('A/B', 'A/C', '', 'A/B');
		await make('A/B/D', 'A');
		await make('A/B/D');
		expect(names()).toEqual([['A', 'B', 'C'], ['D']]);
	});

	it('are created once for concurrent batches, none of which has to be in one', async () => {
		const { names, make } = foldersOn();
		expect(await make('')).toBeUndefined();
		expect(names()).toEqual([]);
		await Promise.all([make('A'), make('A/B'), make('A/B')]);
		expect(names()).toEqual([['A'], ['B']]);
	});

	it('return the failure, and are created by the next batch', async () => {
		const { names, make } = foldersOn(REFUSED);
		expect(await make('A')).toMatchObject({ status: 403 });
		expect(await make('A')).toBeUndefined();
		expect(names()).toEqual([['A'], ['A']]);
	});
});
