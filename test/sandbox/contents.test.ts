import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Sandbox } from '../../sandbox';
import { upload } from './support/client';
import { useFreshSandbox } from './support/useSandbox';

const MB = 1024 * 1024;

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const served = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer());

/** What the sandbox holds of an uploaded file. */
function heldOf({ store: { contents, files } }: Sandbox, id: string) {
	return contents.at(String(files.get(id)?.file));
}

describe('the bytes of an uploaded file', () => {
	const { sandbox, client } = useFreshSandbox(() => ({ processMs: 1 }));

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
});
