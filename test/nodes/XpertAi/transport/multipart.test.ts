import fc from 'fast-check';

import { multipartForm } from '../../../../nodes/XpertAi/transport/multipart';

const file = (content: Buffer, name = 'a.txt') => ({ name, mimeType: 'text/plain', content });

/** What a server would read off the form. */
async function readBack(form: FormData) {
	const sent = new Response(form);
	const received = await new Response(await sent.arrayBuffer(), {
		headers: { 'content-type': sent.headers.get('content-type') ?? '' },
	}).formData();
	return [...received.entries()];
}

describe('a multipart form', () => {
	it('holds exactly one file, in the part "file"', async () => {
		const parts = await readBack(multipartForm(file(Buffer.from('Grüße')), {}));
		expect(parts.map(([name]) => name)).toEqual(['file']);
		const received = parts[0]?.[1] as File;
		expect({ name: received.name, type: received.type }).toEqual({
			name: 'a.txt',
			type: 'text/plain',
		});
		expect(await received.text()).toBe('Grüße');
	});

	it('sends text as it is, and objects as JSON text', async () => {
		const parts = { purpose: 'chat', target: { kind: 'storage', list: [1] }, limit: 5 };
		const received = await readBack(multipartForm(file(Buffer.from('x')), parts));
		expect(received.slice(0, -1)).toEqual([
			['purpose', 'chat'],
			['target', '{"kind":"storage","list":[1]}'],
			['limit', '5'],
		]);
	});

	it('puts the file last, so that servers that stream know the other parts before it', () => {
		const form = multipartForm(file(Buffer.from('x')), { a: '1', b: '2' });
		expect([...form.keys()]).toEqual(['a', 'b', 'file']);
	});

	it('keeps names in any script', async () => {
		const [part] = await readBack(multipartForm(file(Buffer.from('x'), '文件 "1".txt'), {}));
		expect((part?.[1] as File).name).toBe('文件 "1".txt');
	});

	it('keeps every byte, also of a slice of a pooled buffer', async () => {
		await fc.assert(
			fc.asyncProperty(fc.uint8Array({ maxLength: 64 }), fc.nat(8), async (bytes, start) => {
				const slice = Buffer.from(bytes).subarray(start);
				const sent = multipartForm(file(slice), {}).get('file') as File;
				expect(Buffer.from(await sent.arrayBuffer())).toEqual(Buffer.from(slice));
			}),
		);
	});
});
