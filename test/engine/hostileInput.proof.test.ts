import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { createEngine } from './support/engine';
import type { Engine } from './support/engine';
import { idFlaw, requestFlaw } from './support/hostileJudge';
import { startPlainServer } from './support/hostileServer';
import type { PlainServer } from './support/hostileServer';
import { TARGETS_BY_OPERATION, placed } from './support/hostileTargets';
import type { Target } from './support/hostileTargets';
import { builtIns, deepFreeze, everyKind } from './support/hostileValues';

const LONGEST_MS = 3000;

/** Runs of each operation; together some hundreds. */
const RUNS = 16;

const KINDS = deepFreeze(everyKind());

let engine: Engine;
let server: PlainServer;
let cases = 0;

beforeAll(async () => {
	engine = await createEngine();
	server = await startPlainServer();
});

afterAll(async () => {
	await server?.close();
	expect(cases).toBeGreaterThan(300);
});

/** Places and values in turn, so that in all operations together every kind of value occurs. */
function mixed(targets: Target[], seed: number): Array<{ target: Target; kind: number }> {
	return Array.from({ length: RUNS }, (_, run) => ({
		target: targets[(run * 7) % targets.length] as Target,
		kind: (seed * RUNS + run * 5) % KINDS.length,
	}));
}

/** Runs the node over one item that holds the value. */
async function runOnce(target: Target, value: unknown) {
	const { path, wrap, column } = target;
	// As in a workflow, the value comes out of the item through an expression.
	const { parameters, json } = column
		? placed(target, value)
		: placed({ ...target, path, wrap: undefined }, '={{ $json.hostile }}');
	const columns = column ? json : { ...json, hostile: wrap ? wrap(value) : value };
	const item = { json: deepFreeze(columns) as IDataObject };
	const data = await engine.binary(Buffer.from('[{"name":"a"}]'), 'a.json', 'application/json');
	server.arrivals.length = 0;
	const started = performance.now();
	const result = await engine.run({
		parameters: parameters as INodeParameters,
		credential: { baseUrl: server.url, accessToken: 'sk-x-token' },
		items: [{ ...item, binary: { data } }],
	});
	return { result, milliseconds: performance.now() - started };
}

/** Why a run did not end as it must, if it did not. */
async function flawOf(target: Target, value: unknown): Promise<string | undefined> {
	const { result, milliseconds } = await runOnce(target, value);
	if (milliseconds > LONGEST_MS) return `it took ${Math.round(milliseconds)} ms`;
	for (const { method, url, headers } of server.arrivals) {
		const request = { method: method as 'GET', url, headers: headers as IDataObject };
		const flaw =
			requestFlaw(request, target.operation, server.url) ??
			idFlaw(request, target.operation, value);
		if (flaw) return flaw;
	}
	const { error } = result;
	if (!error) return undefined;
	if (error.name !== 'NodeApiError' && error.name !== 'NodeOperationError')
		return `an error that is not typed: ${error.name}: ${error.message}`;
	if (error.context?.itemIndex !== 0) return `an error without the item: ${error.message}`;
	return undefined;
}

describe.each(TARGETS_BY_OPERATION.map((one, seed) => ({ ...one, seed })))(
	'$title in the engine, over HTTP',
	({ targets, seed }) => {
		it('ends in a typed error with the item, or in the request that was meant', async () => {
			const before = builtIns();
			const flaws: string[] = [];
			for (const { target, kind } of mixed(targets, seed)) {
				const { kind: name, value } = KINDS[kind] ?? { kind: '', value: undefined };
				const flaw = await flawOf(target, value);
				if (flaw) flaws.push(`${target.title} = ${name}: ${flaw}`);
				cases += 1;
			}
			expect(flaws).toEqual([]);
			expect(server.garbage).toEqual([]);
			expect(builtIns()).toEqual(before);
		});
	},
);
