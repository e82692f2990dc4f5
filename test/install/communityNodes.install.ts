import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { pick } from 'lodash';

import { runCommand } from 'host/command';
import { PACKAGE_NAME, userFolderPaths } from 'host/paths';
import { Harness, NODE_TYPE } from '../e2e/support/harness';
import { ownN8n } from '../e2e/support/ownN8n';
import { freshUserFolder } from '../e2e/support/userFolder';
import { chain, webhookTrigger, xpertAiNode } from '../queue/support/ingestion';
import { Registry } from './support/registry';
import { packedAs } from './support/tarball';

const ROUTE = '/rest/community-packages';
const HOOK = 'count-assistants';
const folder = freshUserFolder();
const harness = new Harness();
let registry: Registry;
let workflow: string;

interface Installed {
	packageName: string;
	installedVersion: string;
	updateAvailable?: string;
	installedNodes: Array<{ type: string }>;
}

/** What the page "Community nodes" of n8n's settings shows. */
async function installed(): Promise<Installed[]> {
	return (await harness.host.rest.request('GET', ROUTE)) as Installed[];
}

async function publish(version: string): Promise<void> {
	await registry.publish(await packedAs(version, folder));
}

/** What a workflow is made of, as n8n stores it. */
async function stored() {
	const kept = ['nodes', 'connections', 'settings', 'versionId', 'activeVersionId'];
	return pick(await harness.host.rest.getWorkflow(workflow), kept);
}

/** Calls the workflow's webhook, which answers with what the node gave. */
async function counted() {
	return await harness.callWebhook(HOOK, {});
}

/** Answers a webhook with the number of assistants. */
function counting() {
	const hook = webhookTrigger(HOOK);
	const answering = { ...Object(hook.parameters), responseMode: 'lastNode' };
	const count = xpertAiNode('Count', { resource: 'assistant', operation: 'count', options: {} });
	return chain('Counting', { ...hook, parameters: answering }, count);
}

/** A proxy that is not there: whatever leaves this machine is refused at once. */
const NOBODY = 'http://127.0.0.1:9';

/**
 * n8n names its registry in every call of npm, and takes another one for money only. Here a script called
 * npm, which n8n alone finds first, leaves that out, so that npm asks the registry of its environment.
 */
async function installsFromRegistry(): Promise<NodeJS.ProcessEnv> {
	const { output } = await runCommand('sh', ['-c', 'command -v npm'], { cwd: folder });
	const front = join(folder, 'npm-front');
	mkdirSync(front);
	writeFileSync(join(front, 'npm'), frontOf(output.trim()));
	chmodSync(join(front, 'npm'), 0o755);
	return {
		...registry.environment,
		PATH: [front, process.env.PATH].join(delimiter),
		// n8n itself asks nobody outside this machine whether the package is there or forbidden.
		HTTPS_PROXY: NOBODY,
		https_proxy: NOBODY,
		HTTP_PROXY: NOBODY,
		http_proxy: NOBODY,
	};
}

function frontOf(npm: string): string {
	return [
		'#!/bin/sh',
		'for argument; do',
		'	shift',
		'	case $argument in --registry=*) ;; *) set -- "$@" "$argument" ;; esac',
		'done',
		`exec '${npm}' "$@"`,
		'',
	].join('\n');
}

beforeAll(async () => {
	mkdirSync(folder);
	registry = await Registry.start(`${folder}/registry`);
	await publish('0.1.0');
	const userFolder = `${folder}/home`;
	const env = await installsFromRegistry();
	await harness.start(await ownN8n({ userFolder, withoutNode: true, env }));
});

afterAll(async () => {
	await harness.end();
	await registry.stop();
	rmSync(folder, { recursive: true, force: true });
});

/** The tests go one after another through the life of a package in an n8n. */
describe('the node, installed from n8n\'s settings under "Community nodes"', () => {
	it('is there at once, without a restart', async () => {
		expect(await installed()).toEqual([]);
		await harness.host.rest.request('POST', ROUTE, { name: PACKAGE_NAME });
		expect(await installed()).toMatchObject([
			{
				packageName: PACKAGE_NAME,
				installedVersion: '0.1.0',
				installedNodes: [{ type: NODE_TYPE }, { type: `${NODE_TYPE}Trigger` }],
			},
		]);
		expect((await harness.testCredential()).status).toBe('OK');
		workflow = await harness.importWorkflow(counting(), await harness.createCredential());
		await harness.activate(workflow);
		expect(await counted()).toEqual({ status: 200, data: { count: expect.any(Number) } });
	});

	it('is updated, and workflows go on as they are', async () => {
		const before = await stored();
		await publish('0.1.1');
		expect(await installed()).toMatchObject([{ updateAvailable: '0.1.1' }]);
		await harness.host.rest.request('PATCH', ROUTE, { name: PACKAGE_NAME });
		expect(await installed()).toMatchObject([{ installedVersion: '0.1.1' }]);
		expect(await stored()).toEqual(before);
		expect((await counted()).status).toBe(200);
	});

	it('is there after a restart', async () => {
		await harness.host.restart();
		expect(await installed()).toMatchObject([{ installedVersion: '0.1.1' }]);
		expect((await counted()).status).toBe(200);
	});

	it('is removed, and workflows are kept', async () => {
		const before = await stored();
		await harness.host.rest.request('DELETE', `${ROUTE}?name=${PACKAGE_NAME}`);
		expect(await installed()).toEqual([]);
		expect(existsSync(userFolderPaths(harness.host.userFolder).installedPackage)).toBe(false);
		expect(await stored()).toEqual(before);
		const { status, data } = await counted();
		expect([status, data]).toEqual([
			400,
			{ code: 0, message: `Unrecognized node type: ${NODE_TYPE}` },
		]);
	});

	it('comes back, and the same workflow runs again', async () => {
		await harness.host.rest.request('POST', ROUTE, { name: `${PACKAGE_NAME}@0.1.0` });
		expect(await installed()).toMatchObject([{ installedVersion: '0.1.0' }]);
		expect((await counted()).status).toBe(200);
	});
});
