import { switchDocuments } from '../../../../nodes/XpertAi/ingest/switchDocuments';
import type { MemoryRoutes } from '../../../../nodes/XpertAi/ingest/memory';
import type { Failure } from '../../../../nodes/XpertAi/transport/failure';
import { virtualTime } from '../../support/virtualTime';
import { answered } from './support/outcomes';

/** A server that has some of the documents, and notes what it is sent. */
async function switched(
	given: string[],
	{
		has = given,
		disabled = true,
		failing = [],
		more,
		stopped = false,
		unexpected,
		leaves,
	}: Switched = {},
) {
	const sent: unknown[] = [];
	const asked: string[] = [];
	let flaw: string | undefined;
	const send: MemoryRoutes['send'] = async ({ path, body, checkAnswer }) => {
		await Promise.resolve();
		if (body === undefined) {
			if (failing.includes('status')) return answered(403);
			asked.push(path);
			return { ok: true, status: 200, answer: has.map((id) => ({ id, status: 'finish' })) };
		}
		sent.push(JSON.parse(String(body)));
		flaw ??= checkAnswer?.([]);
		if (failing.includes(`store ${sent.length}`)) return answered(403);
		return { ok: true, status: 201, answer: JSON.parse(String(body)) as unknown };
	};
	const clock = virtualTime(stopped ? 0 : Infinity);
	const told: Array<[string, boolean]> = [];
	const expected: string[][] = [];
	const expect = async (some: string[]) => {
		expected.push(some);
		return await Promise.resolve(unexpected);
	};
	const failure = await switchDocuments(given, {
		...{
			disabled,
			isSkipped: leaves,
			extraFields: more,
			beforeChange: expect,
			onSwitched: (id, isThere) => told.push([id, isThere]),
		},
		routes: {
			...{ send, storePath: '/store', startPath: '', clock, signal: clock.signal },
			statusPath: (some) => some.join(','),
		},
	});
	return { sent, asked, told, expected, failure, flaw };
}

interface Switched {
	has?: string[];
	disabled?: boolean;
	/** Which requests fail. */
	failing?: string[];
	more?: Map<string, object>;
	leaves?: (id: string, status?: { status?: unknown }) => boolean;
	/** Why the documents must not be changed. */
	unexpected?: Failure;
	stopped?: boolean;
}

describe('documents that are taken out of all answers, or let in again', () => {
	it.each([true, false])(
		'are sent with nothing but that (%s), and what else is given',
		async (disabled) => {
			const more = new Map([['a', { name: 'A' }]]);
			const { sent, told, flaw } = await switched(['a', 'b'], { disabled, more });
			expect(sent).toEqual([
				[
					{ name: 'A', id: 'a', disabled },
					{ id: 'b', disabled },
				],
			]);
			expect(told).toEqual([
				['a', true],
				['b', true],
			]);
			expect(flaw).toBe('it does not list the documents that it should');
		},
	);

	it('are not sent where the server does not have them: they would be stored with nothing in them', async () => {
		const { sent, told } = await switched(['a', 'b'], { has: ['b'] });
		expect(sent).toEqual([[{ id: 'b', disabled: true }]]);
		expect(told).toEqual([
			['a', false],
			['b', true],
		]);
		const none = await switched(['a'], { has: [] });
		expect(none.sent).toEqual([]);
		expect(none.told).toEqual([['a', false]]);
	});

	const many = Array.from({ length: 150 }, (_, n) => `d${n}`);

	it('are sent a hundred at a time, and each is told once', async () => {
		const { sent, told } = await switched(many);
		expect(sent.map((rows) => (rows as unknown[]).length)).toEqual([100, 50]);
		expect(told.map(([id]) => id)).toEqual(many);
	});

	it('are not sent where they are left as they are, by their status', async () => {
		const { sent, told, expected } = await switched(['a', 'b'], {
			leaves: (id, status) => id === 'a' && status?.status === 'finish',
		});
		expect([sent, expected]).toEqual([[[{ id: 'b', disabled: true }]], [['b']]]);
		expect(told).toEqual([
			['a', false],
			['b', true],
		]);
	});

	it('are noted before, those that are there', async () => {
		const { expected, sent } = await switched(['a', 'b'], { has: ['b'] });
		expect([expected, sent]).toEqual([[['b']], [[{ id: 'b', disabled: true }]]]);
	});

	it('are left as they are where they cannot be noted', async () => {
		const { failure: unexpected } = answered(422) as { failure: Failure };
		const { sent, told, failure } = await switched(['a'], { unexpected });
		expect({ sent, told, failure }).toEqual({ sent: [], told: [], failure: unexpected });
	});

	it('are told as far as it went, with what kept the rest from it', async () => {
		const half = await switched(many, { failing: ['store 2'] });
		expect(half.failure).toMatchObject({ status: 403 });
		expect(half.told).toHaveLength(100);
		const unknown = await switched(many, { failing: ['status'] });
		expect(unknown).toMatchObject({ failure: { status: 403 }, sent: [], told: [] });
	});

	it('are left as they are once the execution is stopped', async () => {
		expect(await switched(many, { stopped: true })).toMatchObject({ sent: [], told: [] });
	});
});
