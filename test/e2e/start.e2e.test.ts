import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { requireSuccess, runCommand } from '../../host/command';
import { projectRoot } from '../../host/paths';
import { freePort, LOOPBACK, requireFreePort } from '../../host/ports';
import { freshProject, nothingRunsIn, NpmStart } from './support/npmStart';

const folder = mkdtempSync(join(tmpdir(), 'xpertai-start-'));
const userFolder = join(folder, 'home');

beforeAll(async () => {
	const tsc = join('node_modules', 'typescript', 'bin', 'tsc');
	const compile = await runCommand(process.execPath, [tsc, '-p', 'host/tsconfig.json'], {
		cwd: projectRoot,
	});
	requireSuccess(compile, 'Compiling the host did not work');
}, 240_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Flags with which a start takes nobody's ports and data. */
async function flags(): Promise<{ ports: number[]; args: string[] }> {
	const ports = [await freePort(), await freePort()];
	const [port, sandboxPort] = ports.map(String);
	const args = [
		'--port',
		`${port}`,
		'--sandbox-port',
		`${sandboxPort}`,
		'--user-folder',
		userFolder,
	];
	return { ports, args };
}

describe('Ctrl-C in npm start', () => {
	it('ends an installation, which shows progress from the beginning and is not taken for done', async () => {
		const project = freshProject(join(folder, 'project'));
		const start = new NpmStart(project, (await flags()).args);
		await start.says(/npm looks through the list of \d+ packages|\d+ fetched/);
		expect(await start.pressCtrlC()).toBe(0);
		expect(start.output).toMatch(/Ending; the next npm start goes on from here\n$/);
		await nothingRunsIn(project);
		expect(existsSync(join(project, '.host', 'n8n', '.modules-installed'))).toBe(false);
	});

	it.each(['Starting n8n', 'Ready'])('ends n8n and the sandbox after "%s"', async (words) => {
		const { ports, args } = await flags();
		const start = new NpmStart(projectRoot, args);
		await start.says(new RegExp(words));
		expect(await start.pressCtrlC()).toBe(0);
		expect(start.output).toMatch(/Ending n8n and the sandbox\n$/);
		await nothingRunsIn(userFolder);
		for (const port of ports) {
			await expect(requireFreePort(port, 'n8n', '--port')).resolves.toBeUndefined();
		}
	});
});

describe('a port that is taken', () => {
	it.each([
		['n8n', '--port', 0],
		['The sandbox', '--sandbox-port', 1],
	])('of %s ends npm start at once, and %s is named', async (whose, flag, index) => {
		const { ports, args } = await flags();
		const server = createServer();
		await new Promise<void>((resolve) => server.listen(ports[index], LOOPBACK, () => resolve()));
		const start = new NpmStart(projectRoot, args);
		expect(await start.end()).toBe(1);
		expect(start.output).toContain(`${whose} needs port ${ports[index]} on 127.0.0.1, but another`);
		expect(start.output).toContain(`npm start -- ${flag} `);
		await new Promise((resolve) => server.close(resolve));
	});
});
