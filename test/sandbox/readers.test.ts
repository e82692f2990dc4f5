import { pick } from 'lodash';
import { SANDBOX_ASSISTANT_ID, SANDBOX_KNOWLEDGEBASE_ID } from 'sandbox';
import { upload } from './support/client';
import { workbook } from './support/recordedFiles';
import { LOCKED, SAMPLES } from './support/sampleFiles';
import { useSandbox } from './support/useSandbox';

const { sandbox, client } = useSandbox({ processMs: 0 });
const PATH = `/api/ai/knowledges/${SANDBOX_KNOWLEDGEBASE_ID}`;

const sample = (extension: string) => SAMPLES[extension] ?? '';

/** Uploads, stores and processes a file; the document at the end. */
async function processed(name: string, content: Buffer | string, type?: string) {
	const { id: storageFileId, url: fileUrl } = await upload(client, content, name);
	const document = { name, storageFileId, fileUrl, ...(type && { type }) };
	const { data } = await client.post<Array<{ id: string }>>(`${PATH}/bulk`, [document]);
	const { id = '' } = data[0] ?? {};
	await client.post(`${PATH}/process`, [id]);
	const stored = () => sandbox.store.documents.get(id);
	while (stored()?.status === 'running') await new Promise((resolve) => setTimeout(resolve, 5));
	return stored();
}

/** What the assistant that knows the documents answers, also from files that go with the question. */
async function asked(question: string, files: object[] = []): Promise<unknown> {
	const { threadId } = sandbox.store.putConversation({});
	const message = { input: { input: question, files } };
	const body = { assistant_id: SANDBOX_ASSISTANT_ID, input: { action: 'send', message } };
	const path = `/api/ai/threads/${threadId}/runs/wait`;
	return (await client.post<{ content: unknown }>(path, body)).data.content;
}

const MUGS = [
	['Product', 'Price'],
	['Walrus mug', 12.5],
	['Narwhal plate', 19],
];

const PAGE =
	'<html><head><title>Shop</title><style>p { color: red }</style></head><body><h1>Hours</h1><p>We open at <b>nine</b> &amp; close at five.</p></body></html>';

/** A file, a question about it, and the sentence that answers it. */
const READ: Array<[string, () => Buffer | string, string, string]> = [
	['word.docx', () => sample('.docx'), 'zebra password', 'The zebra password is quokkadocx.'],
	['slides.pptx', () => sample('.pptx'), 'penguin password', 'The penguin password is quokkapptx.'],
	['slides.pptx', () => sample('.pptx'), 'What do lemurs do?', 'Lemurs & others leap.'],
	['book.epub', () => sample('.epub'), 'Rottnest', 'Quokkas live on Rottnest Island.'],
	['paper.pdf', () => sample('.pdf'), 'elephant', 'The elephant password is quokkapdf.'],
	['shop.html', () => PAGE, 'When do you close?', 'We open at nine & close at five.'],
	['notes.md', () => '# Tea\n\nGreen tea steeps.', 'green tea', 'Green tea steeps.'],
	['notes.txt', () => 'Black tea steeps longer.', 'black tea', 'Black tea steeps longer.'],
	['list.json', () => '{"tea":"white"}', 'white', '{"tea":"white"}'],
];

describe('an assistant', () => {
	it.each(READ)('answers from %s', async (name, content, question, answer) => {
		expect(pick(await processed(name, content()), 'status', 'processMsg')).toEqual({
			status: 'finish',
			processMsg: '',
		});
		expect(await asked(question)).toContain(`According to "${name}": "${answer}"`);
	});

	it('answers from the rows of sheets, which are sent as text', async () => {
		await processed('prices.xlsx', workbook(MUGS), 'txt');
		await processed('parts.csv', 'part,price\ndrum,89 EUR', 'txt');
		expect(await asked('walrus')).toContain('"Product: Walrus mug, Price: 12.5"');
		expect(await asked('drum')).toContain('"drum,89 EUR"');
	});

	it.each([
		['word.docx', () => sample('.docx'), 'zebra', 'The zebra password is quokkadocx.'],
		['slides.pptx', () => sample('.pptx'), 'penguin', 'The penguin password is quokkapptx.'],
		['mugs.xlsx', () => workbook(MUGS), 'narwhal', 'Product: Narwhal plate, Price: 19'],
	])('answers from %s beside a question', async (name, content, question, answer) => {
		const form = new FormData();
		form.append('file', new Blob([content()]), name);
		const { data } = await client.post<{ fileId: string; status: string }>(
			'/api/ai/contexts/file',
			form,
		);
		expect(data.status).toBe('ready');
		expect(await asked(question, [pick(data, 'fileId')])).toContain(`"${answer}"`);
	});
});

describe('a file that cannot be found by its text', () => {
	const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
	it.each([
		['a broken DOCX', 'broken.docx', 'no text', /zip/],
		['a broken PPTX', 'broken.pptx', 'no text', /zip/],
		['a PPTX that is a DOCX inside', 'other.pptx', sample('.docx'), /no slides/],
		['a DOCX that is a PPTX inside', 'other.docx', sample('.pptx'), /docx file/],
		['a locked PDF', 'locked.pdf', LOCKED, /No password given/],
		['a workbook without a row', 'empty.xlsx', workbook([['Product', 'Price']]), /no text/],
		['an image', 'photo.png', PNG, /invalid byte sequence/],
		['an old Word file', 'old.doc', Buffer.from('d0cf11e000', 'hex'), /invalid byte sequence/],
	])('ends as an error: %s', async (_, name, content, reason) => {
		const type = name.endsWith('.xlsx') ? 'txt' : undefined;
		const document = await processed(name, content, type);
		expect(document).toMatchObject({ status: 'error', processMsg: expect.stringMatching(reason) });
		expect(sandbox.store.findable(String(document?.id))).toBeUndefined();
	});
});
