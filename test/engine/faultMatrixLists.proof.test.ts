import type { NodeApiError } from 'n8n-workflow';

import { clock, useClock } from './support/clock';
import { createEngine, type Engine } from './support/engine';
import { startFaultySandbox, worded } from './support/faultMatrix';
import type { FaultySandbox, OpenCell } from './support/faultMatrix';
import { FAULTS, MARK } from './support/faultMatrixFaults';
import { POLL, listOperation } from './support/faultMatrixOperations';
import { TIMED_OUT, expected } from './support/faultMatrixReactions';
import { placesOf, watchConsole } from './support/faultMatrixSecrets';
import { type PollEngine, createPollEngine } from './support/pollEngine';

/** With their timeouts, lists and polls have no time left for a second try. */
const QUICK = FAULTS.filter(({ reactions }) => reactions !== TIMED_OUT);

const NO_CHANGES = JSON.stringify({ items: [], total: 0 });

useClock();

let server: FaultySandbox;
beforeAll(async () => {
	server = await startFaultySandbox();
});
afterAll(async () => await server?.close());

function expectError(error: unknown, { fault, requestIds }: OpenCell, message: string): void {
	expect(error).toMatchObject({ name: 'NodeApiError', message: worded(message) });
	if (!fault.isAnswered) return;
	const { requestId } = (error as NodeApiError).context.data as { requestId?: string };
	expect(requestIds()).toContain(requestId);
}

describe.each(['searchAssistants', 'searchThreads'] as const)('the list %s', (method) => {
	let engine: Engine;
	beforeAll(async () => {
		engine = await createEngine();
	});

	it.each(QUICK)('meets "$title" as a read does', async (fault) => {
		for (const isLasting of [true, false]) {
			const cell = await server.open({ operation: listOperation(method), fault, isLasting });
			const promise = expected(fault, cell.operation, isLasting);
			const end = await clock.during(
				engine.listSearch(method, cell.credential).catch((error: unknown) => error),
			);
			expect(cell.requests()).toBe(promise.requests);
			expect(placesOf(MARK, end)).toEqual([]);
			// An empty list of assistants would show nothing but "No results".
			const isEmpty = method === 'searchAssistants' && fault.title === '`[]` with 200';
			if (isEmpty) expect(end).toHaveProperty('message', 'This key may use no assistant');
			else if (promise.succeeds) expect(end).toHaveProperty('results', expect.any(Array));
			else expectError(end, cell, promise.message);
		}
	});
});

describe('a poll of the trigger', () => {
	let engine: PollEngine;
	beforeAll(async () => {
		engine = await createPollEngine();
	});

	it.each(QUICK)('meets "$title" as a read does, and neither loses nor doubles', async (fault) => {
		for (const isLasting of [true, false]) {
			const output = watchConsole();
			const cell = await server.open({ operation: POLL, fault, isLasting });
			const { credential, world } = cell;
			cell.calm(NO_CHANGES);
			const trigger = await clock.during(
				engine.activate({ parameters: POLL.parameters(world), credential }),
			);
			cell.arm();
			try {
				const promise = expected(fault, POLL, isLasting);
				await clock.during(trigger.poll());
				expect(cell.requests()).toBe(promise.requests);
				expect(trigger.items()).toHaveLength(promise.succeeds ? 1 : 0);
				expect(trigger.errors).toHaveLength(promise.succeeds ? 0 : 1);
				for (const error of trigger.errors) expectError(error, cell, promise.message);

				cell.calm();
				await clock.during(trigger.poll());
				await clock.during(trigger.poll());
				const others = fault.title.startsWith('Record of another ID') ? 1 : 0;
				expect(trigger.items()).toHaveLength(1 + others);
				expect(placesOf(MARK, [trigger.errors, trigger.started, trigger.memory()])).toEqual([]);
			} finally {
				await trigger.deactivate();
				expect(output.stop()).not.toContain(MARK);
			}
		}
	});
});
