import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { runCommand } from 'host/command';
import { PACKAGE_NAME, projectRoot } from 'host/paths';
import { freshUserFolder } from '../e2e/support/userFolder';
import { nodesHere, packagesIn, type } from './support/console';
import { expectNodesIn } from './support/nodeTypes';
import { publishedNode } from './support/publishedNode';
import { toolsFolder } from './support/tools';

const DOCKER = join(projectRoot, 'docker');
const COMPOSE = ['docker-compose.yml', 'docker-compose.queue.yml'];
const dockerfile = readFileSync(join(DOCKER, 'Dockerfile'), 'utf8');

describe('the files for Docker', () => {
	it('follow the specification of Compose and the advice of a linter', async () => {
		const linter = join(toolsFolder, 'node_modules', 'dclint', 'bin', 'dclint.cjs');
		const args = [linter, '--max-warnings', '0', ...COMPOSE];
		const { code, output } = await runCommand(process.execPath, args, { cwd: DOCKER });
		expect([code, output.trim()]).toEqual([0, '']);
	});

	it('are a Dockerfile that a linter has nothing against', async () => {
		const script =
			'const { validate } = require("dockerfile-utils");' +
			'const text = require("fs").readFileSync(0, "utf8");' +
			'console.log(JSON.stringify(validate(text).map(({ message }) => message)));';
		const piped = `node --eval '${script}' < ${join(DOCKER, 'Dockerfile')}`;
		const { output } = await runCommand('sh', ['-c', piped], { cwd: toolsFolder });
		expect(JSON.parse(output)).toEqual([]);
	});
});

describe('what the Dockerfile does', () => {
	const folder = freshUserFolder();
	const home = join(folder, 'home');
	const installed = join(folder, 'opt');
	const { registry } = publishedNode(folder);

	beforeAll(() => {
		mkdirSync(home, { recursive: true });
	});

	it('installs the node alone', async () => {
		const [, version = ''] = /XPERTAI_VERSION=(\S+)/.exec(dockerfile) ?? [];
		const [, command = ''] = /^RUN (npm .*)$/m.exec(dockerfile) ?? [];
		const [, bin = ''] = nodesHere().at(-1) ?? [];
		const settings = { ...registry().environment, XPERTAI_VERSION: version };
		await type(command.replace('/opt/xpertai', installed), home, bin, settings);
		expect(packagesIn(installed)).toEqual([PACKAGE_NAME]);
	});

	it('links it on every start to where n8n finds it, whatever was there', async () => {
		const [, arguments_ = ''] = /ENTRYPOINT (\[.*\])/.exec(dockerfile) ?? [];
		expect(JSON.parse(arguments_)).toEqual([
			'tini',
			'--',
			'sh',
			'/link-node.sh',
			'/opt/xpertai',
			'/docker-entrypoint.sh',
		]);
		const env = { ...process.env, HOME: home, N8N_USER_FOLDER: undefined };
		const start = [join(DOCKER, 'link-node.sh'), installed, 'echo', 'n8n', 'starts'];
		for (const _ of ['first', 'second']) {
			const { output } = await runCommand('sh', start, { cwd: home, env });
			expect(output).toBe('n8n starts\n');
		}
		await expectNodesIn(home);
	});
});
