import crypto from 'crypto';
import fc from 'fast-check';

import { readyForm } from '../../../../nodes/XpertAi/transport/readyForm';
import { startSandbox } from '../../../../sandbox';
import type { Sandbox } from '../../../../sandbox';

const NAMES = ['hello.txt', '文件.txt', 'résumé (1).bin', '🦦 & 100 %.md', "it's; filename=a"];

/** A file whose content is a text. */
const textFile = (name: string, text = 'x') => ({
	name,
	mimeType: 'text/plain',
	content: Buffer.from(text),
});

/** The text of a form, with what stands for its boundary. */
function written(...form: Parameters<typeof readyForm>): string {
	const { contentType, bytes } = readyForm(...form);
	const [, boundary = ''] = contentType.split('boundary=');
	return bytes.toString().replaceAll(boundary, 'BOUNDARY');
}

describe('a form that is ready', () => {
	it('is written as servers were recorded to take it', () => {
		expect(written(textFile('文件.txt', 'hello world'), { target: '{"kind":"storage"}' })).toBe(
			[
				'--BOUNDARY',
				'Content-Disposition: form-data; name="target"',
				'',
				'{"kind":"storage"}',
				'--BOUNDARY',
				'Content-Disposition: form-data; name="file"; filename="文件.txt"',
				'Content-Type: text/plain',
				'',
				'hello world',
				'--BOUNDARY--',
				'',
			].join('\r\n'),
		);
	});

	it('lets no name end its own header', () => {
		const text = written(textFile('a"\r\nContent-Type: evil/1\r\n\r\n.txt'), {});
		expect(text).toContain('filename="a%22%0D%0AContent-Type: evil/1%0D%0A%0D%0A.txt"\r\n');
	});

	it.each([
		['Text/HTML; charset=UTF-8', 'text/html; charset=utf-8'],
		['text/plain\r\nX: y', 'application/octet-stream'],
		['', 'application/octet-stream'],
	])('names the type %j as a File would: %s', (mimeType, type) => {
		expect(new File([], 'a', { type: mimeType }).type || 'application/octet-stream').toBe(type);
		expect(written({ ...textFile('a'), mimeType }, {})).toContain(
			`\r\nContent-Type: ${type}\r\n\r\n`,
		);
	});

	it.each([
		['its content', textFile('a', 'a -00-0-0-0- b'), {}],
		['its name', textFile('a -00-0-0-0- b'), {}],
		['a text beside it', textFile('a'), { purpose: '-00-0-0-0-' }],
	])('has a boundary that is not in %s', (_, file, texts) => {
		const made = jest.spyOn(crypto, 'randomUUID').mockReturnValueOnce('-00-0-0-0-');
		try {
			expect(readyForm(file, texts).contentType).not.toContain('-00-0-0-0-');
			expect(made).toHaveBeenCalledTimes(2);
		} finally {
			made.mockRestore();
		}
	});
});

describe('a server', () => {
	let sandbox: Sandbox;
	beforeAll(async () => {
		sandbox = await startSandbox();
	});
	afterAll(async () => {
		await sandbox.close();
	});

	/** What arrives of a body, sent to E16. */
	const arrived = async (body: Buffer | FormData, headers: Record<string, string> = {}) => {
		const response = await fetch(`${sandbox.url}/api/ai/v1/file`, {
			method: 'POST',
			headers: { ...headers, Authorization: `Bearer ${sandbox.accessToken}` },
			body,
		});
		await response.text();
		const { fields, files } = sandbox.requests.of('E16').at(-1) ?? {};
		return { status: response.status, fields, files };
	};

	it('reads any file and any texts off it as off a form that its client writes', async () => {
		const text = fc.string({ unit: 'binary' });
		const name = fc.oneof(fc.string({ unit: 'binary', minLength: 1 }), fc.constantFrom(...NAMES));
		await fc.assert(
			fc.asyncProperty(name, fc.uint8Array(), text, async (fileName, bytes, purpose) => {
				const content = Buffer.from(bytes);
				const form = new FormData();
				form.append('purpose', purpose);
				form.append('file', new File([content], fileName, { type: 'text/plain' }));
				const file = { name: fileName, mimeType: 'text/plain', content };
				const ready = readyForm(file, { purpose });
				expect(await arrived(ready.bytes, { 'Content-Type': ready.contentType })).toEqual(
					await arrived(form),
				);
			}),
		);
	});

	it.each(NAMES)('gets the bytes and the name of %s', async (name) => {
		const { bytes, contentType } = readyForm(textFile(name, 'Grüße'), {});
		expect(await arrived(bytes, { 'Content-Type': contentType })).toMatchObject({
			status: 201,
			files: [{ field: 'file', filename: name, content: Buffer.from('Grüße') }],
		});
	});
});
