import fc from 'fast-check';

import { MAX_FOREIGN_ANSWERS } from '../../../../nodes/XpertAi/transport/classifyFailure';
import { BulkServer, FAULTS, ODDITIES, REFUSALS } from './support/bulkServer';
import type { Fault, ModelDocument } from './support/bulkServer';
import { submitTo } from './support/storingOn';
import type { Submitted } from './support/storingOn';

/** The status a document is refused with; most are good. */
const bad = fc.option(fc.constantFrom(400, 422, 500), { freq: 8, nil: undefined });
/** An answer that cannot be read passes as well, but three in a row are those of a stranger. */
const passing = fc
	.array(fc.constantFrom<Fault>('none', 'none', ...FAULTS), { maxLength: 25 })
	.map((faults) => {
		const cutOff = faults.flatMap((fault, at) => (fault === 'answer cut off' ? [at] : []));
		const tooMany = new Set(cutOff.slice(MAX_FOREIGN_ANSWERS - 1));
		return faults.map((fault, at) => (tooMany.has(at) ? 'none' : fault));
	});
const wrong = fc.array(
	fc.constantFrom<Fault>('none', 'none', 'none', ...FAULTS, ...ODDITIES, ...REFUSALS),
	{ maxLength: 25 },
);
/** One fault of those that are not waited for long. */
const oneOddity = fc
	.tuple(fc.nat({ max: 12 }), fc.constantFrom(...ODDITIES))
	.map(([before, oddity]) => [...Array<Fault>(before).fill('none'), oddity]);
const batchLimits = fc.record({
	maxCount: fc.integer({ min: 1, max: 12 }),
	maxBytes: fc.integer({ min: 40, max: 400 }),
});
const concurrency = fc.integer({ min: 1, max: 20 });
const retryLimits = fc.record({
	maxTries: fc.integer({ min: 1, max: 4 }),
	maxElapsedMs: fc.constant(Infinity),
});
const serverBytes = fc.oneof(fc.constant(Infinity), fc.integer({ min: 60, max: 300 }));

function documents(hasChunks: fc.Arbitrary<boolean>): fc.Arbitrary<ModelDocument[]> {
	const isNew = fc.boolean();
	return fc.array(fc.record({ bad, isNew, hasChunks }), { maxLength: 50 }).map((drawn) =>
		drawn.map((one, key) => ({
			key,
			id: `id-${key}`,
			isNew: one.isNew,
			...(one.bad === undefined ? {} : { bad: one.bad }),
			...(one.hasChunks ? { chunks: [] } : {}),
		})),
	);
}

const plain = documents(fc.constant(false));
/** Chunks are refused when they come again, as after a batch that was stored as far as a bad document. */
const someWithChunks = documents(fc.boolean());

/** What goes wrong with the requests of a submission, and how it is set up. */
interface Course extends NonNullable<Parameters<typeof submitTo>[2]> {
	wrong: Fault[];
	serverBytes?: number;
}

/** Tries and halves enough for one thing that goes wrong. */
const patient = (faults: fc.Arbitrary<Fault[]>): fc.Arbitrary<Course> =>
	fc.record({ wrong: faults, batchLimits, concurrency }).map((course) => ({
		...course,
		retryLimits: { maxTries: 4, maxElapsedMs: Infinity },
	}));
/** More tries than things that go wrong. */
const outlasting = (faults: fc.Arbitrary<Fault[]>): fc.Arbitrary<Course> =>
	fc.record({ wrong: faults, batchLimits, concurrency }).map((course) => ({
		...course,
		retryLimits: { maxTries: course.wrong.length + 1, maxElapsedMs: Infinity },
	}));
/** Whatever goes wrong, for however long. */
const any: fc.Arbitrary<Course> = fc.record({
	wrong,
	batchLimits,
	concurrency,
	retryLimits,
	serverBytes,
});

/** Submits drawn documents in drawn courses, each to a server of its own, and checks what came of it. */
async function always(
	models: fc.Arbitrary<ModelDocument[]>,
	course: fc.Arbitrary<Course>,
	check: (
		submitted: Submitted,
		server: BulkServer,
		models: ModelDocument[],
		course: Course,
	) => void,
	numRuns?: number,
): Promise<void> {
	await fc.assert(
		fc.asyncProperty(models, course, async (drawn, drawnCourse) => {
			const { wrong: faults, serverBytes: most, ...changes } = drawnCourse;
			const server = new BulkServer(faults, most);
			check(await submitTo(server, drawn, changes), server, drawn, drawnCourse);
		}),
		{ numRuns },
	);
}

function expectToldOnce({ told }: Submitted, models: ModelDocument[]): void {
	const places = told.map(({ document }) => document.origin);
	expect(places.sort((one, other) => one - other)).toEqual(models.map(({ key }) => key));
}

/** What is reported must be true: stored is stored, and rejected is not. */
function expectHonest({ placesOf }: Submitted, server: BulkServer): void {
	expect(placesOf('stored').filter((key) => server.copiesOf(key) === 0)).toEqual([]);
	expect(placesOf('rejected').filter((key) => server.copiesOf(key) > 0)).toEqual([]);
}

describe('documents, with new IDs or their own,', () => {
	it('are all stored once, except those the server rejects, if the faults pass', async () => {
		await always(
			plain,
			fc.oneof(outlasting(passing), patient(oneOddity)),
			(submitted, server, models) => {
				const good = models.filter((model) => model.bad === undefined).map(({ key }) => key);
				expectToldOnce(submitted, models);
				expect(submitted.placesOf('stored')).toEqual(good);
				expect(server.rows.map(({ key }) => key).sort((a, b) => a - b)).toEqual(good);
			},
			300,
		);
	});

	it('are reported truthfully, whatever goes wrong and for however long', async () => {
		await always(
			fc.oneof(plain, someWithChunks),
			any,
			(submitted, server, models) => {
				expectToldOnce(submitted, models);
				expectHonest(submitted, server);
				expect(new Set(server.rows.map(({ id }) => id)).size).toBe(server.rows.length);
			},
			500,
		);
	});
});

it('never exceeds the concurrency', async () => {
	const pairs = fc.constant({ maxCount: 2, maxBytes: Infinity });
	await always(
		plain,
		fc.record({ wrong, batchLimits: pairs, concurrency }),
		(_submitted, server, _models, course) =>
			expect(server.most).toBeLessThanOrEqual(Number(course.concurrency)),
	);
});

it('counts requests, bytes, retries and splits correctly', async () => {
	await always(plain, fc.record({ wrong, batchLimits }), ({ counts }, server) => {
		expect(counts).toMatchObject({ requests: server.requests, bytes: server.bytes });
		// Every batch is one request; a split makes two more of it, and a retry one.
		expect(counts.requests).toBe(counts.batches + 2 * counts.splits + counts.retries);
	});
});
