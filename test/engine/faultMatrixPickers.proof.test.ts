import { NodeApiError } from 'n8n-workflow';

import { createEngine } from './support/engine';
import { FAULTS, REQUEST_ID } from './support/faultMatrixFaults';
import { listOperation } from './support/faultMatrixOperations';
import { worded } from './support/faultMatrixOutcomes';
import { placesOf } from './support/faultMatrixSecrets';
import { startFaultServer } from './support/faultMatrixServer';
import type { Cell, FaultServer } from './support/faultMatrixServer';
import { expected } from './support/faultMatrixTable';
import { MARK, isTimeout } from './support/faultMatrixTrials';

const METHODS = ['searchAssistants', 'searchThreads'] as const;

/** A list waits half a minute for an answer, which is too long to be tried here. */
const QUICK = FAULTS.filter((fault) => !isTimeout(fault));

describe.each(METHODS)('the list %s in the editor', (method) => {
	let server: FaultServer;
	let ends: Array<{ cell: Cell; end: unknown }>;

	beforeAll(async () => {
		const engine = await createEngine();
		server = await startFaultServer(MARK);
		ends = await Promise.all(
			[true, false].flatMap((lasting) =>
				QUICK.map(async (fault) => {
					const operation = listOperation(method);
					const { baseUrl, cell } = server.add({ operation, fault, lasting });
					const end = await engine
						.listSearch(method, { baseUrl, accessToken: MARK })
						.catch((error: unknown) => error);
					return { cell, end };
				}),
			),
		);
	});
	afterAll(() => server?.close());

	it.each(QUICK)('$title: as a read does', (fault) => {
		for (const { cell, end } of ends.filter((one) => one.cell.fault === fault)) {
			const promise = expected(fault, cell.operation, cell.lasting);
			expect(cell.arrivals + cell.misses).toBe(promise.requests);
			expect(placesOf(MARK, end)).toEqual([]);
			if (promise.succeeds) {
				expect(end).toMatchObject({ results: expect.any(Array) as unknown });
				continue;
			}
			expect(end).toBeInstanceOf(NodeApiError);
			expect(end).toMatchObject({ message: worded(promise.message) });
			if (fault.answered) expect((end as NodeApiError).description).toContain(REQUEST_ID);
		}
	});
});
