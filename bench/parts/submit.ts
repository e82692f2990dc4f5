import type { ContenderName } from '../contenders/contender';
import { figure, megabytes, table, withSpread } from '../page/words';
import { median, numbers, ratios } from '../run/figures';
import type { Entry, Part, PartResults, Section } from '../run/part';
import { ingestion } from '../support/ingestion';

const SIZES = { documents: 10_000, warmUp: 2000 };
const QUICK = { documents: 4000, warmUp: 500 };

const DOCUMENT_BYTES = 1024;
const BATCH_SIZE = 100;
const CONCURRENCIES = [1, 5];

const LABELS: Record<ContenderName, string> = {
	submit: 'Document: Submit',
	helper: "n8n's own helper",
};
const CONTENDERS = ['submit', 'helper'] as const;

const nameOf = (contender: ContenderName, concurrency: number) =>
	`${LABELS[contender]}, ${concurrency} at once`;

/** What a document takes of the client's processor, where the server costs nothing. Figures without an aim. */
export const submitPart: Part = {
	name: 'submit',
	title: 'What Submit itself takes',
	aims: [],
	plan: ({ quick }) => {
		const { documents, warmUp } = quick ? QUICK : SIZES;
		const work = ingestion();
		const entry = (contender: ContenderName, concurrency: number): Entry => ({
			name: nameOf(contender, concurrency),
			seconds: 2 + documents / 8000,
			...work.measuring({
				contender,
				documents,
				documentBytes: DOCUMENT_BYTES,
				batchSize: BATCH_SIZE,
				concurrency,
				warmUp,
			}),
		});
		return {
			sizes: { documents },
			rounds: quick ? 1 : 3,
			entries: CONCURRENCIES.flatMap((concurrency) =>
				CONTENDERS.map((contender) => entry(contender, concurrency)),
			),
			close: work.close,
		};
	},
	report,
};

function report(results: PartResults): Section {
	const of = (name: string, one: string, other: string) =>
		ratios(numbers(results, name, one), numbers(results, name, other));
	const row = (name: string) => [
		name,
		withSpread(of(name, 'documents', 'seconds'), 0),
		withSpread(
			of(name, 'cpuSeconds', 'documents').map((seconds) => seconds * 1e6),
			0,
		),
		megabytes(median(numbers(results, name, 'peakRss'))),
		megabytes(median(numbers(results, name, 'peakHeap'))),
	];
	const { documents = 0 } = results.sizes;
	return {
		aims: [],
		text: `
${figure(documents)} items of 1 KB, columns mapped by name, After Storing = Nothing, batches of ${BATCH_SIZE}, one outcome item for each; on a server that costs nothing: it keeps the ids it finds in a body, and answers with them. _n8n's own helper_ is a node that does nothing but call n8n's HTTP helper with the options Submit calls it with and the same bodies, byte for byte, made beforehand: as fast as a node on this platform can be. Each runs in a process of its own, after a warm-up that is not timed. A run in which a document is not confirmed, or in which other bytes have arrived, is not counted.

${table(
	['', 'documents a second', 'processor time, µs a document', 'peak resident memory', 'peak heap'],
	CONCURRENCIES.flatMap((concurrency) =>
		CONTENDERS.map((contender) => row(nameOf(contender, concurrency))),
	),
)}
`,
	};
}
