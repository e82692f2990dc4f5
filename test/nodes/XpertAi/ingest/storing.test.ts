import { setImmediate as nextTurn } from 'node:timers/promises';

import type { ApiRequest } from '../../../../nodes/XpertAi/transport/request';
import type { RawSend } from '../../support/send';
import { BulkServer } from './support/bulkServer';
import { answered, succeeded } from './support/outcomes';
import { submitTo, waiting, withIds } from './support/storingOn';

describe('an answer that does not show the sent documents', () => {
	const both = withIds(2);
	/** Gives these answers, one after another, and afterwards stores. */
	async function answering(...answers: unknown[]) {
		const server = new BulkServer();
		const all = [...answers];
		const send: RawSend = async (request) =>
			all.length > 0 ? succeeded(all.shift()) : await server.send(request);
		const submitted = await submitTo({ send }, both, {
			retryLimits: { maxTries: 100, maxElapsedMs: Infinity },
		});
		return { ...submitted, server };
	}

	it('is given up after three attempts, whatever the retry limits', async () => {
		const { told, counts } = await answering([], [], [], []);
		expect(told.map(({ outcome }) => outcome)).toEqual(['unknown', 'unknown']);
		expect(counts.attempts).toBe(3);
	});

	it('counts for the documents that it shows', async () => {
		const one = [{ id: 'id-1' }];
		const { placesOf, told } = await answering(one, one, one);
		expect([placesOf('stored'), placesOf('unknown')]).toEqual([[1], [0]]);
		expect(told[1]).toMatchObject({ status: 201, record: { id: 'id-1' }, attempts: 3 });
		expect(told[0]).toMatchObject({
			failure: { reason: 'it shows 1 of 2 documents as stored' },
		});
	});

	it('does not count when the last answer is of another kind', async () => {
		let sent = 0;
		const send: RawSend = async () => (++sent === 1 ? succeeded([{ id: 'id-1' }]) : answered(401));
		const { placesOf } = await submitTo({ send }, both);
		expect(placesOf('unknown')).toEqual([0, 1]);
	});
});

it('sends a document after an earlier one whose ID differs in case alone', async () => {
	const log: string[] = [];
	const send: RawSend = async ({ body }) => {
		const answer = JSON.parse(String(body)) as Array<{ id: string }>;
		log.push(...answer.map(({ id }) => `${id} begins`));
		await nextTurn();
		log.push(...answer.map(({ id }) => `${id} ends`));
		return succeeded(answer);
	};
	const ids = ['id-b', 'id-a', 'ID-A'].map((id, key) => ({ id, key }));
	const batchLimits = { maxCount: 1, maxBytes: Infinity };
	const { placesOf } = await submitTo({ send }, ids, { batchLimits, concurrency: 3 });
	expect(placesOf('stored')).toEqual([0, 1, 2]);
	expect(log.indexOf('ID-A begins')).toBeGreaterThan(log.indexOf('id-a ends'));
	expect(log.indexOf('id-a begins')).toBeLessThan(log.indexOf('id-b ends'));
});

it('makes the next batch while the server works on the current one', async () => {
	const log: string[] = [];
	const server = new BulkServer();
	const slow = { send: async (request: ApiRequest) => await nextTurn(server.send(request)) };
	function* source() {
		for (const document of waiting(withIds(6))) {
			log.push(`made ${document.origin}`);
			yield document;
		}
	}
	const batchLimits = { maxCount: 2, maxBytes: Infinity };
	const onTold = () => log.push('told');
	const { told } = await submitTo(slow, [], { documents: source(), batchLimits, onTold });
	expect(log.indexOf('made 3')).toBeLessThan(log.indexOf('told'));
	expect(told).toHaveLength(6);
});
