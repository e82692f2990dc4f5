import { readFileSync } from 'node:fs';
import path from 'node:path';
import { loadOutputSchema } from 'n8n-core';
import type { IDataObject } from 'n8n-workflow';

import { EVENTS } from 'nodes/XpertAiTrigger/fields';
import { type Sandbox, startSandbox } from 'sandbox';
import { sequence } from '../sandbox/support/recordings';
import { expectGenerated, jsonText } from '../support/generated';
import { previewOf } from './support/outputPreviews';
import { type PollEngine, createPollEngine } from './support/pollEngine';

const NODE = 'nodes/XpertAiTrigger';
const FILE = path.resolve(__dirname, '../..', NODE, '__schema__/v1.0.0.json');
const BUILT = path.resolve(__dirname, '../../dist', NODE);

/** The recorded thread, and the recorded conversation it belongs to at that moment. */
const RECORDED = [
	['runs', 'after the second run', 'conversation after two runs'],
	['runs', 'thread after the failed run', 'conversation after the failed run'],
	['runs', 'thread after the cancelled run', 'conversation after the cancelled run'],
	['interrupts', 'thread that waits', 'conversation that waits'],
] as const;

function recorded(name: 'runs' | 'interrupts', label: string) {
	const found = sequence(name).find((one) => one.label === label);
	if (!found || 'broken' in found.response) throw new Error(`${name} has no "${label}"`);
	const { status, body } = found.response;
	return { do: 'status' as const, status, body };
}

let engine: PollEngine;
let sandbox: Sandbox;

beforeAll(async () => {
	engine = await createPollEngine();
	sandbox = await startSandbox();
});
afterAll(async () => await sandbox.close());

async function outputs(): Promise<IDataObject[]> {
	const { url: baseUrl, accessToken } = sandbox;
	const given: IDataObject[] = [];
	for (const [file, thread, conversation] of RECORDED) {
		sandbox.faults.add({ endpoint: 'E15', ...recorded(file, thread) });
		sandbox.faults.add({ endpoint: 'E5', ...recorded(file, conversation) });
		const parameters = { events: [...EVENTS] };
		const { items } = await engine.test({ parameters, credential: { baseUrl, accessToken } });
		given.push(...items.map(({ json }) => json));
		sandbox.faults.clear();
	}
	return given;
}

describe('the preview of what the trigger gives', () => {
	it('is what the recorded conversations come out as, one of each event', async () => {
		const given = await outputs();
		expect(given.map(({ event }) => event).sort()).toEqual([...EVENTS]);
		const preview = { ...previewOf(given), version: 1 };
		expectGenerated(FILE, jsonText(preview));
	});

	it('is found by n8n in the built package', () => {
		const found = loadOutputSchema({ nodeDir: BUILT, version: 1 });
		expect(found).toEqual(JSON.parse(readFileSync(FILE, 'utf8')));
	});
});
