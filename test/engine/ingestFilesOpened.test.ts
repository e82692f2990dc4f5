import type { INodeExecutionData } from 'n8n-workflow';

import { watchOpenedFiles } from './support/fixture';
import { column, useIngest } from './support/ingest';

const { fixture, sent, submit } = useIngest();

afterEach(() => jest.restoreAllMocks());

const LARGE = 300_000;

/** Files that n8n keeps on disk. A large one is not held in memory from reading it to sending it. */
const FILES: Record<string, [fileName: string, mimeType: string, content: Buffer]> = {
	'a text': ['a.md', 'text/markdown', Buffer.from('Größe')],
	'a text in another charset': [
		'a.txt',
		'text/plain; charset=windows-1252',
		Buffer.from('Gr\xf6\xdfe', 'latin1'),
	],
	'a text whose charset is wrong': ['a.txt', 'text/plain; charset=us-ascii', Buffer.from('Größe')],
	'a PDF': ['a.pdf', 'application/pdf', Buffer.from('%PDF-1.7')],
	'a large text': ['a.md', 'text/markdown', Buffer.alloc(LARGE, 'ä')],
	'a large text in another charset': [
		'a.txt',
		'text/plain; charset=windows-1252',
		Buffer.alloc(LARGE, 'ä', 'latin1'),
	],
	'a large PDF': ['a.pdf', 'application/pdf', Buffer.from('%PDF-1.7'.padEnd(LARGE))],
};

/** How often n8n opens the file of the item in one run, and what becomes of its document. */
async function openedIn(items: INodeExecutionData[], parameters: object) {
	const opened = watchOpenedFiles();
	const submitted = { source: 'files', afterStoring: 'nothing', ...parameters };
	const result = await submit(submitted, { items });
	expect(result.error).toBeUndefined();
	return [column(result.items, 'outcome'), opened.length];
}

describe.each(Object.entries(FILES))('of %s', (name, [fileName, mimeType, content]) => {
	const isLarge = name.includes('large');
	let items: INodeExecutionData[];
	beforeEach(async () => {
		const data = await fixture.engine.binary(content, fileName, mimeType);
		items = [{ json: { etag: '1' }, binary: { data } }];
	});

	it('is opened once to compare it, and once more to send it', async () => {
		const changed = { mode: 'changed' };
		expect(await openedIn(items, { ...changed, options: { dryRun: true } })).toEqual([
			[undefined],
			1,
		]);
		jest.restoreAllMocks();
		expect(await openedIn(items, changed)).toEqual([['stored'], 2]);
		jest.restoreAllMocks();
		expect(await openedIn(items, changed)).toEqual([['unchanged'], 1]);
		expect(sent('E16')).toHaveLength(1);
	});

	it('is opened once to send it, or twice if it is large', async () => {
		expect(await openedIn(items, { mode: 'all' })).toEqual([['stored'], isLarge ? 2 : 1]);
		jest.restoreAllMocks();
		const versioned = {
			mode: 'changed',
			documentSettings: { documentVersion: '={{ $json.etag }}' },
		};
		expect(await openedIn(items, versioned)).toEqual([['stored'], isLarge ? 2 : 1]);
		jest.restoreAllMocks();
		expect(await openedIn(items, versioned)).toEqual([['unchanged'], 0]);
	});
});
