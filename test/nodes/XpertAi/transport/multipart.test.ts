import fc from 'fast-check';

import { multipartBody } from 'nodes/XpertAi/transport/multipart';

/** What a server would read off a multipart body. */
async function readBack(body: FormData): Promise<Array<[string, File | string]>> {
	const sent = new Response(body);
	const received = await new Response(await sent.arrayBuffer(), {
		headers: { 'content-type': sent.headers.get('content-type') ?? '' },
	}).formData();
	return [...received.entries()];
}

const file = (content: Buffer, name = 'a.txt') => ({ name, mimeType: 'text/plain', content });

/** The same content, as a file that n8n keeps on disk. */
const onDisk = (content: Buffer) => ({
	...file(content),
	content: {
		size: content.length,
		open: async function* () {
			yield content;
		},
	},
});

describe.each([
	['a small file in memory', file],
	['a file on disk', onDisk],
])('a multipart body of %s', (_, fileOf) => {
	it('holds exactly one file, in the part "file"', async () => {
		const parts = await readBack(multipartBody(fileOf(Buffer.from('Grüße')), {}));
		expect(parts.map(([name]) => name)).toEqual(['file']);
		const received = parts[0]?.[1] as File;
		expect({ name: received.name, type: received.type }).toEqual({
			name: 'a.txt',
			type: 'text/plain',
		});
		expect(await received.text()).toBe('Grüße');
	});

	it('sends text as it is, objects as JSON text, and the file last, as some servers stream', async () => {
		const parts = { purpose: 'chat', target: { kind: 'storage', list: [1] }, limit: 5 };
		const received = await readBack(multipartBody(fileOf(Buffer.from('x')), parts));
		expect(received.slice(0, -1)).toEqual([
			['purpose', 'chat'],
			['target', '{"kind":"storage","list":[1]}'],
			['limit', '5'],
		]);
	});
});

describe('a multipart body', () => {
	it('keeps names in any script', async () => {
		const [part] = await readBack(multipartBody(file(Buffer.from('x'), '文件 "1".txt'), {}));
		expect((part?.[1] as File).name).toBe('文件 "1".txt');
	});

	it('keeps every byte, also of a slice of a pooled buffer', async () => {
		await fc.assert(
			fc.asyncProperty(fc.uint8Array({ maxLength: 64 }), fc.nat(8), async (bytes, start) => {
				const slice = Buffer.from(bytes).subarray(start);
				const [part] = await readBack(multipartBody(file(slice), {}));
				expect(Buffer.from(await (part?.[1] as File).arrayBuffer())).toEqual(Buffer.from(slice));
			}),
		);
	});
});
