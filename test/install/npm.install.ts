import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { PACKAGE_NAME } from 'host/paths';
import { freshUserFolder } from '../e2e/support/userFolder';
import { freshProject } from '../e2e/support/npmStart';
import { commandsInReadme, nodesHere, packagesIn, type } from './support/console';
import { expectNodesIn } from './support/nodeTypes';
import { publishedNode } from './support/publishedNode';

const folder = freshUserFolder();
const nodes = nodesHere();
const { registry } = publishedNode(folder);

const homeOf = (version: string) => join(folder, `node-${version}`);

/** A home folder of somebody who once has installed something in it, which npm takes for a project. */
function freshHome(version: string): string {
	const home = homeOf(version);
	mkdirSync(join(home, 'node_modules'), { recursive: true });
	writeFileSync(join(home, 'package.json'), '{ "private": true }');
	return home;
}

describe('the command in the README for npm', () => {
	it.each(nodes)(
		'installs the node alone and compiles nothing, on Node %s',
		async (version, bin) => {
			const commands = commandsInReadme('With npm');
			const home = freshHome(version);
			const said = await type(commands, home, bin, registry().environment);
			expect(said).toContain('added 1 package');
			expect(packagesIn(join(home, '.n8n', 'nodes'))).toEqual([PACKAGE_NAME]);
			expect(packagesIn(home)).toEqual([]);
		},
	);

	it('puts it where n8n finds it', async () => {
		await expectNodesIn(homeOf(nodes[0]?.[0] ?? ''));
	});
});

describe('the commands in the README for a tarball', () => {
	it('install the node alone, out of a clone, in the same place', async () => {
		const home = freshHome('tarball');
		const clone = freshProject(join(folder, 'clone'));
		const [, bin = ''] = nodes[0] ?? [];
		// The clone has the modules of this project already.
		const commands = commandsInReadme('From a tarball').replace('npm ci && ', '');
		expect(await type(commands, home, bin, registry().environment, clone)).toContain(
			'added 1 package',
		);
		expect(packagesIn(join(home, '.n8n', 'nodes'))).toEqual([PACKAGE_NAME]);
	});
});
