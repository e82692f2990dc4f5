import { map, range } from 'lodash';

import { uploadFiles } from '../../../../nodes/XpertAi/ingest/uploads';
import type { Outcome } from '../../../../nodes/XpertAi/transport/request';
import { parsing } from '../../support/send';
import { virtualTime } from '../../support/virtualTime';
import { BulkServer } from './support/bulkServer';
import { answered, broken, failed, succeeded } from './support/outcomes';
import { submitTo, waiting, withIds } from './support/storingOn';

/** A server that gives these outcomes to its first requests and stores what comes after them. */
function answering(...outcomes: Outcome[]) {
	const server = new BulkServer();
	const send: BulkServer['send'] = async (request) =>
		outcomes.shift() ?? (await server.send(request));
	return { server, send };
}

const oneBatch = (maxCount: number) => ({ batchLimits: { maxCount, maxBytes: Infinity } });

describe('a batch the server rejects', () => {
	it.each([400, 404, 422])(
		'is split until the documents answered with %i are found',
		async (status) => {
			const server = new BulkServer();
			const { placesOf, told, counts } = await submitTo(
				server,
				withIds(250, { 3: status, 137: status, 138: status }),
				oneBatch(100),
			);
			expect(placesOf('rejected')).toEqual([3, 137, 138]);
			expect(placesOf('stored')).toHaveLength(247);
			expect(server.rows).toHaveLength(247);
			expect(told.find(({ document }) => document.origin === 137)).toMatchObject({
				batch: 2,
				failure: { status, reason: `reason ${status}` },
			});
			// Two requests a level for each bad document at most, and seven levels in a hundred.
			expect(counts.attempts).toBeLessThanOrEqual(3 + 3 * 2 * 7);
		},
	);

	it('counts what was sent: requests and retries, and the requests of each document', async () => {
		const server = new BulkServer(['limited']);
		const { counts, told } = await submitTo(server, withIds(4, { 2: 400 }), oneBatch(4));
		expect(map(told, 'attempts')).toEqual([3, 3, 4, 4]);
		expect(counts).toEqual({ attempts: server.requests, batches: 1, retries: 1 });
	});

	it.each([
		['the token is revoked', 401],
		['the knowledgebase is deleted', 404],
	])('leaves the documents before the bad one unknown when %s', async (_, status) => {
		const { server, send } = answering();
		let sent = 0;
		const then: BulkServer['send'] = async (request) =>
			++sent === 1 ? await send(request) : answered(status);
		const { placesOf } = await submitTo({ send: then }, withIds(4, { 3: 400 }));
		expect(server.rows.map(({ key }) => key)).toEqual([0, 1, 2]);
		expect(placesOf('rejected').filter((key) => key < 3)).toEqual([]);
	});
});

describe('a batch that takes the server too long', () => {
	/** A gateway that gives up on more than three documents, some of which are stored by then. */
	function impatient(giveUp: Outcome, most = 3) {
		const server = new BulkServer();
		const send: BulkServer['send'] = async (request) => {
			const documents = JSON.parse(String(request.body)) as unknown[];
			if (documents.length <= most) return await server.send(request);
			await server.send({ ...request, body: JSON.stringify(documents.slice(0, most)) });
			return giveUp;
		};
		return { server, send };
	}

	it.each([
		['504', answered(504)],
		['no answer in time', failed({ kind: 'timeout' })],
	])('is split after three attempts: %s', async (_, giveUp) => {
		const { server, send } = impatient(giveUp);
		const retryLimits = { maxTries: 100, maxElapsedMs: Infinity };
		const { placesOf, counts } = await submitTo({ send }, withIds(10), {
			...oneBatch(10),
			retryLimits,
		});
		expect(placesOf('stored')).toEqual(range(0, 10));
		expect(server.rows).toHaveLength(10);
		// Ten, then twice five, three times each; then four of two or three.
		expect(counts).toMatchObject({ attempts: 3 + 2 * 3 + 4 });
	});

	it('is split at once where it is too large: 413', async () => {
		const { placesOf, counts } = await submitTo(impatient(answered(413)), withIds(10));
		expect([placesOf('stored'), counts.attempts]).toEqual([range(0, 10), 1 + 2 + 4]);
	});

	it('is sent once each after the outage budget is spent', async () => {
		const { send } = impatient(answered(504), 0);
		const { placesOf, counts } = await submitTo({ send }, withIds(80));
		expect(placesOf('unknown')).toEqual(range(0, 80));
		expect(counts.attempts).toBeLessThanOrEqual(5 * 3 + 4 + 7);
	});

	it.each([
		['large', 400_000, 'stored'],
		['small', 10, 'unknown'],
	])(
		'that is %s, with documents of %i characters, ends %s when its connection is closed',
		async (_, length, outcome) => {
			const { send } = impatient(broken('ECONNRESET'));
			const models = withIds(10).map((model) => ({ ...model, text: 'x'.repeat(length) }));
			const { placesOf } = await submitTo({ send }, models, oneBatch(10));
			expect(placesOf(outcome as 'stored')).toEqual(range(0, 10));
		},
	);
});

describe('a knowledgebase that is missing', () => {
	const missing = () => new BulkServer([], Infinity, true);
	const withFiles = (count: number) =>
		withIds(count).map((model) => ({ ...model, storageFileId: 'f' }));

	const file = () => ({ name: 'a.md', mimeType: 'text/markdown', content: Buffer.from('a') });
	const send = parsing(async () => await Promise.resolve(succeeded({ url: 'u', id: 'f' })));

	it.each([
		['without files', {}],
		['whose files this run uploads', { file }],
	])('rejects each batch of documents %s with one request', async (_, more) => {
		const documents = uploadFiles({
			documents: waiting(withIds(100)).map((one) => ({ ...one, ...more })),
			client: { send, clock: virtualTime() },
			timeoutMs: 1000,
			gate: { canSend: true },
		});
		const { placesOf, counts } = await submitTo(missing(), [], { documents });
		expect(placesOf('rejected')).toEqual(range(0, 100));
		expect(counts).toMatchObject({ attempts: 10 });
	});

	const always = (outcome: Outcome) => ({ send: async () => await Promise.resolve(outcome) });
	it.each([
		['missing file, for which a batch is split', missing(), 'rejected', {}],
		[
			'missing route, which rejects all after the second 404',
			always(failed({ kind: 'status', status: 404, missing: 'route' })),
			'rejected',
			{ attempts: 2 },
		],
		['404 of a proxy', always(failed({ kind: 'status', status: 404 })), 'unknown', { attempts: 3 }],
	] as const)('is no %s', async (_, server, outcome, sent) => {
		const { placesOf, counts } = await submitTo(server, withFiles(10));
		expect(placesOf(outcome)).toEqual(range(0, 10));
		expect(counts).toMatchObject(sent);
	});
});

describe('what may be stored', () => {
	const gone = broken('ECONNRESET');
	const another = failed({ kind: 'status', status: 400, reason: 'another' });
	const same = failed({ kind: 'status', status: 400, reason: 'reason 422' });
	const once = { retryLimits: { maxTries: 2, maxElapsedMs: Infinity } };

	it.each([
		['unknown', 'a dropped request', [gone, gone]],
		['unknown', 'a dropped request and then 401', [gone, answered(401)]],
		[
			'unknown',
			'a dropped request and then 413, its halves 401',
			[gone, answered(413), answered(401), answered(401)],
		],
		['unknown', '429 and then a dropped request', [answered(429), gone]],
		['unknown', '504', [answered(504), answered(504)]],
		['unknown', '520 of a proxy', [answered(520), answered(520)]],
		['rejected', '429 twice', [answered(429), answered(429)]],
		['rejected', '503 with Retry-After twice', [answered(503, 0), answered(503, 0)]],
		['notSent', 'a refused connection twice', [broken('ECONNREFUSED'), broken('ECONNREFUSED')]],
		['rejected', '401', [answered(401)]],
		['unknown', '500 of each part', range(5).map(() => answered(500))],
		['unknown', '400 and then another reason', [answered(400), ...range(4).map(() => another)]],
		['unknown', '422 and then the same for 400', [answered(422), ...range(4).map(() => same)]],
		[
			'rejected',
			'400 for the first and then 401',
			[400, 400, 400, 401, 401].map((one) => answered(one)),
		],
	])('is %s after %s', async (expected, _, outcomes) => {
		const { send } = answering(...outcomes);
		const { told } = await submitTo({ send }, withIds(3), once);
		expect(told.map(({ outcome }) => outcome)).toEqual([expected, expected, expected]);
	});

	it('is unknown of documents with chunks, which are refused just for being there already', async () => {
		const { send } = answering(...range(5).map(() => answered(400)));
		const models = withIds(3).map((model) => ({ ...model, chunks: [{ pageContent: 'x' }] }));
		const { placesOf } = await submitTo({ send }, models, once);
		expect(placesOf('unknown')).toContain(0);
	});

	it.each([404, 400, 422, 500])('of a single document is certain after %i', async (status) => {
		for (const [outcomes, expected] of [
			[[answered(status)], 'rejected'],
			[[gone, answered(status)], 'unknown'],
		] as const) {
			const { send } = answering(...outcomes);
			const { told } = await submitTo({ send }, withIds(1), once);
			expect(told.map(({ outcome }) => outcome)).toEqual([expected]);
		}
	});
});
