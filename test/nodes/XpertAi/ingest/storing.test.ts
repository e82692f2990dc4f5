import fc from 'fast-check';
import { add, chunk, map, mergeWith, pick, range } from 'lodash';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { groupIntoBatches, type BatchLimits } from 'nodes/XpertAi/ingest/batches';
import { type DocumentFact } from 'nodes/XpertAi/ingest/facts';
import { type ReadyDocument, recordJsonAndSize } from 'nodes/XpertAi/ingest/readyDocuments';
import { FolderCreator } from 'nodes/XpertAi/ingest/folders';
import { Storer, type StorerOptions } from 'nodes/XpertAi/ingest/storing';
import { uploadFiles } from 'nodes/XpertAi/ingest/uploads';
import type { DocumentRecord } from 'nodes/XpertAi/payloads/document';
import { OutageBudget, type RetryLimits } from 'nodes/XpertAi/transport/call';
import type { Clock } from 'nodes/XpertAi/transport/clock';
import type { Failure } from 'nodes/XpertAi/transport/failure';
import type { ApiRequest, RequestOutcome } from 'nodes/XpertAi/transport/request';

import { prepared } from '../../support/documents';
import { calling, parsing, type RawSend } from '../../support/send';
import { virtualTime } from '../../support/virtualTime';
import { BulkServer, type Fault, type ModelDocument, REBUILDING } from './support/bulkServer';
import { answered, broken, failed, succeeded } from './support/outcomes';

type Told = DocumentFact<number>;

function waiting(models: ModelDocument[]): Array<ReadyDocument<number>> {
	return models.map((model) => ({
		...prepared(model, model.key, model.id),
		lacksStableId: model.lacksStableId,
	}));
}

function withIds(count: number, bad: Record<number, number> = {}): ModelDocument[] {
	return Array.from({ length: count }, (_, key) => ({ key, id: `id-${key}`, ...badOf(bad[key]) }));
}

/** What is bad about a document; 404 is said to one whose uploaded file is missing. */
function badOf(status?: number): Pick<ModelDocument, 'bad' | 'storageFileId'> {
	if (status === undefined) return {};
	return status === 404 ? { bad: status, storageFileId: 'unknown' } : { bad: status };
}

/** What a test asks for: a stop, and where it hears at once what is told. */
interface Asked extends Partial<StorerOptions<number>> {
	retryLimits?: RetryLimits;
	signal?: AbortSignal;
	clock?: Clock;
	told?: Told[];
	onTold?: (told: Told[]) => void;
}

const THREE_TRIES = { maxTries: 3, maxElapsedMs: Infinity };

/** Submits documents to a server, ten a batch, three tries each, unless the changes say otherwise. */
async function submitTo(
	server: Pick<BulkServer, 'send'>,
	models: ModelDocument[],
	{
		signal,
		clock = virtualTime(),
		told = [],
		onTold,
		retryLimits = THREE_TRIES,
		...changes
	}: Asked = {},
) {
	const counts = { attempts: 0, batches: 0, retries: 0 };
	const storer = new Storer<number>({
		documents: chunk(waiting(models), 7),
		batchLimits: { maxCount: 10, maxBytes: Infinity },
		concurrency: 1,
		client: {
			send: parsing(server.send),
			clock,
			signal,
			outageBudget: new OutageBudget(retryLimits),
		},
		path: '/knowledges/1/bulk',
		timeoutMs: 1000,
		...changes,
	});
	for await (const fact of storer.run()) {
		for (const one of fact)
			if ('document' in one) told.push(one);
			else if (one.outcome === 'sent') mergeWith(counts, one.counts, add);
		onTold?.(told);
	}
	/** Places of the documents with an outcome, in order. */
	const placesOf = (outcome: Told['outcome']) =>
		told
			.filter((result) => result.outcome === outcome)
			.map(({ document }) => document.report)
			.sort((one, other) => one - other);
	return { told, counts, placesOf };
}

const documents = fc
	.array(
		fc.record({
			name: fc.string({ unit: 'grapheme', maxLength: 30 }),
			metadata: fc.dictionary(fc.string(), fc.jsonValue()),
		}),
	)
	.map((values) => values.map((value, index) => prepared(value, index)));
const limits = fc.record({
	maxCount: fc.integer({ min: 1, max: 8 }),
	firstCount: fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined }),
	maxBytes: fc.integer({ min: 1, max: 400 }),
	reserved: fc.option(fc.record({ once: fc.nat(60), each: fc.nat(20) }), { nil: undefined }),
});

async function split(list: Array<ReadyDocument<number>>, limit: BatchLimits) {
	const all: Array<Array<ReadyDocument<number>>> = [];
	for await (const batch of groupIntoBatches(chunk(list, 4), limit))
		if (Array.isArray(batch)) all.push(batch);
	return all;
}

/** How many documents a batch may hold. */
const mostIn = ({ maxCount, firstCount = maxCount }: BatchLimits, index: number) =>
	index === 0 ? Math.min(firstCount, maxCount) : maxCount;

/** Bytes of a batch, with those that are kept free beside its documents. */
const sizeOf = (
	batch: Array<ReadyDocument<number>>,
	{ reservedBytes }: Partial<BatchLimits> = {},
) =>
	Buffer.byteLength(`[${map(batch, 'recordJson').join(',')}]`) +
	(reservedBytes ? reservedBytes.perBatch + reservedBytes.perDocument * batch.length : 0);

describe('batches', () => {
	it('hold each document once and in order, within the limits unless a single one is over, and are no more than needed', async () => {
		await fc.assert(
			fc.asyncProperty(documents, limits, async (list, limit) => {
				const all = await split(list, limit);
				const fits = (batch: Array<ReadyDocument<number>>, index: number) =>
					batch.length <= mostIn(limit, index) && sizeOf(batch, limit) <= limit.maxBytes;
				expect(all.flat()).toEqual(list);
				for (const [index, batch] of all.entries()) {
					expect(batch.length).toBeGreaterThan(0);
					expect(batch.length === 1 || fits(batch, index)).toBe(true);
					const next = all[index + 1];
					if (next) expect(fits([...batch, ...next.slice(0, 1)], index)).toBe(false);
				}
			}),
			{ numRuns: 1000 },
		);
	});

	it('are as large as they may be, to the byte', async () => {
		const list = waiting(withIds(9));
		const maxBytes = sizeOf(list.slice(0, 3));
		const lengths = async (less: number) =>
			map(await split(list, { maxCount: 9, maxBytes: maxBytes - less }), 'length');
		expect([await lengths(0), await lengths(1)]).toEqual([
			[3, 3, 3],
			[2, 2, 2, 2, 1],
		]);
	});

	it('are made one at a time, before all documents are read', async () => {
		let taken = 0;
		async function* endless() {
			for (;;) yield [prepared({}, taken++)];
		}
		const first = await groupIntoBatches(endless(), { maxCount: 3, maxBytes: 1000 }).next();
		expect(first.value).toHaveLength(3);
		expect(taken).toBe(4);
	});
});

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
	const log: unknown[] = [];
	const server = new BulkServer();
	const slow = { send: async (request: ApiRequest) => await nextTurn(server.send(request)) };
	function* source() {
		for (const document of waiting(withIds(6))) {
			log.push(document.report);
			yield [document];
		}
	}
	const batchLimits = { maxCount: 2, maxBytes: Infinity };
	const onTold = () => log.push('told');
	await submitTo(slow, [], { documents: source(), batchLimits, onTold });
	expect(log.filter((one) => one !== 'told' || log.indexOf(1) < 0)).toEqual(range(6));
	expect(log.lastIndexOf('told', log.indexOf(4))).toBeLessThan(log.indexOf(3));
});

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

/** A server that gives these outcomes to its first requests and stores what comes after them. */
function answering(...outcomes: RequestOutcome[]) {
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
			expect(told.find(({ document }) => document.report === 137)).toMatchObject({
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

describe('a batch that is too much for the server', () => {
	/** A gateway that gives up on more than three documents, some of which are stored by then. */
	function impatient(giveUp: RequestOutcome, most = 3) {
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
		const { placesOf, counts } = await submitTo({ send }, withIds(10), { retryLimits });
		expect(placesOf('stored')).toEqual(range(0, 10));
		expect(server.rows).toHaveLength(10);
		// Ten, then twice five, three times each; then four of two or three.
		expect(counts).toMatchObject({ attempts: 3 + 2 * 3 + 4 });
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
			const { placesOf } = await submitTo({ send }, models);
			expect(placesOf(outcome as 'stored')).toEqual(range(0, 10));
		},
	);

	it('is split at once where it is too large: 413', async () => {
		const { placesOf, counts } = await submitTo(impatient(answered(413)), withIds(10));
		expect([placesOf('stored'), counts.attempts]).toEqual([range(0, 10), 1 + 2 + 4]);
	});
});

describe('a knowledgebase that is missing', () => {
	const missing = () => new BulkServer([], Infinity, true);
	const withFiles = (count: number) =>
		withIds(count).map((model) => ({ ...model, storageFileId: 'f' }));

	const readFile = () => ({ name: 'a.md', mimeType: 'text/markdown', content: Buffer.from('a') });
	const send = parsing(async () => await Promise.resolve(succeeded({ url: 'u', id: 'f' })));

	it.each([
		['without files', {}],
		['whose files this run uploads', { readFile }],
	])('rejects each batch of documents %s with one request', async (_, more) => {
		const documents = uploadFiles({
			documents: [waiting(withIds(100)).map((one) => ({ ...one, ...more }))],
			client: { send, clock: virtualTime() },
			timeoutMs: 1000,
			gate: { canSend: true },
		});
		const { placesOf, counts } = await submitTo(missing(), [], { documents });
		expect(placesOf('rejected')).toEqual(range(0, 100));
		expect(counts).toMatchObject({ attempts: 10 });
	});

	const always = (outcome: RequestOutcome) => ({
		send: async () => await Promise.resolve(outcome),
	});
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

	it.each([404, 400, 422])('of a single document is certain after %i', async (status) => {
		for (const [outcomes, expected] of [
			[[answered(status)], 'rejected'],
			[[gone, answered(status)], 'unknown'],
		] as const) {
			const { send } = answering(...outcomes);
			const { told } = await submitTo({ send }, withIds(1), once);
			expect(told.map(({ outcome }) => outcome)).toEqual([expected]);
		}
	});

	it('of a single document is unknown after 500, which may come when it is stored', async () => {
		const { told } = await submitTo(answering(answered(500)), withIds(1), once);
		expect(told.map(({ outcome }) => outcome)).toEqual(['unknown']);
	});
});

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
	journal: (
		ids: string[],
	) => ReturnType<NonNullable<StorerOptions<number>['memory']>['journalBatch']>,
) => ({ journalBatch: async (hashes: Map<string, string>) => await journal([...hashes.keys()]) });

describe('before a batch', () => {
	const batchLimits = { maxCount: 2, maxBytes: Infinity };

	it('the journal gives rows for it and its halves, and learns how each ended', async () => {
		const asked: Array<[string | undefined, ...unknown[]]> = [];
		const server = new BulkServer();
		const memory = journaling(async (ids) => ({
			before: '{"id":"before"}',
			after: '{"id":"behind"}',
			ids: ['before', 'behind'],
			onEnded: (...end) => void asked.push([ids.join(), ...end]),
		}));
		const { placesOf } = await submitTo(server, withIds(3, { 1: 400 }), { batchLimits, memory });
		expect(asked).toEqual([
			['id-0,id-1', false, false],
			['id-0', true, false],
			['id-1', false, false],
			['id-2', true, false],
		]);
		expect([placesOf('stored'), placesOf('rejected')]).toEqual([[0, 2], [1]]);
		expect(server.rows.map(({ id }) => id)).toEqual(['before', 'id-0', 'behind', 'id-2']);
	});

	it('rows of the journal do not count as documents, also when the server gives its own IDs', async () => {
		const ofNewIds = withIds(2).map((model) => ({ ...model, lacksStableId: true }));
		const memory = journaling(async () => ({
			before: '{"id":"before"}',
			after: '{"id":"behind"}',
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
		['carried out', ['limited'], [true, false]],
		['carried out, and may be once more', ['timed out after storing'], [true, true]],
		['not carried out', ['limited', 'refused', 'refused'], [false, false]],
		['not answered', range(3).map(() => 'dropped before storing'), [false, true]],
		['refused', ['refused for now'], [false, false]],
		['not answered, and then too large', ['dropped before storing'], [false, true], 1],
	])('the journal learns that it was %s', async (_, faults, end, ...[maxBytes]) => {
		const told: unknown[] = [];
		await submitTo(new BulkServer(faults, maxBytes), withIds(1), {
			memory: journaling(async () => ({
				before: '{}',
				after: '{}',
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

it.each([1, 3])(
	'a source that breaks waits for what is being sent, %i at once',
	async (concurrency) => {
		async function* breaking() {
			yield* chunk(waiting(withIds(25)), 5);
			throw new Error('the file ends here');
		}
		const server = new BulkServer();
		const send: BulkServer['send'] = async (request) => {
			for (let turns = 0; turns < 10; turns++) await nextTurn();
			return await server.send(request);
		};
		const submitting = submitTo({ send }, [], { documents: breaking(), concurrency });
		await expect(submitting).rejects.toThrow('the file ends here');
		expect(server.rows).toHaveLength(20);
	},
);

it('a journal that breaks ends the submission with its error', async () => {
	const server = new BulkServer();
	const memory = { journalBatch: async () => await Promise.reject(new Error('no such note')) };
	await expect(submitTo(server, withIds(40), { memory })).rejects.toThrow('no such note');
	expect(server.requests).toBe(0);
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

type Fate = 'none' | 'uploaded' | 'unanswered once' | 'failing' | 'unreadable';
interface Plan {
	fate: Fate;
	/** Turns of the event loop its upload takes. */
	turns: number;
}

const AT_ONCE = 5;
const REFUSED = answered(500);
const GONE = new Error('the file is gone');

/** Uploads documents of which each has its fate, and gathers what became of them. */
async function uploadAll(plans: Plan[], goOn: () => boolean = () => true, taken = Infinity) {
	const ready: number[] = [];
	const told = { rejected: [], unreadable: [], notSent: [] } as Record<string, number[]>;
	const records: DocumentRecord[] = [];
	let [underWay, most, begun] = [0, 0, 0];
	const documents = plans.map(({ fate }, report): ReadyDocument<number> => {
		const content = Buffer.from('a');
		const file = async () => {
			begun += 1;
			if (fate === 'unreadable') throw GONE;
			return await Promise.resolve({ name: `${report}`, mimeType: 'text/plain', content });
		};
		return {
			...prepared({ name: `${report}` }, report),
			...(fate === 'none' ? {} : { readFile: file }),
		};
	});
	const unanswered = new Set(withFate(plans, 'unanswered once').map(String));
	const send = parsing(async ({ body }) => {
		most = Math.max(most, ++underWay);
		const { name } = (body as FormData).get('file') as File;
		const { fate, turns } = plans[Number(name)] ?? { fate: 'none', turns: 0 };
		for (let turn = 0; turn < turns; turn += 1)
			await new Promise((resolve) => setImmediate(resolve));
		underWay -= 1;
		if (unanswered.delete(name)) return broken('ECONNRESET');
		return fate === 'failing' ? REFUSED : succeeded({ url: `/files/${name}` });
	});
	const gate = {
		get canSend() {
			return goOn();
		},
	};
	const client = { send, clock: virtualTime() };
	const groups = chunk(documents, 3);
	for await (const some of uploadFiles({ documents: groups, client, timeoutMs: 1000, gate })) {
		for (const one of some) {
			if ('outcome' in one) {
				if ('document' in one) told[one.outcome]?.push(one.document.report);
				continue;
			}
			const { record, recordJson, sizeInBytes, report } = one;
			ready.push(report);
			records.push(record);
			expect({ recordJson, sizeInBytes }).toEqual(recordJsonAndSize(record));
		}
		if (ready.length >= taken) break;
	}
	return { ready, told, records, most, begun, underWay };
}

const plans = fc.array(
	fc.record<Plan>({
		fate: fc.constantFrom<Fate>('none', 'uploaded', 'unanswered once', 'failing', 'unreadable'),
		turns: fc.integer({ min: 0, max: 4 }),
	}),
	{ maxLength: 30 },
);
const withFate = (list: Plan[], ...fates: Fate[]) =>
	list.flatMap(({ fate }, index) => (fates.includes(fate) ? [index] : []));

describe('any mix of documents, files and failures', () => {
	it('is passed on in order or reported, each document once, with limited concurrency', async () => {
		await fc.assert(
			fc.asyncProperty(plans, async (list) => {
				const { ready, told, records, most } = await uploadAll(list);
				expect(records).toEqual(
					ready.map((at) => ({
						name: `${at}`,
						...(list[at]?.fate !== 'none' && { fileUrl: `/files/${at}` }),
					})),
				);
				expect(ready).toEqual(withFate(list, 'none', 'uploaded', 'unanswered once'));
				expect(told.rejected).toEqual(withFate(list, 'failing'));
				expect(told.unreadable).toEqual(withFate(list, 'unreadable'));
				expect(most).toBeLessThanOrEqual(AT_ONCE);
			}),
		);
	});

	it('starts no upload once it may not, and reports the documents as not sent', async () => {
		await fc.assert(
			fc.asyncProperty(plans, fc.integer({ min: 0, max: 10 }), async (list, allowed) => {
				let left = allowed;
				const { begun, told, underWay } = await uploadAll(list, () => left-- > 0);
				const files = list.flatMap(({ fate }, index) => (fate === 'none' ? [] : [index]));
				expect(begun).toBe(Math.min(allowed, files.length));
				expect(told.notSent).toEqual(files.slice(allowed));
				expect(underWay).toBe(0);
			}),
		);
	});
});

it('uploads whose consumer has left are still waited for', async () => {
	const list: Plan[] = [
		{ fate: 'uploaded', turns: 0 },
		...Array.from({ length: AT_ONCE - 1 }, (): Plan => ({ fate: 'failing', turns: 4 })),
	];
	const { ready, begun, underWay } = await uploadAll(list, undefined, 1);
	expect([ready, begun, underWay]).toEqual([[0], AT_ONCE, 0]);
});

describe('an unexpected error of a batch', () => {
	it('ends the run, and nothing more is sent', async () => {
		const journalBatch = jest.fn(async () => await Promise.reject(new Error('Broken')));
		const server = { send: jest.fn() };
		const run = submitTo(server, withIds(50), { memory: { journalBatch } });
		await expect(run).rejects.toThrow('Broken');
		expect(journalBatch).toHaveBeenCalledTimes(1);
		expect(server.send).not.toHaveBeenCalled();
	});
});

it('the folders of a batch are made before its documents', async () => {
	const asked: unknown[] = [];
	const answer = ({ body }: { body?: unknown }) => {
		const rows = JSON.parse(String(body)) as Array<{ id: string; name: string }>;
		asked.push(map(rows, 'name'));
		return succeeded(rows.map((row) => ({ ...row, id: row.id ?? 'id-0' })));
	};
	const routes = { send: calling(answer), storePath: '/bulk' };
	const folders = new FolderCreator('7b0e6c1a-3f52-4f7e-9a44-1d2c3b4a5f60', routes);
	const document = prepared({ name: 'a.md', folder: 'Dept/Sales' }, 0, 'id-0');
	await submitTo({ send: answer }, [], { documents: [[document]], folders });
	expect(asked).toEqual([['Dept', 'Sales'], ['a.md']]);
});
