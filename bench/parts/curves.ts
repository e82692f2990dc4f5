import type { ContenderName } from '../contenders/contender';
import { linePlot } from '../page/plots';
import type { Line } from '../page/plots';
import { figure, judged, table, withSpread } from '../page/words';
import { median, numbers, ratios } from '../run/figures';
import type { Entry, Part, PartResults, Section } from '../run/part';
import { ingestion } from '../support/ingestion';
import type { Distance } from '../support/server';

const DISTANCE: Distance = { roundTripMs: 30, documentMs: 12, uploadMs: 20 };
const DOCUMENT_BYTES = 1024;
const BATCH_SIZE = 100;
const BATCHES_AT_ONCE = 5;

const CONCURRENCIES = [1, 2, 3, 5];
const BATCH_SIZES = [10, 50, 100];
const CONTENDERS = ['submit', 'axios'] as const;

/** Those the aim speaks of are measured more often. */
const JUDGED = [1, 5];

const AIMS = JUDGED.map((concurrency) => ({
	what: `Submit behind TLS, 30 ms round trip, 12 ms a document, ${concurrency} at once: throughput`,
	against: 'axios, keep-alive, equal concurrency',
	aim: '≥ 0.95',
}));

const LABELS: Partial<Record<ContenderName, string>> = { submit: 'Submit', axios: 'axios' };

const nameOf = (contender: ContenderName, batchSize: number, concurrency: number) =>
	`${LABELS[contender]}, batches of ${batchSize}, ${concurrency} at once`;

/** How throughput grows with requests at once and with their size, on a server as slow as a real one. */
export const curvesPart: Part = {
	name: 'curves',
	title: 'Submit to a slow server behind a network',
	aims: AIMS,
	plan: ({ quick }) => {
		const sizes = { documents: quick ? 100 : 300, judged: 200 };
		const work = ingestion({ distance: DISTANCE });
		const entry = (contender: ContenderName, batchSize: number, concurrency: number): Entry => {
			const isJudged = batchSize === BATCH_SIZE && JUDGED.includes(concurrency);
			// At least as many as are under way at once; those judged are whole rounds of batches.
			const documents = Math.max(
				isJudged ? sizes.judged : sizes.documents,
				batchSize * concurrency,
			);
			return {
				name: nameOf(contender, batchSize, concurrency),
				seconds: 2 + documents * 0.011,
				...(isJudged ? {} : { rounds: 1 }),
				...work.measuring({
					contender,
					documents,
					documentBytes: DOCUMENT_BYTES,
					batchSize,
					concurrency,
					warmUp: 20,
					times: 1,
				}),
			};
		};
		const byConcurrency = CONCURRENCIES.flatMap((concurrency) =>
			CONTENDERS.map((contender) => entry(contender, BATCH_SIZE, concurrency)),
		);
		const bySize = BATCH_SIZES.filter((size) => size !== BATCH_SIZE).flatMap((size) =>
			CONTENDERS.map((contender) => entry(contender, size, BATCHES_AT_ONCE)),
		);
		return {
			sizes,
			rounds: quick ? 1 : 7,
			entries: [...byConcurrency, ...bySize],
			close: work.close,
		};
	},
	report,
};

function report(results: PartResults): Section {
	const speeds = (name: string) =>
		ratios(numbers(results, name, 'documents'), numbers(results, name, 'seconds'));
	const ratioAt = (batchSize: number, concurrency: number) =>
		ratios(
			speeds(nameOf('submit', batchSize, concurrency)),
			speeds(nameOf('axios', batchSize, concurrency)),
		);
	const lines = (values: number[], name: (contender: ContenderName, value: number) => string) =>
		CONTENDERS.map(
			(contender): Line => ({
				name: LABELS[contender] ?? contender,
				points: values.map((value) => [value, median(speeds(name(contender, value)))]),
				dashed: contender === 'axios',
			}),
		);
	const atOnce = lines(CONCURRENCIES, (who, value) => nameOf(who, BATCH_SIZE, value));
	const inOne = lines(BATCH_SIZES, (who, value) => nameOf(who, value, BATCHES_AT_ONCE));
	const rows = (values: number[], name: (contender: ContenderName, value: number) => string) =>
		values.map((value) => [
			String(value),
			withSpread(speeds(name('submit', value)), 1),
			withSpread(speeds(name('axios', value)), 1),
			withSpread(ratios(speeds(name('submit', value)), speeds(name('axios', value)))),
		]);
	const header = ['Submit, a second', 'axios, a second', 'ratio'];
	const { documents, judged: more } = results.sizes;
	return {
		aims: JUDGED.map((concurrency, index) =>
			judged(AIMS[index], ratioAt(BATCH_SIZE, concurrency), (ratio) => ratio >= 0.95),
		),
		plots: [
			{
				name: 'concurrency',
				alt: 'Documents a second by requests at once, of Submit and of axios',
				svg: linePlot({
					title: `Documents a second by requests at once, batches of ${BATCH_SIZE}`,
					x: 'requests at once',
					y: 'documents a second',
					lines: atOnce,
					marked: true,
				}),
			},
			{
				name: 'batch-size',
				alt: 'Documents a second by batch size, of Submit and of axios',
				svg: linePlot({
					title: `Documents a second by batch size, ${BATCHES_AT_ONCE} requests at once`,
					x: 'documents in a request',
					y: 'documents a second',
					lines: inOne,
					steps: BATCH_SIZES,
					marked: true,
				}),
			},
		],
		text: `
The server lies behind TLS and 30 ms of round trip: bytes take 15 ms each way, and a connection a whole round trip before its first byte, as TCP has it. n8n's HTTP helper opens a connection, and so a handshake of TLS, for each request; axios keeps its connections.

It is as slow as a real one was: 500 documents took 6.8 s in batches of 100 one after another, 5.7 s three at once and 4.8 s five at once. A document is set to 12 ms of work, and a request to that of one document more.

${figure(documents ?? 0)} documents of 1 KB, where the ratio is an aim ${figure(more ?? 0)}, and as many as are under way at once at least.

{{plot concurrency}}

${table(
	['requests at once', ...header],
	rows(CONCURRENCIES, (who, value) => nameOf(who, BATCH_SIZE, value)),
)}

{{plot batch-size}}

${table(
	['documents in a request', ...header],
	rows(BATCH_SIZES, (who, value) => nameOf(who, value, BATCHES_AT_ONCE)),
)}
`,
	};
}
