import fc from 'fast-check';

import { startSandbox } from '../../sandbox';
import { createEngine } from './support/engine';
import { hintsOf } from './support/ingest';
import {
	anyCourse,
	copiesOf,
	isFound,
	prepare,
	reportsOf,
	submitCourse,
} from './support/ingestCourses';
import type { Course, Place, Prepared, Reported } from './support/ingestCourses';
import { useShortSleeps } from './support/shortSleeps';
import { PROPERTY_RUNS } from '../support/propertyRuns';

/** The proofs ask for more; each run is an execution or two of the engine. */
const RUNS = Math.ceil(PROPERTY_RUNS / 10);

const SOONER = 300;

const place = {} as Place;
useShortSleeps(SOONER);
beforeAll(async () => {
	place.engine = await createEngine();
	place.sandbox = await startSandbox({ processMs: 0 });
});
afterAll(async () => await place.sandbox?.close());

/** Checks something of any submission. */
async function inAnyCourse(check: (prepared: Prepared) => Promise<void>): Promise<void> {
	const property = fc.asyncProperty(anyCourse, async (course: Course) => {
		await check(await prepare(place, course));
	});
	await fc.assert(property, { numRuns: RUNS });
}

/** A document comes out once, in the place of its item. */
function expectEachOnce(reports: Reported[], { items }: Prepared): void {
	expect(reports.map((report) => report.place).sort((a, b) => a - b)).toEqual(
		items.map((_, index) => index),
	);
}

const isGood = (kind: string | undefined) => kind === 'good' || kind === 'table';

/** What is said of a document is so: that it is stored or not, and that it is found. */
function expectTrue(reports: Reported[], prepared: Prepared, decidesItself: boolean): void {
	const copies = copiesOf(place.sandbox, prepared);
	for (const report of reports) {
		const stored = copies[report.place] ?? 0;
		const told = { ...report, stored, found: isFound(place.sandbox, report.place) };
		expect(report.outcome === 'found').toBe(report.processing === 'finish');
		if (report.outcome === 'stored' || report.outcome === 'found')
			expect(told).toMatchObject({ stored: 1 });
		if (report.outcome === 'rejected') expect(told).toMatchObject({ stored: 0, failed: true });
		if (report.outcome === 'unknown') expect(told).toMatchObject({ failed: true });
		if (report.processing === 'finish') expect(told).toMatchObject({ found: true, failed: false });
		if (told.found || told.failed) continue;
		// Not found, and no error: it is on its way, or nobody can say what this server does.
		expect([...(decidesItself ? ['none'] : []), 'running']).toContain(report.processing);
	}
}

const saysItDecides = (hints: string[]) => hints.some((hint) => hint.includes('decides by itself'));

describe('whatever is submitted, and whatever goes wrong meanwhile', () => {
	it.each(['continueErrorOutput', 'continueRegularOutput'] as const)(
		'every document is reported once, truly, and none is stored twice (%s)',
		async (onError) => {
			const seen = new Set<string>();
			await inAnyCourse(async (prepared) => {
				const result = await submitCourse(place, prepared, onError);
				expect(result.error).toBeUndefined();
				const reports = reportsOf(result);
				expectEachOnce(reports, prepared);
				expectTrue(reports, prepared, saysItDecides(hintsOf(result)));
				expect(Math.max(...copiesOf(place.sandbox, prepared))).toBeLessThanOrEqual(1);
				for (const { outcome, processing } of reports) seen.add(`${outcome} ${processing}`);
			});
			// A sample need not meet every outcome.
			if (PROPERTY_RUNS < 250) return;
			expect([...seen]).toEqual(
				expect.arrayContaining(['found finish', 'stored error', 'rejected undefined']),
			);
		},
	);

	it('a document is stored only when its file is on the server', async () => {
		await inAnyCourse(async (prepared) => {
			if (prepared.course.source === 'addresses') return;
			await submitCourse(place, prepared, 'continueErrorOutput');
			const { documents, contents } = place.sandbox.store;
			for (const { fileUrl } of documents.values()) {
				expect(contents.at(String(fileUrl).replace(/^.*\/public\//, ''))).toBeDefined();
			}
		});
	});

	it('with Stop, either every document is found or the execution ends with an error', async () => {
		await inAnyCourse(async (prepared) => {
			const result = await submitCourse(place, prepared);
			expect(Math.max(...copiesOf(place.sandbox, prepared))).toBeLessThanOrEqual(1);
			if (result.error) {
				expect(result.error.message).toMatch(
					/Documents: \d|documents? (is|are) stored but not found|\[item \d+\]/,
				);
				return;
			}
			const reports = reportsOf(result);
			expectEachOnce(reports, prepared);
			expectTrue(reports, prepared, saysItDecides(hintsOf(result)));
			expect(reports.filter(({ failed }) => failed)).toEqual([]);
		});
	});

	it('a second run, with nothing going wrong, leaves every good document found, once', async () => {
		await inAnyCourse(async (prepared) => {
			await submitCourse(place, prepared, 'continueErrorOutput');
			place.sandbox.faults.clear();
			const reports = reportsOf(await submitCourse(place, prepared, 'continueErrorOutput'));
			expectEachOnce(reports, prepared);
			const { documents } = prepared.course;
			const finished = reports.filter(({ processing }) => processing === 'finish');
			const good = documents.flatMap((kind, index) => (isGood(kind) ? [index] : []));
			expect(finished.map((report) => report.place)).toEqual(good);
			expect(good.filter((index) => !isFound(place.sandbox, index))).toEqual([]);
			expect(Math.max(...copiesOf(place.sandbox, prepared))).toBeLessThanOrEqual(1);
		});
	});
});
