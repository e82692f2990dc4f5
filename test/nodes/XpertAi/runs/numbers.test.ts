import { isOwn, numberDecided, numberOf } from '../../../../nodes/XpertAi/runs/numbers';
import type { RunUnderWay } from '../../../../nodes/XpertAi/runs/run';
import { failure, lost, no, success } from '../threads/support/answering';
import { BODIES, UNNUMBERED, saying } from './support/run';
import { LIST, NO_ROUTE, READ, serving, telling } from './support/routes';
import type { Routes } from './support/routes';

/** A run on a thread that others may use, with what a server tells of numbers. */
function under(routes: Routes, more: Partial<RunUnderWay> = {}) {
	const { asking, asked, names } = serving(routes);
	const run: RunUnderWay = {
		...{ ...UNNUMBERED, ...asking, sendUnlimited: asking.send },
		...{ threadId: 't', body: saying('Hi'), isNew: false, whenBusy: 'wait' },
		...{ deadline: asking.clock.now() + 60_000, asked: { kind: 'message', text: 'Hi' } },
		...{ question: 'Hi', waiting: [], numbers: { areMissing: false }, ...more },
	};
	return { run, asked, names };
}

const threadAt = (updated_at?: unknown) =>
	({ thread_id: 't', status: 'idle', updated_at }) as RunUnderWay['before'];

describe('the number of a run that was sent without one', () => {
	it('is known already of a decision, and nothing is asked', async () => {
		const { run, asked } = under({}, { ownId: 'known' });
		expect(await numberOf(run)).toBe('known');
		expect(asked).toEqual([]);
	});

	it('is the only one on a thread that had never run', async () => {
		const { run } = under({ [LIST]: [telling({})] });
		expect(await numberOf(run)).toBe('r');
	});

	it('is the only one that has begun since the thread was read', async () => {
		const list = [
			{ run_id: 'older', created_at: '2026-11-22T09:00:00.000Z' },
			{ run_id: 'the last', created_at: '2026-11-22T09:59:59.000Z' },
			{},
		];
		const { run } = under(
			{ [LIST]: [telling(...list)] },
			{ before: threadAt('2026-11-22T09:59:59.000Z') },
		);
		expect(await numberOf(run)).toBe('r');
	});

	it('is not known where several have begun, or none', async () => {
		for (const list of [telling({}, { run_id: 'r2' }), telling()]) {
			const { run } = under({ [LIST]: [list] });
			expect(await numberOf(run)).toBeUndefined();
		}
	});

	it('is not asked for where the thread does not say when it was as it was', async () => {
		const { run, asked } = under({ [LIST]: [telling({})] }, { before: threadAt('some time') });
		expect(await numberOf(run)).toBeUndefined();
		expect(asked).toEqual([]);
	});

	it('is asked for no more in this execution where the server has no such route', async () => {
		const { run, asked } = under({ [LIST]: [NO_ROUTE] });
		expect(await numberOf(run)).toBeUndefined();
		expect(run.numbers.areMissing).toBe(true);
		const before = asked.length;
		expect(await numberOf(run)).toBeUndefined();
		expect(asked).toHaveLength(before);
	});

	it('is no reason to wait long: it is asked for twice, and again for the next run', async () => {
		const { run, asked } = under({ [LIST]: [no(lost), no(lost), telling({})] });
		expect(await numberOf(run)).toBeUndefined();
		expect(asked).toHaveLength(2);
		expect(run.numbers.areMissing).toBe(false);
		expect(await numberOf(run)).toBe('r');
	});
});

describe('the number of a run that is decided', () => {
	const waits = { tasks: [{ id: 'task' }] };
	const waiting = telling(
		{ run_id: 'older', status: 'interrupted', created_at: '2026-11-22T09:00:00.000Z' },
		{ status: 'interrupted' },
	);

	it('is the one the user names', async () => {
		const body = { ...BODIES.decision, input: { target: { executionId: 'named' } } };
		const { run, asked } = under({ [LIST]: [waiting] }, { body } as Partial<RunUnderWay>);
		expect(await numberDecided(run, waits)).toBe('named');
		expect(asked).toEqual([]);
	});

	it('is that of the last run of the thread, which waits', async () => {
		for (const executionId of [undefined, '', 7]) {
			const body = { input: { target: { executionId } } };
			const { run } = under({ [LIST]: [waiting] }, { body } as Partial<RunUnderWay>);
			expect(await numberDecided(run, waits)).toBe('r');
		}
	});

	it('is not known where the last run does not wait', async () => {
		const later = telling({ run_id: 'older', status: 'interrupted', created_at: '2026' }, {});
		for (const list of [later, telling()]) {
			const { run } = under({ [LIST]: [list] });
			expect(await numberDecided(run, waits)).toBeUndefined();
		}
	});

	it('is not asked for where nothing waits, or what waited was cancelled', async () => {
		for (const facts of [undefined, { tasks: [] }, { ...waits, error: 'Canceled by user' }]) {
			const { run, asked } = under({ [LIST]: [waiting] });
			expect(await numberDecided(run, facts)).toBeUndefined();
			expect(asked).toEqual([]);
		}
	});
});

describe('what runs on a thread', () => {
	const asking = (input: string) =>
		success({ thread_id: 't', status: 'busy', values: { messages: [], input } });

	it('is ours on a thread of our own, and where its number is surely ours', async () => {
		for (const more of [{ isNew: true }, { ownId: 'r' }]) {
			const { run, asked } = under({}, more);
			expect(await isOwn(run)).toBe(true);
			expect(asked).toEqual([]);
		}
	});

	it('is ours on a thread that others use only where that says so', async () => {
		const isOurs = async (routes: Routes, more: Partial<RunUnderWay> = {}) =>
			await isOwn(under(routes, more).run);
		expect(await isOurs({ [READ]: [asking('Hi')] })).toBe(true);
		expect(await isOurs({ [READ]: [asking('Ho')] })).toBe(false);
		expect(await isOurs({ [READ]: [no(failure)] })).toBe(false);
		expect(await isOurs({ [READ]: [asking('')] }, { question: undefined })).toBe(false);
	});
});
