import { existsSync } from 'node:fs';

import type { ContenderName, Task } from '../contenders/contender';
import { figure, judged, megabytes, table, withSpread } from '../page/words';
import { differences, median, numbers, ratios } from '../run/figures';
import type { Entry, Part, PartResults, Section } from '../run/part';
import { ingestion } from '../support/ingestion';
import type { ServerSettings } from '../support/server';
import { NODES_BASE } from '../support/paths';

const SIZES = {
	documents: 4000,
	bare: 10_000,
	configured: 2000,
	httpDocuments: 3000,
	warmUp: 2000,
};
const QUICK = { documents: 4000, bare: 4000, configured: 1000, httpDocuments: 200, warmUp: 500 };

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
	submitSkipping: 'mapped by hand, Send What Is New or Changed, nothing has changed',
	submitProcessed: 'mapped by name, Process and Wait',
	submitByHandProcessed: 'mapped by hand, Process and Wait',
};

/** Those that are compared stand beside each other: a machine is not the same from minute to minute. */
const CONFIGURED: ContenderName[] = [
	'submit',
	'submitProcessed',
	'submitByHand',
	'resolving',
	'submitByHandProcessed',
	'submitSummary',
	'submitSkipping',
];

/** Servers: the sandbox, and one that costs nothing, so that nothing but the client counts, at its usual speed. */
const SERVERS = [
	{ settings: {}, where: '', size: 'documents', compared: ['submit', 'helper', 'axios'] },
	{
		settings: { bare: true },
		where: ', a server that costs nothing',
		size: 'bare',
		compared: ['submit', 'helper'],
	},
] as const;

const nameOf = (contender: ContenderName, concurrency: number, where: string) =>
	`${LABELS[contender]}, ${concurrency} at once${where}`;

/** Compared with each other, and so measured in each round. */
const JUDGED: ContenderName[] = ['submitByHand', 'resolving'];

const configuredLabel = (contender: ContenderName) =>
	contender === 'submit' ? 'mapped by name' : LABELS[contender];

const configuredName = (contender: ContenderName) =>
	`${configuredLabel(contender)}${SERVERS[1].where}`;

/** Those Submit is beside, and how it is to stand. The helper has nothing to make of items; that is what costs on the second server. */
const BESIDE = [
	{
		other: 'helper',
		counted: 'throughput',
		against: "n8n's own helper with ready bodies (the platform's limit)",
		aim: '≥ 0.95',
		isMet: (ratio: number) => ratio >= 0.95,
	},
	{
		other: 'axios',
		counted: 'throughput',
		against: 'axios, keep-alive, ready bodies',
		aim: '≥ 0.9',
		isMet: (ratio: number) => ratio >= 0.9,
	},
	{
		other: 'axios',
		counted: 'processor time of the client',
		against: 'axios, keep-alive, ready bodies',
		aim: '≤ 1.5 times',
		isMet: (ratio: number) => ratio <= 1.5,
	},
] as const;

const BARE_BESIDE = [
	{ ...BESIDE[0], aim: '≥ 0.8', isMet: (ratio: number) => ratio >= 0.8 },
	{ ...BESIDE[2], other: 'helper', against: BESIDE[0].against },
] as const;

/** All comparisons: on each server, with as many requests at once. */
const COMPARISONS = SERVERS.flatMap(({ where, settings }) =>
	('bare' in settings ? BARE_BESIDE : BESIDE).flatMap((beside) =>
		CONCURRENCIES.map((concurrency) => ({ ...beside, concurrency, where })),
	),
);

const AIMS = [
	...COMPARISONS.map(({ counted, against, aim, concurrency, where }) => ({
		what: `Submit, 1 KB each, ${concurrency} at once${where}: ${counted}`,
		against,
		aim,
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
			{ settings, ...more }: Pick<Entry, 'seconds' | 'rounds'> & { settings?: ServerSettings },
		): Entry => ({ name, ...more, ...work.measuring({ ...base, ...task }, settings) });
		const throughput = SERVERS.flatMap(({ settings, where, size, compared }) =>
			CONCURRENCIES.flatMap((concurrency) =>
				compared.map((contender) =>
					entry(
						nameOf(contender, concurrency, where),
						{ contender, documents: sizes[size], concurrency },
						{ seconds: 2 + sizes[size] / 8000, settings },
					),
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
				{
					seconds: 2 + sizes.configured / 2000,
					settings: { bare: true },
					...(JUDGED.includes(contender) ? {} : { rounds: 1 }),
				},
			),
		);
		const single = { contender: 'httpRequest' as const, documents: sizes.httpDocuments };
		const items = entry(
			LABELS.httpRequest,
			{ ...single, concurrency: sizes.httpDocuments, warmUp: 200, batchSize: 1 },
			{ seconds: 6, rounds: 1 },
		);
		return {
			sizes,
			rounds: quick ? 1 : 7,
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
	const beyond = differences(cpu(configuredName('submitByHand')), cpu(configuredName('resolving')));
	const aims = [
		...COMPARISONS.map(({ other, counted, concurrency, where, isMet }, index) => {
			const of = counted === 'throughput' ? speeds : cpu;
			const ours = of(nameOf('submit', concurrency, where));
			return judged(AIMS[index], ratios(ours, of(nameOf(other, concurrency, where))), isMet);
		}),
		judged(AIMS[COMPARISONS.length], beyond, (micros) => micros < 60, { digits: 0, unit: ' µs' }),
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
	const measured = SERVERS.flatMap(({ where, compared }) =>
		CONCURRENCIES.flatMap((at) => compared.map((one) => row(nameOf(one, at, where)))),
	);
	const items = results.entries[LABELS.httpRequest] ? [row(LABELS.httpRequest)] : [];
	const { bare, documents, configured, httpDocuments } = results.sizes;
	return {
		aims,
		plots: [],
		text: `
| contender | what it does |
| --- | --- |
| Document: Submit | ${figure(documents ?? 0)} items of 1 KB (${figure(bare ?? 0)} on the server that costs nothing), columns mapped by name, After Storing = Nothing, the field list in the parameter as the editor saves it, batches of ${BATCH_SIZE}; one outcome item for each |
| n8n's own helper | a node that does nothing but call n8n's HTTP helper, with the options Submit calls it with and bodies made beforehand: as fast as a node on this platform can be |
| axios | a bare keep-alive client with the same bodies, which checks nothing |
| HTTP Request | n8n's own node with its defaults: one request an item, all started at once; ${figure(httpDocuments ?? 0)} documents, since with 20,000 it ended with \`EMFILE\` (too many open files) |

All contenders send the same bodies, byte for byte: what Submit sends for these documents is recorded before, and given to the others. Each contender runs in a process of its own, against a fresh server in another one, after a warm-up that is not timed. The server is the sandbox, or one that costs nothing: it keeps the ids it finds in a body, and answers with them. A run in which a document is not confirmed, has not arrived, or in which other bytes have arrived, is not counted.

${table(header, [...measured, ...items])}

### The usual configuration beside the cheapest

${figure(configured ?? 0)} documents, 1 request at once, on the server that costs nothing; After Storing = Nothing where nothing else is said, and _Process and Wait_ is the default: this server has processed at once what it is asked to, and what counts is the processor time. _n8n's own resolution and helper_ is a node that only has n8n resolve the same four expressions for each item, and then sends ready bodies. What Submit takes beyond it is the small difference of two large figures, which change from minute to minute.

${table(
	header,
	CONFIGURED.map((one) => row(configuredName(one), configuredLabel(one))),
)}
`,
	};
}
