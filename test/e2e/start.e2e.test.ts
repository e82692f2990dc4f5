import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { requireSuccess, runCommand } from 'host/command';
import { projectRoot } from 'host/paths';
import { freePort, requireFreePort } from 'host/ports';
import { freshProject, nothingRunsIn, NpmStart } from './support/npmStart';

const folder = mkdtempSync(join(tmpdir(), 'xpertai-start-'));
const userFolder = join(folder, 'home');

beforeAll(async () => {
	const tsc = join('node_modules', 'typescript', 'bin', 'tsc');
	const compile = await runCommand(process.execPath, [tsc, '-p', 'host/tsconfig.json'], {
		cwd: projectRoot,
	});
	requireSuccess(compile, 'Compiling the host did not work');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Flags with which a start takes nobody's ports and data. */
async function flags(): Promise<{ ports: number[]; args: string[] }> {
	const ports = [await freePort(), await freePort()];
	const [port, sandboxPort] = ports.map(String);
	const ofPorts = ['--port', `${port}`, '--sandbox-port', `${sandboxPort}`];
	return { ports, args: [...ofPorts, '--user-folder', userFolder] };
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
