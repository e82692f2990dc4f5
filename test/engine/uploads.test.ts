import { createHash } from 'node:crypto';
import { type Server, type Socket, createServer } from 'node:net';

import { expectClosed, stopOnce, useFixture, watchOpenedFiles } from './support/fixture';
import { listen } from './support/listen';

const fixture = useFixture();
const { sent } = fixture;

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
		const [file] = sent('E16')[0]?.files ?? [];
		expect(file).toMatchObject({
			filename: 'résumé.bin',
			size,
			mimetype: 'application/octet-stream',
		});
		expect(sha256(file?.content ?? Buffer.from('missing'))).toBe(sha256(content));
		expect(items[0]?.json).toMatchObject({ originalName: 'résumé.bin', size });
	});

	it('of a file of documents n8n has deleted meanwhile says so', async () => {
		const id = 'filesystem-v2:workflows/w/executions/e/binary_data/gone';
		const gone = { ...(await storedText()), id };
		const knowledgebaseId = fixture.world.knowledgebaseId;
		const { error } = await fixture.run(
			{ resource: 'document', operation: 'submit', source: 'records', knowledgebaseId },
			{ items: [{ json: {}, binary: { data: gone } }] },
		);
		expect(error?.message).toMatch(
			/^"Input Binary Field" names "data", whose file "hello\.txt" is no longer in n8n \(.+\)\. Run the node that made it again/,
		);
		expect(sent().filter(({ method }) => method !== 'GET')).toEqual([]);
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
		expect(sent()[0]?.fields).toEqual({
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
		const [request] = sent('E12');
		expect(Number(request?.headers['content-length'])).toBeGreaterThan(11);
	});
});
