import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { missingBuildTools, nativeBuildAdvice } from '../../host/buildTools';
import { readWorkflowFile, toNewWorkflow, wantsActivation } from '../../host/examples';
import { readOptions } from '../../host/options';
import { freePort, LOOPBACK, requireFreePort } from '../../host/ports';
import { doOnce, hashFiles } from '../../host/stamp';

const folder = mkdtempSync(join(tmpdir(), 'xpertai-host-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the messages of npm start', () => {
	it('names the flag of a port that is taken', async () => {
		const port = await freePort();
		const server = createServer();
		await new Promise<void>((resolve) => server.listen(port, LOOPBACK, () => resolve()));
		await expect(requireFreePort(port, 'n8n', '--port')).rejects.toThrow(
			new RegExp(`n8n needs port ${port} .* is using it[^]*--port ${port + 10}`),
		);
		await new Promise((resolve) => server.close(resolve));
		await expect(requireFreePort(port, 'n8n', '--port')).resolves.toBeUndefined();
	});

	it('names the build tools that are missing and how to get them', () => {
		const missing = missingBuildTools([
			{ name: 'Node', commands: ['no-such-command', 'node'] },
			{ name: 'a C++ compiler', commands: ['no-such-compiler'] },
		]);
		expect(missing).toEqual(['a C++ compiler']);
		expect(nativeBuildAdvice(missing)).toMatch(/missing: a C\+\+ compiler[^]*apt-get install/);
	});

	it('reads flags before the environment and refuses what is no port', () => {
		const env = { XPERTAI_N8N_PORT: '6000', XPERTAI_SANDBOX_PORT: '6001' };
		expect(readOptions(['--port', '7000'], env)).toMatchObject({ port: 7000, sandboxPort: 6001 });
		expect(() => readOptions(['--port', '0'], {})).toThrow('--port takes a port number');
		expect(() => readOptions(['--prot', '1'], {})).toThrow(/--prot[^]*npm start/);
	});
});

describe('work that is done once', () => {
	it('is done again when it was interrupted or its input has changed, and not otherwise', async () => {
		const stamp = join(folder, 'stamp');
		const source = join(folder, 'source.ts');
		const work = jest.fn().mockRejectedValueOnce(new Error('interrupted'));
		const attempt = async () => await doOnce(stamp, hashFiles(folder, [source]), work);
		writeFileSync(source, '1');
		await expect(attempt()).rejects.toThrow('interrupted');
		expect(await attempt()).toBe(true);
		expect(await attempt()).toBe(false);
		writeFileSync(source, '2');
		expect(await attempt()).toBe(true);
		expect(work).toHaveBeenCalledTimes(3);
	});
});

describe('an example', () => {
	it('gets the ids of the credentials it names and loses what belongs to another n8n', () => {
		const path = join(folder, 'example.json');
		const credentials = {
			xpertAiApi: { id: 'theirs', name: 'Known' },
			other: { id: 'o', name: 'Unknown' },
		};
		const webhook = {
			name: 'Hook',
			type: 'n8n-nodes-base.webhook',
			webhookId: 'theirs',
			credentials,
		};
		const exported = { id: '1', versionId: '2', name: 'E', nodes: [webhook], connections: {} };
		writeFileSync(path, JSON.stringify(exported));
		const file = readWorkflowFile(path);
		expect(wantsActivation(file)).toBe(true);
		expect(toNewWorkflow(file, [{ id: 'ours', name: 'Known' }])).toEqual({
			name: 'E',
			nodes: [
				{
					...webhook,
					webhookId: expect.stringMatching(/^[0-9a-f-]{36}$/),
					credentials: { xpertAiApi: { id: 'ours', name: 'Known' }, other: credentials.other },
				},
			],
			connections: {},
			settings: {},
			pinData: {},
		});
	});
});
