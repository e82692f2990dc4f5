import { DateTime } from 'luxon';
import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { useFixture } from './support/fixture';
import { errorFlaw, idFlaw, namesFor, requestFlaw } from './support/hostileJudge';
import { TARGETS_BY_OPERATION, placed } from './support/hostileTargets';
import type { Target } from './support/hostileTargets';
import { builtIns, deepFreeze, everyKind } from './support/hostileValues';

const fixture = useFixture();

/** Runs of each operation; together some thousands. */
const RUNS = 88;

const KINDS = deepFreeze(everyKind());

let cases = 0;

afterAll(() => expect(cases).toBeGreaterThan(2000));

/** Places and values in turn, so that in each operation every kind of value occurs. */
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
	// n8n itself writes a date of luxon as text into what an expression gives.
	const isDate = DateTime.isDateTime(value);
	const item = { json: (isDate ? columns : deepFreeze(columns)) as IDataObject };
	const data = await fixture.engine.binary(
		Buffer.from('[{"name":"a"}]'),
		'a.json',
		'application/json',
	);
	fixture.sandbox.requests.clear();
	const { error } = await fixture.run(parameters as INodeParameters, {
		items: [{ ...item, binary: { data } }],
	});
	return error;
}

/** Why a run did not end as it must, if it did not. */
async function flawOf(target: Target, all: Target[], value: unknown): Promise<string | undefined> {
	const error = await runOnce(target, value);
	const { url: origin, requests } = fixture.sandbox;
	for (const { method, path, headers } of requests.all) {
		const request = {
			method: method as 'GET',
			url: origin + path,
			headers: headers as IDataObject,
		};
		const flaw =
			requestFlaw(request, target.operation, origin) ?? idFlaw(request, target.operation, value);
		if (flaw) return flaw;
	}
	// What the server answers, or has answered before, may be about anything.
	const isRefused = requests.all.length === 0 && error?.name === 'NodeOperationError';
	return error && errorFlaw(error, isRefused ? namesFor(target, all) : []);
}

describe.each(TARGETS_BY_OPERATION.map((one, seed) => ({ ...one, seed })))(
	'$title in the engine, over HTTP',
	({ targets, seed }) => {
		it('ends in a typed error with the item and the place, or in the request that was meant', async () => {
			const before = builtIns();
			const flaws: string[] = [];
			for (const { target, kind } of mixed(targets, seed)) {
				const { kind: name, value } = KINDS[kind] ?? { kind: '', value: undefined };
				const flaw = await flawOf(target, targets, value);
				if (flaw) flaws.push(`${target.title} = ${name}: ${flaw}`);
				cases += 1;
			}
			expect(flaws).toEqual([]);
			expect(builtIns()).toEqual(before);
			expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
		});
	},
);
