import { createHash } from 'node:crypto';
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';

import { expectClosed, stopOnce, useFixture, watchOpenedFiles } from './support/fixture';
import { listen } from './support/listen';

const fixture = useFixture();

const storedText = async () =>
	await fixture.engine.binary(Buffer.from('hello world'), 'hello.txt', 'text/plain');

const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex');

describe('an upload', () => {
	it.each([0, 1, 65_537, 1_000_000])('of %i bytes arrives as it was', async (size) => {
		const content = Buffer.alloc(size, 'abcdefg');
		const binary = await fixture.engine.binary(content, 'résumé.bin', 'application/octet-stream');
		const { items, error } = await fixture.run(
			{ resource: 'file', operation: 'create' },
			{ items: [{ json: {}, binary: { data: binary } }] },
		);
		expect(error).toBeUndefined();
		const [file] = fixture.sandbox.requests.of('E16')[0]?.files ?? [];
		expect(file).toMatchObject({
			filename: 'résumé.bin',
			size,
			mimetype: 'application/octet-stream',
		});
		expect(sha256(file?.content ?? Buffer.from('missing'))).toBe(sha256(content));
		expect(items[0]?.json).toMatchObject({ originalName: 'résumé.bin', size });
	});

	it('of a file without a name gets that of its field, as servers take no part without one', async () => {
		const binary = await storedText();
		const { items } = await fixture.run(
			{ resource: 'file', operation: 'create', binaryPropertyName: 'scan' },
			{ items: [{ json: {}, binary: { scan: { ...binary, fileName: '' } } }] },
		);
		expect(items[0]?.json).toMatchObject({ originalName: 'scan' });
	});

	it.each([
		['an upload', () => ({ resource: 'file', operation: 'create' })],
		[
			'a file of documents',
			() => ({
				resource: 'document',
				operation: 'submit',
				options: { afterStoring: 'nothing' },
				source: 'records',
				knowledgebaseId: fixture.world.knowledgebaseId,
			}),
		],
	])('of a file n8n has deleted meanwhile says so: %s', async (_, parameters) => {
		const id = 'filesystem-v2:workflows/w/executions/e/binary_data/gone';
		const gone = { ...(await storedText()), id };
		const { error } = await fixture.run(parameters(), {
			items: [{ json: {}, binary: { data: gone } }],
		});
		expect(error?.message).toMatch(
			/^"Input Binary Field" names "data", whose file "hello\.txt" is no longer in n8n \(.+\)\. Run the node that made it again/,
		);
		expect(fixture.sandbox.requests.all.filter(({ method }) => method !== 'GET')).toEqual([]);
	});

	describe('of which the server reads only the beginning', () => {
		let opened: ReturnType<typeof watchOpenedFiles>;
		let sockets: Socket[];
		let server: Server;
		let baseUrl: string;
		beforeEach(async () => {
			opened = watchOpenedFiles();
			sockets = [];
			server = createServer((socket) => sockets.push(socket));
			baseUrl = `http://127.0.0.1:${await listen(server)}`;
		});
		afterEach(() => {
			sockets.forEach((socket) => socket.destroy());
			server.close();
			jest.restoreAllMocks();
		});

		const upload = async (options?: Parameters<typeof fixture.run>[1]) => {
			const content = Buffer.alloc(20_000_000);
			const data = await fixture.engine.binary(content, 'a.bin', 'application/octet-stream');
			return await fixture.run(
				{ resource: 'file', operation: 'create' },
				{ items: [{ json: {}, binary: { data } }], credential: { baseUrl }, ...options },
			);
		};

		it('leaves no file open', async () => {
			server.on('connection', (socket) => {
				socket.on('data', () => opened.length > 0 && socket.destroy());
			});
			const { error } = await upload();
			expect(error?.message).toMatch(/^The server could not be reached/);
			await expectClosed(opened);
		});

		it('leaves no file open when it is stopped', async () => {
			const stop = stopOnce(() => sockets.length > 0 && opened.length > 0);
			const { run } = await upload({ onStart: stop.onStart });
			expect(run.status).toBe('canceled');
			await expectClosed(opened);
		});
	});

	it.each(['file', 'fileContext'])('takes further parts as JSON: %s', async (resource) => {
		const additionalFieldsJson = '{"target":{"kind":"storage"},"newer":"x"}';
		const call = { resource, operation: 'create', additionalFields: { target: '{"a":1}' } };
		await fixture.run({ ...call, options: { additionalFieldsJson } });
		expect(fixture.sandbox.requests.all[0]?.fields).toEqual({
			target: '{"a":1,"kind":"storage"}',
			newer: 'x',
		});
		const { error } = await fixture.run({
			...call,
			options: { additionalFieldsJson: '{"file":1}' },
		});
		expect(error?.message).toContain('"Additional Fields (JSON)" at file is what the node sets');
	});

	it('announces its length, so that proxies need not buffer it', async () => {
		await fixture.run({ resource: 'fileContext', operation: 'create' });
		const [request] = fixture.sandbox.requests.of('E12');
		expect(Number(request?.headers['content-length'])).toBeGreaterThan(11);
	});

	it('names the IDs that Delete and a document need', async () => {
		const file = await fixture.run({ resource: 'file', operation: 'create' });
		const context = await fixture.run({ resource: 'fileContext', operation: 'create' });
		expect(file.items[0]?.json.id).toEqual(expect.any(String));
		expect(context.items[0]?.json.storageFileId).toEqual(expect.any(String));
	});
});
