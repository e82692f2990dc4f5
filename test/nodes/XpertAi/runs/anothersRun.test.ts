import { drop, gateway } from './support/faults';
import { ANSWER, QUESTION, REASON } from './support/modelServer';
import type { OtherRun, World } from './support/modelServer';
import { MINUTE, SECOND, run } from './support/run';

const GONE_ON = 'The thread has gone on without this message';

/** A run of Bert that begins when ours is sent, or soon after. */
const bert = (more: Partial<OtherRun> = {}): OtherRun => ({
	text: 'a question of Bert',
	fromMs: 1,
	runMs: 5 * SECOND,
	...more,
});

/** Our message gets lost on its way, while Bert asks on the same thread. */
const lost = (more: Partial<OtherRun> = {}): World => ({
	earlier: 'idle',
	runs: [gateway(502, false, SECOND)],
	bert: bert(more),
});

describe('a message that is lost while somebody else asks on the same thread', () => {
	it('does not come out with the answer of the other', async () => {
		for (const earlier of ['idle', 'error', 'cancelled', undefined] as const) {
			const { verdict, server } = await run({ ...lost(), earlier });
			expect(verdict).toMatchObject({ status: 'failed', reason: GONE_ON });
			expect(verdict.advice).toContain('which of these is not known');
			expect(server.arrivals).toEqual([]);
		}
	});

	it('does not come out with the failure of the other, or its reason', async () => {
		const { verdict } = await run(lost({ outcome: 'fail' }));
		expect(verdict).toMatchObject({ status: 'failed', reason: GONE_ON });
	});

	it('does not come out with what the other is asked to decide', async () => {
		const { verdict } = await run(lost({ outcome: 'interrupt' }));
		expect(verdict).toMatchObject({ status: 'failed', reason: GONE_ON });
		expect(verdict.interrupt).toBeUndefined();
	});

	it('does not come out with the answer of the other where the assistant said nothing at all to ours', async () => {
		const bertFirst = { earlier: undefined, bert: bert({ runMs: 0 }), outcome: 'nothing' } as const;
		const noRoute = {
			failure: { kind: 'status', status: 404, missing: 'route', reason: 'Cannot POST /api/ai' },
			arrives: false,
			afterMs: 0,
		} as const;
		const { verdict } = await run({ ...bertFirst, runs: [noRoute] });
		expect(verdict.status).toBe('failed');
		expect(verdict.output).toBeUndefined();
	});

	it('comes out with an answer to the very same words: whose they were cannot be told', async () => {
		const { verdict } = await run(lost({ text: QUESTION }));
		expect(verdict).toMatchObject({ status: 'completed', recovered: true });
		expect(verdict.output).toBe(`their answer to ${QUESTION}`);
	});

	it('that was to be answered again does not come out with the answer of the other', async () => {
		for (const text of ['a question of Bert', 'an older question']) {
			const { verdict } = await run({ ...lost({ text }), kind: 'retry' });
			expect(verdict).toMatchObject({ status: 'failed', reason: GONE_ON });
		}
	});

	it('that was a decision does not come out with the answer of the other', async () => {
		for (const kind of ['decision', 'reject'] as const) {
			const { verdict } = await run({ ...lost(), earlier: 'interrupted', kind });
			expect(verdict).toMatchObject({ status: 'failed', reason: GONE_ON });
		}
	});
});

describe('a message whose wait breaks, and whose pair is overwritten by a run at the same time', () => {
	it('does not come out with the answer of the other', async () => {
		const world = { ...lost({ runMs: MINUTE }), runs: [drop(true)], runMs: 30 * SECOND };
		const { verdict, server } = await run(world);
		expect(server.arrivals).toHaveLength(1);
		expect(verdict).toMatchObject({ status: 'failed', reason: GONE_ON });
	});

	it('comes out with its own answer where the other is overwritten', async () => {
		const world = { ...lost({ runMs: 5 * SECOND }), runs: [drop(true)], runMs: 30 * SECOND };
		const { verdict } = await run(world);
		expect(verdict).toMatchObject({ status: 'completed', output: ANSWER, recovered: true });
	});

	it('comes out with its own answer where the other began later, whatever becomes of that', async () => {
		for (const outcome of ['answer', 'fail', 'interrupt'] as const) {
			const other = bert({ fromMs: 15 * SECOND, outcome });
			const world: World = { earlier: 'idle', runs: [drop(true)], runMs: 10 * SECOND, bert: other };
			const { verdict } = await run(world);
			expect(verdict).toMatchObject({ status: 'completed', output: ANSWER, recovered: true });
		}
	});
});

describe('a message that is answered', () => {
	const answered = (other: Partial<OtherRun>, more: World = {}): World => ({
		...{ earlier: 'idle', runMs: 10 * SECOND, bert: bert(other) },
		...more,
	});

	it('says that the thread does not hold it, where a run at the same time has overwritten it', async () => {
		for (const earlier of ['idle', undefined] as const) {
			const { verdict } = await run(answered({ runMs: MINUTE }, { earlier }));
			expect(verdict).toMatchObject({ status: 'completed', output: ANSWER, remembered: false });
		}
	});

	it('says nothing of the kind where the thread holds it, at once', async () => {
		const { verdict, tookMs } = await run(answered({ fromMs: MINUTE }));
		expect(verdict).toMatchObject({ status: 'completed', output: ANSWER });
		expect(verdict).not.toHaveProperty('remembered');
		expect(tookMs).toBe(10 * SECOND);
	});

	it('says nothing of the kind where the other run is the one that was overwritten', async () => {
		const { verdict } = await run(answered({ runMs: 5 * SECOND }));
		expect(verdict).toMatchObject({ status: 'completed', output: ANSWER });
		expect(verdict).not.toHaveProperty('remembered');
	});

	it('is not said to be lost at the deadline while the other run goes on: it cannot be told', async () => {
		const { verdict, tookMs } = await run(answered({ runMs: 60 * MINUTE }));
		expect(verdict).toMatchObject({ status: 'completed', output: ANSWER });
		expect(verdict).not.toHaveProperty('remembered');
		expect(tookMs).toBe(15 * MINUTE);
	});

	it('is not looked for on a thread of its own', async () => {
		const { verdict, server } = await run(answered({ runMs: MINUTE }), { isNew: true });
		expect(verdict).not.toHaveProperty('remembered');
		expect(server.of('E15')).toHaveLength(1);
	});

	it('does not fail for the run of somebody else', async () => {
		const other = bert({ fromMs: 10 * SECOND, runMs: 0, outcome: 'fail' });
		const { verdict } = await run({ earlier: 'idle', runMs: 10 * SECOND, bert: other });
		expect(verdict).toMatchObject({ status: 'completed', output: ANSWER });
	});

	it('has failed for its own', async () => {
		const { verdict } = await run(answered({ fromMs: MINUTE }, { outcome: 'fail' }));
		expect(verdict).toMatchObject({ status: 'failed', reason: `The run failed: ${REASON}` });
	});

	it('with nothing, because it failed, does not give the reason of somebody else', async () => {
		const other = bert({ runMs: 20 * SECOND, outcome: 'fail' });
		const world: World = { earlier: 'idle', runMs: 10 * SECOND, outcome: 'fail', bert: other };
		const { verdict } = await run(world);
		expect(verdict).toMatchObject({ status: 'failed', reason: GONE_ON });
	});
});
