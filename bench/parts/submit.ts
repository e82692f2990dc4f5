import { existsSync } from 'node:fs';

import type { ContenderName, Task } from '../contenders/contender';
import { figure, judged, megabytes, table, withSpread } from '../page/words';
import { differences, median, numbers, ratios } from '../run/figures';
import type { Entry, Part, PartResults, Section } from '../run/part';
import { ingestion } from '../support/ingestion';
import { NODES_BASE } from '../support/paths';

const SIZES = { documents: 100_000, configured: 10_000, httpDocuments: 3000, warmUp: 2000 };
const QUICK = { documents: 4000, configured: 1000, httpDocuments: 200, warmUp: 500 };

const DOCUMENT_BYTES = 1024;
const BATCH_SIZE = 100;
const CONCURRENCIES = [1, 5];

const LABELS: Record<ContenderName, string> = {
	submit: 'Document: Submit',
	helper: "n8n's own helper",
	axios: 'axios',
	httpRequest: 'HTTP Request, an item each',
	resolving: "n8n's own resolution and helper",
	submitByHand: 'mapped by hand, four expressions',
	submitSummary: 'mapped by hand, Output: Summary',
	submitSkipping: 'mapped by hand, Skip Unchanged, nothing has changed',
};

const CONFIGURED: ContenderName[] = [
	'submit',
	'submitByHand',
	'submitSummary',
	'submitSkipping',
	'resolving',
];

const nameOf = (contender: ContenderName, concurrency: number) =>
	`${LABELS[contender]}, ${concurrency} at once`;

const configuredName = (contender: ContenderName) =>
	contender === 'submit' ? 'mapped by name' : LABELS[contender];

const AIMS = [
	...CONCURRENCIES.map((concurrency) => ({
		what: `Submit, 1 KB each, ${concurrency} at once: throughput`,
		against: "n8n's own helper with ready bodies (the platform's limit)",
		aim: '≥ 0.95',
	})),
	...CONCURRENCIES.map((concurrency) => ({
		what: `Submit, 1 KB each, ${concurrency} at once: throughput`,
		against: 'axios, keep-alive, ready bodies',
		aim: '≥ 0.9',
	})),
	...CONCURRENCIES.map((concurrency) => ({
		what: `Submit, 1 KB each, ${concurrency} at once: processor time of the client`,
		against: 'axios, keep-alive, ready bodies',
		aim: '≤ 1.5 times',
	})),
	{
		what: 'Submit, mapped by hand with four expressions: processor time a document',
		against: "beyond n8n's own resolution and helper",
		aim: '< 60 µs',
	},
];

/** How much Submit stores, beside what the platform and a bare client can do. */
export const submitPart: Part = {
	name: 'submit',
	title: 'Submit, beside the platform and a bare client',
	aims: AIMS,
	plan: ({ quick }) => {
		const sizes = quick ? QUICK : SIZES;
		const work = ingestion();
		const base = {
			documentBytes: DOCUMENT_BYTES,
			batchSize: BATCH_SIZE,
			warmUp: sizes.warmUp,
			times: 1,
		};
		const entry = (
			name: string,
			task: Pick<Task, 'contender' | 'documents' | 'concurrency'> & Partial<Task>,
			seconds: number,
			rounds?: number,
		): Entry => ({
			name,
			seconds,
			...(rounds === undefined ? {} : { rounds }),
			...work.measuring({ ...base, ...task }),
		});
		const throughput = CONCURRENCIES.flatMap((concurrency) =>
			(['submit', 'helper', 'axios'] as const).map((contender) =>
				entry(
					nameOf(contender, concurrency),
					{ contender, documents: sizes.documents, concurrency },
					4 + sizes.documents / 12_000,
				),
			),
		);
		const configured = CONFIGURED.map((contender) =>
			entry(
				configuredName(contender),
				{
					contender,
					documents: sizes.configured,
					concurrency: 1,
					times: contender === 'submitSkipping' ? 2 : 1,
				},
				5 + sizes.configured / 5000,
			),
		);
		const single = { contender: 'httpRequest' as const, documents: sizes.httpDocuments };
		const items = entry(
			LABELS.httpRequest,
			{ ...single, concurrency: sizes.httpDocuments, warmUp: 200, batchSize: 1 },
			6,
			1,
		);
		return {
			sizes,
			rounds: quick ? 1 : 2,
			entries: [...throughput, ...configured, ...(existsSync(NODES_BASE) ? [items] : [])],
			close: work.close,
		};
	},
	report,
};

function report(results: PartResults): Section {
	const speeds = (name: string) =>
		ratios(numbers(results, name, 'documents'), numbers(results, name, 'seconds'));
	const cpu = (name: string) =>
		ratios(numbers(results, name, 'cpuSeconds'), numbers(results, name, 'documents')).map(
			(seconds) => seconds * 1e6,
		);
	const against = (other: ContenderName, concurrency: number, of: (name: string) => number[]) =>
		ratios(of(nameOf('submit', concurrency)), of(nameOf(other, concurrency)));
	const beyond = differences(cpu(configuredName('submitByHand')), cpu(configuredName('resolving')));
	const aims = [
		...CONCURRENCIES.map((at, index) =>
			judged(AIMS[index], against('helper', at, speeds), (ratio) => ratio >= 0.95),
		),
		...CONCURRENCIES.map((at, index) =>
			judged(AIMS[2 + index], against('axios', at, speeds), (ratio) => ratio >= 0.9),
		),
		...CONCURRENCIES.map((at, index) =>
			judged(AIMS[4 + index], against('axios', at, cpu), (ratio) => ratio <= 1.5),
		),
		judged(AIMS[6], beyond, (micros) => micros < 60, { digits: 0, unit: ' µs' }),
	];
	const row = (name: string, label = name) => [
		label,
		withSpread(speeds(name), 0),
		withSpread(cpu(name), 0),
		megabytes(median(numbers(results, name, 'peakRss'))),
		megabytes(median(numbers(results, name, 'peakHeap'))),
	];
	const header = [
		'',
		'documents a second',
		'processor time, µs a document',
		'peak resident memory',
		'peak heap',
	];
	const measured = CONCURRENCIES.flatMap((at) =>
		(['submit', 'helper', 'axios'] as const).map((one) => row(nameOf(one, at))),
	);
	const items = results.entries[LABELS.httpRequest] ? [row(LABELS.httpRequest)] : [];
	const { documents, configured, httpDocuments } = results.sizes;
	return {
		aims,
		plots: [],
		text: `
| contender | what it does |
| --- | --- |
| Document: Submit | ${figure(documents ?? 0)} items of 1 KB, columns mapped by name, the field list in the parameter as the editor saves it, batches of ${BATCH_SIZE}; one outcome item for each |
| n8n's own helper | a node that does nothing but call n8n's HTTP helper, with the options Submit calls it with and bodies made beforehand: as fast as a node on this platform can be |
| axios | a bare keep-alive client with the same bodies, which checks nothing |
| HTTP Request | n8n's own node with its defaults: one request an item, all started at once; ${figure(httpDocuments ?? 0)} documents, since with 20,000 it ended with \`EMFILE\` (too many open files) |

All contenders send the same bodies, byte for byte: what Submit sends for these documents is recorded before, and given to the others. (In version 0.1.0, Submit gave ids to the pages of a document, which made its bodies 4 % larger than theirs.) Each contender runs in a process of its own, against a fresh sandbox in another one, after a warm-up that is not timed. A run in which a document is not confirmed, has not arrived, or in which other bytes have arrived, is not counted.

${table(header, [...measured, ...items])}

### The usual configuration beside the cheapest

${figure(configured ?? 0)} documents, 1 request at once. _n8n's own resolution and helper_ is a node that only has n8n resolve the same four expressions for each item, and then sends ready bodies.

${table(
	header,
	CONFIGURED.map((one) => row(configuredName(one))),
)}
`,
	};
}
