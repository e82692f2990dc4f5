import { switchDocuments } from '../../../../nodes/XpertAi/ingest/switchDocuments';
import type { MemoryRoutes } from '../../../../nodes/XpertAi/ingest/memory';
import type { Failure } from '../../../../nodes/XpertAi/transport/failure';
import type { Result } from '../../../../nodes/XpertAi/transport/call';
import { calling, success } from '../../support/send';
import type { RawCall } from '../../support/send';
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
	let wrong: Result<unknown> | undefined;
	const answer: RawCall = ({ path, body }) => {
		if (body === undefined) {
			if (failing.includes('status')) return answered(403);
			asked.push(path);
			return success(has.map((id) => ({ id, status: 'finish' })));
		}
		sent.push(JSON.parse(String(body)));
		if (failing.includes(`store ${sent.length}`)) return answered(403);
		return success(JSON.parse(String(body)));
	};
	const send: MemoryRoutes['send'] = async (request) => {
		if (request.body !== undefined) wrong ??= await calling(() => success([]))(request);
		return await calling(answer)(request);
	};
	const clock = virtualTime(stopped ? 0 : Infinity);
	const told: Array<[string, boolean]> = [];
	const expected: string[][] = [];
	const expect = async (some: string[]) => {
		expected.push(some);
		return await Promise.resolve(unexpected);
	};
	const failure = await switchDocuments(given, {
		disabled,
		isSkipped: leaves,
		extraFields: more,
		beforeChange: expect,
		onSwitched: (id, isThere) => told.push([id, isThere]),
		routes: {
			send,
			storePath: '/store',
			startPath: '',
			clock,
			signal: clock.signal,
			statusPath: (some) => some.join(','),
		},
	});
	return { sent, asked, told, expected, failure, flaw: wrong?.failure?.reason };
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

describe('documents that are disabled or enabled', () => {
	const many = Array.from({ length: 150 }, (_, n) => `d${n}`);

	it('are sent a hundred at a time, and each is reported once', async () => {
		const more = new Map([['d0', { name: 'A' }]]);
		const { sent, told, flaw } = await switched(many, { disabled: false, more });
		expect(sent.map((rows) => (rows as unknown[]).length)).toEqual([100, 50]);
		expect((sent[0] as unknown[])[0]).toEqual({ name: 'A', id: 'd0', disabled: false });
		expect(told).toEqual(many.map((id) => [id, true]));
		expect(flaw).toBe('it does not list the documents that it should');
	});

	it('are not sent when they are skipped by their status', async () => {
		const { sent, told, expected } = await switched(['a', 'b'], {
			leaves: (id, status) => id === 'a' && status?.status === 'finish',
		});
		expect([sent, expected]).toEqual([[[{ id: 'b', disabled: true }]], [['b']]]);
		expect(told).toEqual([
			['a', false],
			['b', true],
		]);
	});

	const { failure: unexpected } = answered(422) as { failure: Failure };
	it.each<[string, Switched, object]>([
		['the server does not have them', { has: [] }, { expected: [], told: [['a', false]] }],
		['the memory refuses the change', { unexpected }, { told: [], failure: unexpected }],
		['the execution was stopped', { stopped: true }, { told: [] }],
	])('are not sent when %s', async (_, how, came) => {
		expect(await switched(['a'], how)).toMatchObject({ sent: [], ...came });
	});

	it('are reported as far as it went, with the failure that ended it', async () => {
		const half = await switched(many, { failing: ['store 2'] });
		expect(half.failure).toMatchObject({ status: 403 });
		expect(half.told).toHaveLength(100);
		const unknown = await switched(many, { failing: ['status'] });
		expect(unknown).toMatchObject({ failure: { status: 403 }, sent: [], told: [] });
	});
});
