import { pick, range } from 'lodash';

import { virtualTime } from '../../support/virtualTime';
import { BulkServer, REBUILDING } from './support/bulkServer';
import { broken } from './support/outcomes';
import { submitTo, withIds } from './support/storingOn';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** What Submit sets when Retry for (Minutes) is left as it is. */
const TEN_MINUTES = { maxTries: Infinity, maxElapsedMs: 10 * MINUTE };

describe('a server that does not come back', () => {
	it('is waited for once; further batches are tried a single time', async () => {
		const clock = virtualTime();
		const send: BulkServer['send'] = async () => {
			clock.pass(SECOND / 10);
			return broken('ECONNREFUSED');
		};
		const limits = { clock, retryLimits: TEN_MINUTES };
		const { placesOf, counts } = await submitTo({ send }, withIds(100), limits);
		expect(placesOf('notSent')).toEqual(range(0, 100));
		expect(clock.elapsed()).toBeLessThanOrEqual(11 * MINUTE);
		expect(counts.attempts - counts.retries).toBe(10);
	});

	it('is waited for again after it has answered', async () => {
		const clock = virtualTime();
		let sent = 0;
		const server = new BulkServer();
		const send: BulkServer['send'] = async (request) => {
			sent += 1;
			clock.pass(MINUTE);
			return sent > 1 ? await server.send(request) : broken('ECONNREFUSED');
		};
		const once = { maxTries: Infinity, maxElapsedMs: 30 * SECOND };
		const { placesOf } = await submitTo({ send }, withIds(40), { clock, retryLimits: once });
		expect(placesOf('notSent')).toEqual(range(0, 10));
		expect(placesOf('stored')).toEqual(range(10, 40));
	});
});

describe('a server that rebuilds its embeddings', () => {
	it('for too long rejects the documents, of which no batch is split', async () => {
		const clock = virtualTime();
		const server = new BulkServer(Array<'rebuilding'>(10_000).fill('rebuilding'));
		const limits = { clock, retryLimits: TEN_MINUTES };
		const { placesOf, told, counts } = await submitTo(server, withIds(25), limits);
		expect(placesOf('rejected')).toEqual(range(0, 25));
		expect([server.rows, counts.attempts - counts.retries]).toEqual([[], 3]);
		expect(clock.elapsed()).toBeLessThanOrEqual(11 * MINUTE);
		expect(told[0]).toMatchObject(pick(REBUILDING, 'failure.reason'));
	});
});
