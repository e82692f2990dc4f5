import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Sandbox } from '../../sandbox';
import { upload } from './support/client';
import { ask, newKnowledgebase, process, store } from './support/knowledge';
import { useFreshSandbox } from './support/useSandbox';

const MB = 1024 * 1024;
const ID = '44444444-4444-4444-8444-444444444444';

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const served = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer());

/** What the sandbox holds of an uploaded file. */
function heldOf({ store: { contents, files } }: Sandbox, id: string) {
	return contents.at(String(files.get(id)?.file));
}

describe('the bytes of an uploaded file', () => {
	const { sandbox, client } = useFreshSandbox(() => ({ processMs: 1 }));

	it('are in memory when they are few', async () => {
		const bytes = randomBytes(100_000);
		const { id } = await upload(client, bytes);
		expect(heldOf(sandbox, id)).toEqual({ size: 100_000, head: bytes });
		expect(sandbox.requests.of('E16')[0]?.files?.[0]?.content).toBe(heldOf(sandbox, id)?.head);
	});

	it('are on disk when they are many, and are served as they came', async () => {
		const bytes = randomBytes(6 * MB + 1);
		const { id, url } = await upload(client, bytes);
		expect(sandbox.store.files.get(id)?.size).toBe(bytes.length);
		const held = heldOf(sandbox, id);
		expect(held?.head.equals(bytes.subarray(0, 65_536))).toBe(true);
		expect(held?.head.buffer.byteLength).toBeLessThan(MB);
		expect(sandbox.requests.of('E16')[0]?.files?.[0]).not.toHaveProperty('content');
		expect(sha256(await served(url))).toBe(sha256(bytes));
	});

	it('are gone from disk with the file, with a reset and at the end', async () => {
		const bytes = randomBytes(5 * MB);
		const { storageFileId = '' } = await upload(client, bytes, 'a.txt', '/api/ai/contexts/file');
		const one = heldOf(sandbox, storageFileId)?.path ?? '';
		const other = heldOf(sandbox, (await upload(client, bytes)).id)?.path ?? '';
		expect([existsSync(one), existsSync(other)]).toEqual([true, true]);
		await client.delete(`/api/ai/contexts/file/${storageFileId}`);
		expect([existsSync(one), existsSync(other)]).toEqual([false, true]);
		sandbox.reset();
		expect(existsSync(dirname(other))).toBe(false);
		const { id } = await upload(client, bytes);
		const directory = dirname(heldOf(sandbox, id)?.path ?? '');
		expect(existsSync(directory)).toBe(true);
		await sandbox.close();
		expect(existsSync(directory)).toBe(false);
	});

	it('are read at their beginning when a long text is processed', async () => {
		const kb = await newKnowledgebase(client);
		const text = `The gate code is amber.\n\n${'Nothing to see here.\n\n'.repeat(300_000)}`;
		const { id: storageFileId, url: fileUrl } = await upload(client, text);
		await store(client, kb, [{ id: ID, name: 'long.txt', storageFileId, fileUrl }]);
		expect(await process(client, kb, [ID])).toMatchObject([{ status: 'finish' }]);
		expect(await ask(client, 'gate code')).toBe(
			'According to "long.txt": "The gate code is amber."',
		);
	});
});

describe('without contents, of an uploaded file', () => {
	const { sandbox, client } = useFreshSandbox(() => ({ processMs: 1, keepContents: false }));

	it('no more is kept than the first 64 kB', async () => {
		const bytes = randomBytes(6 * MB);
		const { id, url } = await upload(client, bytes);
		expect(sandbox.store.files.get(id)?.size).toBe(bytes.length);
		expect(heldOf(sandbox, id)?.path).toBeUndefined();
		expect(await served(url)).toEqual(bytes.subarray(0, 65_536));
		expect(sandbox.requests.of('E16')[0]?.files?.[0]).not.toHaveProperty('content');
	});

	it('these can be processed and found', async () => {
		const kb = await newKnowledgebase(client);
		const text = `The gate code is amber. ${'Nothing to see here. '.repeat(10_000)}`;
		const { id: storageFileId, url: fileUrl } = await upload(client, text, 'gate.md');
		await store(client, kb, [{ id: ID, name: 'gate.md', storageFileId, fileUrl }]);
		expect(await process(client, kb, [ID])).toMatchObject([{ status: 'finish' }]);
		expect(await ask(client, 'gate code')).toContain('"The gate code is amber."');
		expect(sandbox.store.documents.get(ID)).not.toHaveProperty('processingHash');
	});

	it('what a disabled document says is kept, as clients keep notes there', async () => {
		const kb = await newKnowledgebase(client);
		await store(client, kb, [{ id: ID, name: 'note', disabled: true, processMsg: 'remember' }]);
		expect(sandbox.store.documents.get(ID)).toMatchObject({
			disabled: true,
			processMsg: 'remember',
		});
	});
});
