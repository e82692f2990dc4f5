import fc from 'fast-check';
import { CircuitBreaker } from 'nodes/XpertAi/ingest/circuitBreaker';
import type { Fact } from 'nodes/XpertAi/ingest/facts';

import { prepared } from '../../support/documents';
import { failure } from './support/outcomes';

const STAGES = ['upload', 'storing', 'processing'] as const;
type Stage = (typeof STAGES)[number];

const document = prepared({}, 0);
let batches = 0;

/** A document passes a stage, each in a batch of its own unless the batch is given. */
const PASSED: Record<Stage, Fact<number>> = {
	upload: { outcome: 'uploaded' },
	storing: { outcome: 'stored', document, status: 201, record: {}, batch: 1, attempts: 1 },
	processing: { outcome: 'processed', id: 'a', lastProcessingState: { state: 'finish' } },
};

function failing(
	stage: Stage,
	processMsg: string,
	batch = (batches += 1),
	status?: number,
): Fact<number> {
	if (stage === 'processing')
		return { outcome: 'processed', id: 'a', lastProcessingState: { state: 'error', processMsg } };
	const refusal = failure({ kind: 'invalidCredential', reason: processMsg, status });
	const carried = { batch: stage === 'storing' ? batch : 0, attempts: 1 };
	return { outcome: 'rejected', document, failure: refusal, ...carried };
}

const REASONS = ['no model', 'no right', undefined];
type Event = [stage: Stage, reason: string | undefined];
const events = fc.array(
	fc.tuple(fc.constantFrom(...STAGES), fc.constantFrom(...REASONS)) as fc.Arbitrary<Event>,
	{ maxLength: 60 },
);

function braked(limit: number, list: Event[]): string | undefined {
	const brake = new CircuitBreaker(limit);
	for (const [stage, reason] of list)
		brake.count(reason === undefined ? PASSED[stage] : failing(stage, reason));
	return brake.reason;
}

/** Whether so many of one stage stand in a row, each with the same reason. */
const hasRow = (limit: number, list: Event[]) =>
	STAGES.some((stage) => {
		const said = list.flatMap(([of, reason]) => (of === stage ? [reason] : []));
		return said.some((reason, from) => {
			const row = said.slice(from, from + limit);
			return (
				reason !== undefined &&
				row.length > 0 &&
				row.length === limit &&
				row.every((one) => one === reason)
			);
		});
	});

it('the circuit breaker opens after the limit of consecutive failures of a stage with one reason, and never otherwise', () => {
	fc.assert(
		fc.property(events, fc.nat(5), (list, limit) => {
			expect(braked(limit, list) !== undefined).toBe(hasRow(limit, list));
		}),
	);
});

it('needs several requests, however many documents one of them carries', () => {
	const brake = new CircuitBreaker(100);
	const request = (batch: number) => {
		for (let n = 0; n < 400; n += 1) brake.count(failing('storing', 'bad gateway', batch));
		return brake.reason;
	};
	expect([request(1), request(2), request(3)]).toEqual([undefined, undefined, 'bad gateway']);
});

it('goes on counting after a document whose end is not known', () => {
	const brake = new CircuitBreaker(2);
	const running = {
		...PASSED.processing,
		lastProcessingState: { state: 'running' },
	} as Fact<number>;
	const failed = failing('processing', 'no model');
	for (const fact of [failed, running, failed]) brake.count(fact);
	expect(brake.reason).toBe('no model');
});

it('keeps the reason it opened for', () => {
	const [first, second] = ['no right', 'no model'];
	const of = (stage: Stage, reason: string): Event => [stage, reason];
	expect(braked(1, [of('upload', first), of('storing', second)])).toBe(first);
});

it('counts reasons that differ in IDs alone as one, and gives the last', () => {
	const said = (digit: number) =>
		`no model in ${'0'.repeat(7)}${digit}-0000-4000-8000-00000000000a`;
	expect(
		braked(
			2,
			[1, 2, 3].map((digit): Event => ['processing', said(digit)]),
		),
	).toBe(said(2));
	expect(
		braked(
			2,
			[1, 2].map((digit): Event => ['processing', `page ${digit}`]),
		),
	).toBeUndefined();
});

it('opens at once for a reason that certainly holds for all, unless the limit is 0', () => {
	const said = 'Embedding model not set for the knowledgebase';
	const brake = new CircuitBreaker(100);
	brake.count(failing('processing', said));
	expect([brake.reason, brake.streakLength]).toEqual([said, undefined]);
	expect(braked(0, [['processing', said]])).toBeUndefined();
});

describe('uploads that the key has no right to', () => {
	const forbidden = (count: number, more: Event[] = []) => {
		const brake = new CircuitBreaker(100);
		for (const [stage] of more) brake.count(PASSED[stage]);
		for (let n = 0; n < count; n += 1) brake.count(failing('upload', 'Forbidden', 0, 403));
		return [brake.reason, brake.streakLength];
	};

	it('open the circuit breaker after three when no file has passed', () => {
		expect(forbidden(2)).toEqual([undefined, undefined]);
		expect(forbidden(3)).toEqual(['Forbidden', 3]);
	});

	it('count like any others when a file has passed', () => {
		const passed: Event[] = [['upload', undefined]];
		expect(forbidden(99, passed)).toEqual([undefined, undefined]);
		expect(forbidden(100, passed)).toEqual(['Forbidden', 100]);
	});
});

it('takes no notice of a document that failed for no reason of the server', () => {
	const brake = new CircuitBreaker(1);
	brake.count({ outcome: 'notSent', document, reason: 'This is a retry' });
	brake.count({ outcome: 'unchanged', document });
	brake.count({ outcome: 'sent', counts: { attempts: 1, batches: 1, retries: 0 } });
	expect(brake.reason).toBeUndefined();
});
