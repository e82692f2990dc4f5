import { setImmediate as nextTurn } from 'node:timers/promises';

import { map, range } from 'lodash';

import type { Storing } from '../../../../nodes/XpertAi/ingest/storing';
import type { Failure } from '../../../../nodes/XpertAi/transport/failure';
import type { ApiRequest } from '../../../../nodes/XpertAi/transport/request';
import { BulkServer, type Fault } from './support/bulkServer';
import { failed, succeeded } from './support/outcomes';
import { submitTo, waiting, withIds, type Told } from './support/storingOn';

const stop = { stopsAtFailure: true, batchLimits: { maxCount: 2, maxBytes: Infinity } };

describe('with On Error set to Stop', () => {
	it('no batch starts after one has failed; the remaining documents are not sent', async () => {
		const server = new BulkServer();
		const { told, placesOf } = await submitTo(server, withIds(20, { 4: 400 }), stop);
		// The batch that failed is still cut up, so that its other document is stored.
		expect(server.rows.map(({ key }) => key)).toEqual([0, 1, 2, 3, 5]);
		expect(told).toHaveLength(20);
		expect(placesOf('notSent')).toEqual(range(6, 20));
	});
});

/** A memory that has nothing but a journal, which is given the IDs of a batch. */
const journaling = (
	journal: (ids: string[]) => ReturnType<NonNullable<Storing<number>['memory']>['journalBatch']>,
) => ({ journalBatch: async (hashes: Map<string, string>) => await journal([...hashes.keys()]) });

describe('before a batch', () => {
	const batchLimits = { maxCount: 2, maxBytes: Infinity };

	it('the journal gives rows for it and its halves, and learns how each ended', async () => {
		const asked: Array<[string | undefined, ...unknown[]]> = [];
		const server = new BulkServer();
		const memory = journaling(async (ids) => ({
			rows: ['{"id":"before"}', '{"id":"behind"}'],
			ids: ['before', 'behind'],
			onEnded: (...end) => void asked.push([ids.join(), ...end]),
		}));
		const { placesOf } = await submitTo(server, withIds(3, { 1: 400 }), { batchLimits, memory });
		expect(asked).toEqual([
			['id-0,id-1', 'unclear', false],
			['id-0', 'done', false],
			['id-1', 'unclear', false],
			['id-2', 'done', false],
		]);
		expect([placesOf('stored'), placesOf('rejected')]).toEqual([[0, 2], [1]]);
		expect(server.rows.map(({ id }) => id)).toEqual(['before', 'id-0', 'behind', 'id-2']);
	});

	it('rows of the journal do not count as documents, also when the server gives its own IDs', async () => {
		const rows: [string, string] = ['{"id":"before"}', '{"id":"behind"}'];
		const ofNewIds = withIds(2).map((model) => ({ ...model, isNew: true }));
		const memory = journaling(async () => ({
			rows,
			ids: ['before', 'behind'],
			onEnded: () => undefined,
		}));
		const send: BulkServer['send'] = async ({ body }) => {
			const sent = JSON.parse(String(body)) as Array<{ id: string; key?: number }>;
			return succeeded(sent.map(({ id, key }) => ({ id: key === undefined ? id : `own ${key}` })));
		};
		const { placesOf, counts } = await submitTo({ send }, ofNewIds, { memory });
		expect([placesOf('stored'), counts.attempts]).toEqual([[0, 1], 1]);
	});

	it('documents may be stored if a batch was sent and its halves must not be', async () => {
		const server = new BulkServer(['refused for now']);
		const { failure } = (await server.send({} as ApiRequest)) as { failure: Failure };
		const memory = journaling(async (ids) => (ids.length === 1 ? { failure } : undefined));
		const again = new BulkServer(['refused for now']);
		const { placesOf } = await submitTo(again, withIds(2), { batchLimits, memory });
		expect(placesOf('unknown')).toEqual([0, 1]);
	});

	it.each<[string, Fault[], unknown[], number?]>([
		['carried out', ['limited'], ['done', false]],
		['carried out, and may be once more', ['timed out after storing'], ['done', true]],
		['not carried out', ['limited', 'refused', 'refused'], ['nothing', false]],
		['not answered', range(3).map(() => 'dropped before storing'), ['unclear', true]],
		['refused', ['refused for now'], ['unclear', false]],
		['not answered, and then too large', ['dropped before storing'], ['unclear', true], 1],
	])('the journal learns that it was %s', async (_, faults, end, ...[maxBytes]) => {
		const told: unknown[] = [];
		await submitTo(new BulkServer(faults, maxBytes), withIds(1), {
			memory: journaling(async () => ({
				rows: ['{}', '{}'],
				ids: [],
				onEnded: (...one) => void told.push(one),
			})),
		});
		expect(told).toEqual([end]);
	});

	it('a refusal of the journal leaves its documents unsent', async () => {
		const server = new BulkServer();
		let batch = 0;
		const { failure } = failed({ kind: 'unreadable' }) as { failure: Failure };
		const { told, placesOf } = await submitTo(server, withIds(4), {
			batchLimits,
			memory: journaling(async () => (++batch === 1 ? { failure } : undefined)),
		});
		expect(placesOf('notSent')).toEqual([0, 1]);
		expect(placesOf('stored')).toEqual([2, 3]);
		expect(map(told, 'attempts')).toEqual([0, 0, 1, 1]);
	});
});

describe('a source that breaks', () => {
	async function* breaking(good: number) {
		yield* waiting(withIds(good));
		throw new Error('the file ends here');
	}

	it.each([1, 3])(
		'ends the submission after what was read is told, %i at once',
		async (concurrency) => {
			const told: Told[] = [];
			const server = new BulkServer();
			const send: BulkServer['send'] = async (request) => {
				for (let turns = 0; turns < 10; turns++) await nextTurn();
				return await server.send(request);
			};
			const submitting = submitTo({ send }, [], {
				documents: breaking(25),
				concurrency,
				told,
			});
			await expect(submitting).rejects.toThrow('the file ends here');
			const places = told.map(({ document }) => document.origin).sort((a, b) => a - b);
			expect(places).toEqual(withIds(25).map(({ key }) => key));
			expect(server.rows).toHaveLength(25);
		},
	);
});

describe('an execution that is stopped', () => {
	it('takes no further batch', async () => {
		const stopping = new AbortController();
		const server = new BulkServer();
		const { told } = await submitTo(server, withIds(50), {
			signal: stopping.signal,
			onTold: ({ length }) => {
				if (length === 20) stopping.abort();
			},
		});
		expect(server.requests).toBe(2);
		expect(told).toHaveLength(20);
	});

	it('leaves the documents of an interrupted request unknown', async () => {
		const stopping = new AbortController();
		const send: BulkServer['send'] = async () => {
			stopping.abort();
			return failed({ kind: 'cancelled' });
		};
		const { placesOf, counts } = await submitTo({ send }, withIds(50), { signal: stopping.signal });
		expect(placesOf('unknown')).toHaveLength(10);
		expect(counts.attempts).toBe(1);
	});
});
