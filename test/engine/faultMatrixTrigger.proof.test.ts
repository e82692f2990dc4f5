import { FAULTS, REQUEST_ID } from './support/faultMatrixFaults';
import type { Fault } from './support/faultMatrixFaults';
import { pollOperation } from './support/faultMatrixOperations';
import { worded } from './support/faultMatrixOutcomes';
import { placesOf, watchConsole } from './support/faultMatrixSecrets';
import { startFaultServer } from './support/faultMatrixServer';
import type { Cell, FaultServer } from './support/faultMatrixServer';
import { expected } from './support/faultMatrixTable';
import { MARK, isTimeout } from './support/faultMatrixTrials';
import { createPollEngine } from './support/pollEngine';
import type { ActiveTrigger, PollEngine } from './support/pollEngine';
import { shortenSleeps } from './support/shortSleeps';

/** A poll waits half a minute for an answer, which is too long to be tried here. */
const QUICK = FAULTS.filter((fault) => !isTimeout(fault));

const EMPTY = JSON.stringify({ items: [], total: 0 });

describe('a poll of the trigger', () => {
	let engine: PollEngine;
	let server: FaultServer;
	let longSleeps: () => void;

	beforeAll(async () => {
		engine = await createPollEngine();
		longSleeps = shortenSleeps();
		server = await startFaultServer(MARK);
	});
	afterAll(() => {
		longSleeps?.();
		server?.close();
	});

	/** An active trigger that meets the fault from now on, and for which a conversation has changed. */
	async function meet(fault: Fault, lasting: boolean): Promise<[ActiveTrigger, Cell]> {
		const operation = pollOperation();
		const { answer, parameters } = operation;
		const { baseUrl, cell } = server.add({ operation, fault, lasting });
		cell.calm = true;
		operation.answer = EMPTY;
		const trigger = await engine.activate({
			parameters,
			credential: { baseUrl, accessToken: MARK },
		});
		operation.answer = answer;
		Object.assign(cell, { calm: false, arrivals: 0, misses: 0 });
		return [trigger, cell];
	}

	describe.each([true, false])('where the fault lasts: %s', (lasting) => {
		it.each(QUICK)(
			'$title: as the table says, and nothing is lost or given twice',
			async (fault) => {
				const output = watchConsole();
				const [trigger, cell] = await meet(fault, lasting);
				try {
					const promise = expected(fault, cell.operation, lasting);
					await trigger.poll();
					const { message } = promise;
					expect(cell.arrivals + cell.misses).toBe(promise.requests);
					expect(trigger.items()).toHaveLength(promise.succeeds ? 1 : 0);
					expect(trigger.errors).toEqual(
						promise.succeeds
							? []
							: [expect.objectContaining({ message: worded(message), name: 'NodeApiError' })],
					);
					const [error] = trigger.errors;
					if (error && fault.answered)
						expect(error).toHaveProperty('description', expect.stringContaining(REQUEST_ID));

					cell.calm = true;
					await trigger.poll();
					await trigger.poll();
					const others = fault.title.startsWith('Record of another ID') ? 1 : 0;
					expect(trigger.items()).toHaveLength(1 + others);
					expect(placesOf(MARK, [trigger.errors, trigger.started, trigger.memory()])).toEqual([]);
				} finally {
					await trigger.deactivate();
					expect(output.stop()).not.toContain(MARK);
				}
			},
		);
	});
});
