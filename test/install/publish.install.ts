import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { runNpm } from 'host/command';
import { freshUserFolder } from '../e2e/support/userFolder';
import { version } from '../../package.json';
import { Registry } from './support/registry';
import { packedAs, packedNode } from './support/tarball';

const folder = freshUserFolder();
let registry: Registry;

beforeAll(async () => {
	registry = await Registry.start(folder);
});

afterAll(async () => {
	await registry.stop();
	rmSync(folder, { recursive: true, force: true });
});

describe('publishing, as the workflow does', () => {
	it('gives everybody the tarball as the latest version, and writes the token nowhere', async () => {
		const token = await registry.token();
		const { code, output } = await registry.tryToPublish(packedNode(), token);
		expect([code, output]).toEqual([0, expect.stringContaining('+ n8n-nodes-xpertai@')]);
		expect(await registry.versions()).toEqual({ latest: version });
		const said = output + readFileSync(join(folder, 'npmrc'), 'utf8');
		expect(said).toContain('_authToken=${NODE_AUTH_TOKEN}');
		expect(said).not.toContain(token);
	});

	it('is refused for a tarball without the built node', async () => {
		writeFileSync(join(folder, 'package.json'), '{ "name": "empty", "version": "0.1.0" }');
		await runNpm(['pack', '--ignore-scripts', '--silent'], { cwd: folder });
		const { code, output } = await registry.tryToPublish(join(folder, 'empty-0.1.0.tgz'));
		expect([code, output]).toEqual([1, expect.stringContaining('run npm run build')]);
	});

	it('gives a version that is not finished to those only who ask for the next one', async () => {
		const before = await registry.versions();
		await registry.publish(await packedAs('9.0.0-beta.1', folder));
		expect(await registry.versions()).toEqual({
			...before,
			next: '9.0.0-beta.1',
		});
	});
});
