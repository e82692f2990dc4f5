import { groupBy } from 'lodash';
import type { INodeExecutionData } from 'n8n-workflow';

import { OPERATIONS } from '../nodes/support/properties';
import { builtModule } from './support/builtModule';
import { clock, useClock } from './support/clock';
import { createEngine, type Engine, type NodeResult } from './support/engine';
import { startFaultySandbox, worded } from './support/faultMatrix';
import type { FaultySandbox, OpenCell } from './support/faultMatrix';
import { FAULTS, type Fault, MARK } from './support/faultMatrixFaults';
import { type MatrixOperation, matrixOperations } from './support/faultMatrixOperations';
import { DOCUMENTS, NO_CONVERSATION, expected } from './support/faultMatrixReactions';
import { placesOf, watchConsole } from './support/faultMatrixSecrets';

/** Less than a request has for its tries, so that some time out. */
const TIMEOUT_SECONDS = 5;

type OnError = 'continueErrorOutput' | undefined;

const OPERATIONS_TRIED = matrixOperations();

useClock();

let engine: Engine;
let server: FaultySandbox;
let items: INodeExecutionData[];

beforeAll(async () => {
	engine = await createEngine();
	server = await startFaultySandbox();
	const data = await engine.binary(Buffer.from('hello world'), 'hello.txt', 'text/plain');
	items = [{ json: {}, binary: { data } }];
	const shared = 'nodes/XpertAi/operations/shared/uploadSettings.js';
	const uploads = builtModule<Record<'UPLOAD_TIMEOUT_SECONDS', number>>(shared);
	const all = 'nodes/XpertAi/execution/fieldBuilders.js';
	const fields = builtModule<Record<'DEFAULT_TIMEOUT_SECONDS', number>>(all);
	jest.replaceProperty(uploads, 'UPLOAD_TIMEOUT_SECONDS', TIMEOUT_SECONDS);
	jest.replaceProperty(fields, 'DEFAULT_TIMEOUT_SECONDS', TIMEOUT_SECONDS);
});
afterAll(async () => {
	jest.restoreAllMocks();
	await server?.close();
});

async function attempt(
	operation: MatrixOperation,
	fault: Fault,
	isLasting: boolean,
	onError: OnError,
) {
	const cell = await server.open({ operation, fault, isLasting });
	const { credential } = cell;
	const given = operation.parameters(cell.world);
	const options = { timeout: TIMEOUT_SECONDS, ...(given.options as object) };
	const parameters = { ...given, options };
	const result = await clock.during(engine.run({ parameters, credential, items, onError }));
	expect(placesOf(MARK, result)).toEqual([]);
	expect(doubled(cell)).toEqual([]);
	if (fault.title.includes('Retry-After') && operation.kind !== 'memory') {
		const times = cell.times();
		const pauses = times.slice(1).map((time, n) => time - (times[n] ?? 0));
		// A date is past by the third try.
		const isDate = fault.title.includes('date');
		expect(Math.min(...pauses.slice(0, isDate ? 1 : undefined))).toBeGreaterThanOrEqual(
			isDate ? 2_000 : 1_000,
		);
	}
	return onError ? comparedOutput(cell, result) : comparedError(cell, result);
}

function doubled({ world }: OpenCell): string[] {
	const { runs, documents } = server.sandbox.store;
	const asked = runs.filter(({ threadId }) => threadId === world.threadId).map(() => 'run');
	const stored = [...documents.values()].map(
		({ name, knowledgebaseId }) => `${knowledgebaseId} ${name}`,
	);
	return Object.values(groupBy([...asked, ...stored])).flatMap((alike) => alike.slice(1));
}

function compared(cell: OpenCell) {
	const { operation, fault, isLasting } = cell;
	const promise = expected(fault, operation, isLasting);
	const sent = cell.requests();
	const isGone = promise.message === NO_CONVERSATION;
	return {
		promise,
		requests: promise.requests === 'several' && sent > 1 ? 'several' : sent,
		code: isGone ? undefined : fault.code,
		hasRequestId: fault.isAnswered && !isGone,
		// An empty list makes no item.
		hasItems: operation.right?.test(fault.title)
			? (expect.any(Boolean) as unknown)
			: promise.succeeds,
		name: isGone ? 'NodeOperationError' : 'NodeApiError',
	};
}

function comparedError(cell: OpenCell, { error, items: given }: NodeResult) {
	const { promise, requests, code, hasRequestId, hasItems, name } = compared(cell);
	const { kind } = cell.operation;
	const documents = DOCUMENTS[kind];
	// Only a server that answers has seen a document.
	const unstored = kind === 'memory' || !cell.fault.isAnswered ? 'not sent' : 'rejected';
	const counts = `. Documents: ${documents} ${promise.mayBeStored ? 'unknown' : unstored}`;
	const { requestId = '' } = (error?.context?.data ?? {}) as { requestId?: string };
	const outcome = {
		requests,
		hasItems: given.length > 0,
		error: error && {
			name: error.name,
			message: error.message,
			code: (error as { httpCode?: string | null }).httpCode ?? undefined,
			hasRequestId: cell.requestIds().includes(requestId),
			itemIndex: error.context?.itemIndex as unknown,
		},
	};
	const message = worded(promise.message + (documents ? counts : ''));
	const failure = { name, message, code, hasRequestId, itemIndex: 0 };
	const error_ = promise.succeeds ? undefined : failure;
	return [outcome, { requests: promise.requests, hasItems, error: error_ }];
}

function comparedOutput(cell: OpenCell, { error, outputs, items: given }: NodeResult) {
	const { promise, requests, code, hasRequestId, hasItems, name } = compared(cell);
	const outcome = {
		requests,
		hasItems: given.length > 0,
		stopped: error?.message,
		errors: (outputs[1] ?? []).map(({ json, pairedItem }) => ({ ...json, pairedItem })),
	};
	const unknown = promise.mayBeStored ? '. It is not known whether this document is stored' : '';
	const item = {
		error: worded(promise.message + unknown),
		details: expect.objectContaining({
			...(name === 'NodeApiError' && {
				request: expect.stringMatching(/^[A-Z]+ \/api\//) as unknown,
			}),
			...(code && { httpCode: code }),
			...(hasRequestId && { requestId: expect.any(String) as unknown }),
		}) as unknown,
		pairedItem: { item: 0 },
	};
	const failed = promise.succeeds ? 0 : (DOCUMENTS[cell.operation.kind] ?? 1);
	const errors = Array.from({ length: failed }, () => item);
	return [outcome, { requests: promise.requests, hasItems, stopped: undefined, errors }];
}

/** Faults that last with On Error at its first value, faults that pass with the error output; Submit counts in both. */
function waysOf({ kind }: MatrixOperation): Array<[isLasting: boolean, OnError]> {
	const ways: Array<[boolean, OnError]> = [
		[true, undefined],
		[false, 'continueErrorOutput'],
	];
	return DOCUMENTS[kind] ? [...ways, [true, 'continueErrorOutput'], [false, undefined]] : ways;
}

it('tries every operation of the catalogue', () => {
	const names = OPERATIONS_TRIED.map(({ name }) => name.split(', ')[0]);
	// These send what Ask and Wait sends; Find Changes reads what Submit does.
	const others = ['thread: decide', 'thread: retry', 'document: findChanges'];
	expect([...new Set([...names, ...others])].sort()).toEqual(
		OPERATIONS.map(({ title }) => title).sort(),
	);
});

describe.each(FAULTS)('$title', (fault) => {
	it.each(OPERATIONS_TRIED.filter(({ not }) => !not?.test(fault.title)))(
		'$name does what the table says, and shows no token',
		async (operation) => {
			const output = watchConsole();
			try {
				for (const [isLasting, onError] of waysOf(operation)) {
					const [outcome, promise] = await attempt(operation, fault, isLasting, onError);
					expect({ isLasting, ...outcome }).toEqual({ isLasting, ...promise });
				}
			} finally {
				expect(output.stop()).not.toContain(MARK);
			}
		},
	);
});
