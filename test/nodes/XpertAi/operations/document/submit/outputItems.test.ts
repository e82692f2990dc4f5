import { map } from 'lodash';
import type { IDataObject } from 'n8n-workflow';
import { recordJsonAndSize } from 'nodes/XpertAi/ingest/readyDocuments';
import {
	unfindableReason,
	type LastProcessingState,
	lastStateOf,
} from 'nodes/XpertAi/ingest/statuses';
import {
	documentsError,
	withPlainReason,
	processingAdvice,
} from 'nodes/XpertAi/operations/document/submit/documentErrors';
import { memoryHints } from 'nodes/XpertAi/operations/document/submit/endHints';
import { submitFields } from 'nodes/XpertAi/operations/document/submit/fields';
import type { DocumentReport } from 'nodes/XpertAi/operations/document/submit/documentReport';
import { progressInWords } from 'nodes/XpertAi/operations/document/submit/summaryTexts';
import { allHints } from 'nodes/XpertAi/operations/document/submit/hints';
import { processingError, stopError } from 'nodes/XpertAi/operations/document/submit/endErrors';
import {
	documentOutputItems,
	outputItems,
} from 'nodes/XpertAi/operations/document/submit/outputItems';
import { readSubmitSettings } from 'nodes/XpertAi/operations/document/submit/settings';
import { Submission } from 'nodes/XpertAi/operations/document/submit/submission';
import { countWithNoun } from 'nodes/XpertAi/operations/document/textHelpers';
import type { DocumentRecord } from 'nodes/XpertAi/payloads/document';
import { failureMessage } from 'nodes/XpertAi/transport/failureText';
import { itemOf } from 'test/nodes/support/context';
import { prepared } from 'test/nodes/support/documents';
import { thrownBy } from 'test/nodes/support/thrown';
import { sequence } from 'test/sandbox/support/recordings';

import { failure } from '../../../ingest/support/outcomes';

const ID = '2f78e81b-096f-42ff-8ac0-8403fd81392d';
const KEY = 'a.md';

/** A run of one item, and what happens to its documents, which all have one ID. */
function runOf({
	continues = true,
	output = 'documents',
	source = 'text',
	dryRun = false,
	isFindChanges = false,
} = {}) {
	const item = itemOf(
		{ knowledgebaseId: ID, source, options: { output, dryRun } },
		{
			index: 4,
			fields: submitFields,
			methods: {
				continueOnFail: () => continues,
				getExecutionCancelSignal: () => undefined,
				getMode: () => 'trigger',
			},
		},
	);
	const settings = { ...readSubmitSettings(item), simplify: true };
	const run = new Submission(item, settings, isFindChanges ? () => [] : undefined);
	item.progress = () => progressInWords(run);
	const { tally } = run;
	/** A document that was read. */
	const read = (name = 'a', more: DocumentRecord = {}) => {
		const record = { id: ID, name, ...more };
		const report: DocumentReport = { item, name, id: ID, key: KEY };
		run.recordFact({ outcome: 'read', report });
		const document = { record, ...recordJsonAndSize(record), id: ID, key: KEY, report };
		return { document, batch: 2, attempts: 3 };
	};
	const stored = (place = read()) => {
		run.recordFact({ ...place, outcome: 'stored', status: 201, record: place.document.record });
		return place.document;
	};
	const failed = (outcome: 'rejected' | 'unknown' = 'rejected', place = read()) => {
		const facts = { kind: 'status', status: 422, reason: 'no.', requestId: 'r-1' } as const;
		run.recordFact({ ...place, outcome, failure: failure(facts) });
	};
	const processed = (end: LastProcessingState, document?: ReturnType<typeof stored>) =>
		run.recordFact({
			outcome: 'processed',
			id: ID,
			lastProcessingState: end,
			report: document?.report,
		});
	const outputs = () => outputItems(run, 1.2345);
	const items = () => outputs().map(({ json }) => json);
	const hints = () => allHints(run);
	const stopped = () => stopError(run, run.stoppedBy ?? { item });
	return { run, tally, item, read, stored, failed, processed, outputs, items, hints, stopped };
}

const repeat = (count: number, act: () => unknown) => Array.from({ length: count }, () => act());

describe('the item of a document', () => {
	it('begins with what a user looks for', () => {
		const { run, read, stored, items } = runOf();
		stored();
		run.recordFact({ ...read('b'), outcome: 'unchanged' });
		const sent = { key: KEY, id: ID, status: 201, attempts: 3, batch: 2 };
		expect(items().map((json) => JSON.stringify(json))).toEqual([
			JSON.stringify({ name: 'a', outcome: 'stored', processing: 'none', ...sent }),
			JSON.stringify({ name: 'b', outcome: 'unchanged', key: KEY, id: ID }),
		]);
	});

	it('that is not stored has all that is known, and says so where it may be', () => {
		const { failed, items, outputs } = runOf();
		failed('rejected');
		failed('unknown');
		const details = { name: 'a', key: KEY, id: ID, status: 422, attempts: 3, batch: 2 };
		expect(items()).toMatchObject([
			{
				error: 'The server answered 422: no.',
				details: { ...details, outcome: 'rejected', requestId: 'r-1' },
			},
			{
				error: expect.stringMatching(/It is not known whether this document is stored$/),
				details: { ...details, outcome: 'unknown' },
			},
		]);
		expect(map(outputs(), 'pairedItem')).toEqual([{ item: 4 }, { item: 4 }]);
	});

	it.each<[LastProcessingState['state'], string | undefined, IDataObject]>([
		['finish', undefined, { outcome: 'found', processing: 'finish', key: KEY, batch: 2 }],
		['running', 'half way', { outcome: 'stored', processing: 'running', processMsg: 'half way' }],
		['error', 'no text', { error: 'The document could not be processed: no text' }],
		['error', undefined, { error: 'The document could not be processed' }],
		['cancel', undefined, { error: 'The document was stored, but its processing was cancelled' }],
		['none', 'no', { error: 'The document is stored, but not being processed: no' }],
	])('shows the last state of its processing: %s', (state, processMsg, expected) => {
		const { stored, processed, items } = runOf();
		processed({ state, processMsg }, stored());
		const isFailed = 'error' in expected;
		const details = { name: 'a', outcome: 'stored', processing: state, key: KEY, id: ID };
		expect(items()).toMatchObject([{ ...expected, ...(isFailed && { details }) }]);
	});
});

describe('of two documents that come with one key', () => {
	it.each(['before', 'after'])('the earlier is replaced: read %s its outcome', (when) => {
		const { run, tally, read, stored, processed, items } = runOf();
		const earlier = read('earlier');
		if (when === 'before') stored(earlier);
		run.recordFact({ outcome: 'replaced', report: earlier.document.report });
		if (when === 'after') stored(earlier);
		processed({ state: 'finish' }, stored(read('later')));
		expect(items()).toMatchObject([
			{ name: 'earlier', outcome: 'replaced', key: KEY, id: ID },
			{ name: 'later', outcome: 'found' },
		]);
		expect(tally.counts).toMatchObject({ documents: 2, replaced: 1, found: 1, stored: 0 });
	});

	it('the earlier counts as replaced also where it was found, or an earlier run had stored it', () => {
		const { run, tally, read, stored, processed } = runOf();
		const [unchanged, found] = [read(), stored()];
		run.recordFact({ ...unchanged, outcome: 'unchanged' });
		processed({ state: 'finish' }, found);
		for (const { report } of [unchanged.document, found])
			run.recordFact({ outcome: 'replaced', report });
		expect(tally.counts).toMatchObject({ replaced: 2, unchanged: 0, found: 0, stored: 0 });
	});

	it.each([
		['one', ['a'], '1 document has the key or ID of a later one, which replaces it: a'],
		['three', ['a', 'b', 'c'], '3 documents … replaces them: a, b, c'],
		['the first three of four', ['a', 'b', 'c', 'd'], '4 documents … replaces them: a, b, c'],
	])('a hint names %s', (_, names, hint) => {
		const { run, read, hints } = runOf();
		for (const name of names)
			run.recordFact({ outcome: 'replaced', report: read(name).document.report });
		expect(hints()[1]).toBe(hint.replace('…', 'have the key or ID of a later one, which'));
	});

	it.each([
		['the key', { key: KEY }, KEY],
		['the ID', {}, ID],
	])('a hint has %s of one without a name', (_, known, words) => {
		const { run, item, hints } = runOf();
		run.recordFact({ outcome: 'replaced', report: { item, id: ID, ...known } });
		expect(hints()[1]).toMatch(new RegExp(`: ${words}$`));
	});

	it('the earlier stays what it is where it was not stored, and so does a later one', () => {
		const { run, tally, read, stored, failed, processed, items } = runOf();
		const refused = read();
		run.recordFact({ outcome: 'replaced', report: refused.document.report });
		failed('rejected', refused);
		const earlier = stored();
		run.recordFact({ outcome: 'replaced', report: earlier.report });
		const later = read();
		failed('rejected', later);
		processed({ state: 'finish' }, later.document);
		expect(tally.counts).toMatchObject({ replaced: 1, rejected: 2, found: 0, stored: 0 });
		const refusal = 'The server answered 422: no.';
		expect(items().map(({ error, outcome }) => error ?? outcome)).toEqual([
			...[refusal, 'replaced', refusal],
		]);
	});

	it('the earlier goes to the error output where there is one, with what to do', () => {
		const node = { ...itemOf({}).context.getNode(), onError: 'continueErrorOutput' as const };
		const item = itemOf({}, { methods: { getNode: () => node } });
		const report = { item, name: 'a', key: KEY, id: ID, outcome: 'replaced' } as const;
		expect(documentOutputItems(report, { simplify: true })[0]?.json).toEqual({
			error: 'A later document of this run came with the same key or ID and replaced this one',
			details: {
				name: 'a',
				outcome: 'replaced',
				key: KEY,
				id: ID,
				description: 'Give each document a key of its own, such as its path or the ID of its row.',
			},
		});
	});
});

describe('the summary of a run', () => {
	const inSummary = () => runOf({ output: 'summary' });

	it('counts each document once, and says so in a line', () => {
		const { run, tally, item, read, stored, failed, processed, items, hints } = inSummary();
		repeat(4, stored);
		repeat(2, failed);
		repeat(3, () => failed('unknown'));
		repeat(5, () => run.recordFact({ ...read(), outcome: 'unchanged' }));
		repeat(6, () => run.recordFact({ document: read().document, outcome: 'notSent' }));
		run.addFailedItem(item, new Error('Line 3 of the file is not valid JSON'));
		processed({ state: 'finish' });
		run.recordFact({ outcome: 'replaced', report: stored().report });
		run.recordFact({ outcome: 'disabled', id: 'id-2' });
		expect(tally.counts).toEqual({
			documents: 22,
			found: 1,
			stored: 3,
			unchanged: 5,
			replaced: 1,
			disabled: 1,
			rejected: 3,
			unknown: 3,
			notSent: 6,
		});
		const requests = { attempts: 4, batches: 1, retries: 3 };
		run.recordFact({ outcome: 'sent', counts: requests });
		expect(hints()[0]).toBe(
			'Documents: 1 can be found, 3 stored, 5 unchanged and not sent, 1 replaced by a later one, 1 disabled, 3 rejected, 3 unknown, 6 not sent (1 batch, 3 requests tried again).',
		);
		run.recordFact({ outcome: 'sent', counts: requests });
		expect(tally.requests).toEqual({ attempts: 8, batches: 2, retries: 6 });
		expect(items()).toEqual([expect.objectContaining({ documents: 22, seconds: 1.235 })]);
		expect(inSummary().hints()).toEqual(['Documents: none.']);
	});

	it('names the documents that failed, with the reason', () => {
		const { run, tally, item, stored, failed, processed } = inSummary();
		failed('unknown');
		run.addFailedItem(item, new Error('Line 3 of the file is not valid JSON'));
		processed({ state: 'error', processMsg: 'no model' }, stored());
		processed({ state: 'error' });
		expect(tally.processingFailed).toBe(2);
		const named = { id: ID, key: KEY, name: 'a' };
		expect(tally.failed).toEqual([
			{ ...named, outcome: 'unknown', reason: 'The server answered 422: no.', status: 422 },
			{ outcome: 'rejected', reason: 'Line 3 of the file is not valid JSON' },
			{ ...named, outcome: 'stored', reason: 'The document could not be processed: no model' },
			{ id: ID, outcome: 'stored', reason: 'The document could not be processed' },
		]);
	});

	it('keeps no item, and names at most 1,000 documents that failed, but counts all', () => {
		const { tally, failed, stored } = inSummary();
		stored();
		expect(tally.reports).toEqual([]);
		repeat(1510, failed);
		expect(tally.failed).toHaveLength(1000);
		expect(tally.counts).toMatchObject({ rejected: 1510 });
	});

	it.each([
		[0, '0 batches'],
		[1, '1 batch'],
		[2, '2 batches'],
	])('has the words that fit a count of %i', (count, words) => {
		expect(countWithNoun(count, 'batch', 'batches')).toBe(words);
	});
});

describe('the line in the log', () => {
	it('tells what is done, stored and found, which differ at each stage', () => {
		const { item, stored, failed, processed } = runOf();
		expect(item.progress?.(0)).toBe('0 of 5 done, 0 stored, 0 found');
		const document = stored();
		stored();
		failed();
		expect(item.progress?.(0)).toBe('3 of 5 done, 2 stored, 0 found');
		processed({ state: 'finish' }, document);
		expect(item.progress?.(0)).toBe('3 of 5 done, 2 stored, 1 found');
	});

	it('does not say how many there are where items bring several', () => {
		const { item, stored } = runOf({ source: 'records' });
		repeat(1000, stored);
		expect(item.progress?.(0)).toBe('1,000 done, 1,000 stored, 0 found');
	});

	it.each<[string, Parameters<typeof runOf>[0]]>([
		['a dry run', { dryRun: true }],
		['Find Changes', { isFindChanges: true }],
	])('of %s tells how many are compared, without those that are gone', (_, of) => {
		const { run, item } = runOf(of);
		for (const plan of ['new', 'unchanged', 'gone'] as const)
			run.recordFact({ outcome: 'planned', plan, id: ID });
		expect(item.progress?.(0)).toBe('2 of 5 compared');
	});
});

describe('the error with Stop', () => {
	it('says what became of all other documents, so that the numbers add up, and names it', () => {
		const { run, read, stored, failed, stopped } = runOf({ continues: false });
		stored();
		failed();
		failed('unknown', read('b'));
		for (const { document } of [read(), read()]) run.recordFact({ document, outcome: 'notSent' });
		run.itemsNotRead = 2;
		const error = stopped();
		expect(error.message).toBe(
			'The server answered 422: no. Documents: 1 stored, 1 rejected, 1 unknown, 2 not sent, 2 items not read',
		);
		expect(error.description).toContain(
			'Failed: a, b (stored or not). To have the others come out all the same, set "On Error"',
		);
	});

	it('gives the first three reasons where they differ', () => {
		const { run, read, failed, stopped } = runOf({ continues: false });
		failed();
		failed();
		expect(stopped().description).not.toContain('Reasons');
		for (const reason of ['b', 'c', 'd']) {
			const facts = { kind: 'status', status: 400, reason } as const;
			run.recordFact({ ...read(), outcome: 'rejected', failure: failure(facts) });
		}
		expect(stopped().description).toContain(
			'Reasons: The server answered 422: no.; The server answered 400: b; The server answered 400: c. ',
		);
	});

	it('says nothing of a second run where nothing is stored, as after a field that is missing', () => {
		const { run, item, stopped } = runOf({ continues: false });
		const refused = thrownBy(() =>
			item.throwIssue({ label: '"Text"', issue: 'must not be empty' }),
		);
		run.addFailedItem(item, refused);
		const error = stopped();
		expect(error.message).toBe('"Text" must not be empty [item 4]. Documents: 1 rejected');
		expect(error.description).not.toMatch(/second run|\.\./);
	});

	it('names ten of many documents that are not found, how many more there are, and what to do', () => {
		const { run, stored, read, processed } = runOf({ continues: false });
		const names = Array.from({ length: 12 }, (_, index) => `${index}.pdf`);
		for (const [index, name] of names.entries()) {
			if (index === 10) expect(processingError(run).message).toMatch(/, 9\.pdf$/);
			processed({ state: 'error', processMsg: 'EISDIR: no.' }, stored(read(name)));
		}
		const { message, description } = processingError(run);
		expect(message).toBe(
			`12 documents are stored but not found: ${names.slice(0, 10).join(', ')} and 2 more`,
		);
		expect(description).toMatch(
			/^The document could not be processed: EISDIR: no\. It is stored, and assistants do not find it\. The server cannot read sheets\./,
		);
	});
});

it.each([
	['12 documents', { count: 12 }, 'up to 12 documents may still be found'],
	['one document', { count: 1 }, 'up to 1 document may still be found'],
	['a number that is not known', {}, 'documents may still be found'],
])('notes that are lost with %s tell how many they held at most', (_, more, words) => {
	expect(memoryHints({ lost: { at: '2026-11-25T03:00:00.000Z', ...more } })).toEqual([
		`Notes from before 2026-11-25 are missing: ${words} although they left the source. See "Forget Earlier Damage" in Tuning and Repair.`,
	]);
});

describe('the warnings of a run', () => {
	const fileUrl = 'https://a.example/a.md';
	const pages = [{ pageContent: 'x' }];

	it.each<[string, DocumentRecord, string[]]>([
		['a record without content', {}, []],
		['pages alone', { pages }, []],
		['a File Path beside an address', { fileUrl, filePath: '/a' }, []],
		[
			'pages beside an address',
			{ fileUrl, pages },
			['Documents with pages beside an address: 1. The pages are not read.'],
		],
		[
			'a File Path',
			{ filePath: '/a' },
			['Documents with a File Path: 1. The server looks for it on its own disk.'],
		],
		[
			'a page with an ID',
			{ pages: [{ ...pages[0], id: ID }] },
			['Documents whose pages or chunks have IDs: 1. On Xpert, one that changes is lost.'],
		],
	])('name what is sent in vain: %s', (_, record, expected) => {
		const { read, stored, hints } = runOf();
		stored(read('a', record));
		expect(hints().slice(1)).toEqual(expected);
	});

	it('say nothing of a document that was rejected', () => {
		const { read, failed, hints } = runOf();
		failed('rejected', read('a', { pages: [{ ...pages[0], id: ID }] }));
		expect(hints()).toHaveLength(1);
	});
});

it.each([
	[
		'storing',
		'/knowledges/1/bulk',
		'the first document of a new knowledgebase, which the key of a workspace cannot store',
	],
	['an upload', '/v1/file', 'The server knows this key.'],
])('a key of a workspace that is denied is told what to do, after %s', (_, path, advice) => {
	const reason = 'Access denied to workspace';
	const denied = { ...failure({ kind: 'status', status: 403, reason }), path };
	expect(documentsError(runOf().item, denied).description).toContain(advice);
});

/** What the recorded server says of documents that it could not process. */
const SAID = sequence('searchable').flatMap(({ response }) =>
	'body' in response && Array.isArray(response.body)
		? (response.body as IDataObject[]).flatMap(({ status, processMsg }) =>
				status === 'error' ? [String(processMsg)] : [],
			)
		: [],
);

const OUT_OF_REACH = 'The server could not fetch the file from its address';

const ADVICE: Array<[begins: string, advice: string]> = [
	['Cannot read properties of undefined', 'Servers read files and nothing else'],
	['Unable to resolve a readable file', 'Leave it out, and send the file with "Documents From"'],
	['connect ECONNREFUSED', OUT_OF_REACH],
	['Failed to get', OUT_OF_REACH],
	['EISDIR', 'Type set to txt and MIME Type to text/plain'],
	['Embedding model not set', 'Give it one with Knowledgebase: Create or Update'],
];

describe('a document that a server could not process', () => {
	it.each(ADVICE)('comes out with the reason and what to do: %s', (begins, advice) => {
		const processMsg = SAID.find((said) => said.startsWith(begins)) ?? '';
		const end = lastStateOf({ id: 'a', status: 'error', processMsg });
		const flaw = unfindableReason(end) ?? '';
		expect(flaw).toBe(`The document could not be processed: ${processMsg}`);
		expect(processingAdvice(flaw)).toContain(advice);
	});

	it.each([
		[
			'stopped in an earlier run',
			'is stored, but an earlier run has started its processing and the server shows no progress',
			'the next run sends it again',
		],
		[
			'was never begun',
			'is stored, but not being processed: the server did not begin, though it was asked to twice',
			'Look up on the server whether it is working',
		],
		[
			'needs a password',
			'could not be processed: No password given',
			'Remove its password, then run it again',
		],
		[
			'was refused by the embedding provider',
			'could not be processed: 401 Incorrect credentials provided',
			'Correct its key or its quota on the server under Settings, AI Copilot',
		],
	])('comes out with what to do where it %s', (_, flaw, advice) => {
		expect(processingAdvice(`The document ${flaw}`)).toContain(advice);
	});

	it('is not sent to the embedding provider where the server itself refused', () => {
		const refused =
			'is stored, but its processing could not be started. The server takes no more requests just now: Rate limit exceeded (HTTP 429)';
		expect(processingAdvice(`The document ${refused}`)).not.toContain('embedding model');
	});

	it.each([
		['plan.odt', 'Servers may not read .odt files'],
		['plan.pdf', 'as it may be damaged, empty or locked'],
		['Version 2.5', 'as it may be damaged, empty or locked'],
		['plan.pdf', 'Give it one with Knowledgebase', ": Copilot not set for embedding model 'm'"],
	])(
		'is told by its format, where servers are not known to read it: %s',
		(name, advice, why = '') => {
			expect(processingAdvice(`The document could not be processed${why}`, name)).toContain(advice);
		},
	);

	it('is told with a reason that is in this table', () => {
		const isKnown = (said: string) => ADVICE.some(([begins]) => said.startsWith(begins));
		expect(SAID.filter((said) => !isKnown(said))).toEqual([]);
		expect(SAID.length).toBeGreaterThan(ADVICE.length);
	});
});

const chunks = [{ pageContent: 'changed' }];
const CHUNKS_CHANGED = /^The server answered 400: it does not take .* again whose chunks changed\./;
const NO_REASON = /^The server answered \d+: it gave no reason$/;

/** Of its text being `Bad Request`, engine tests show what the server does (ingestRejected). */
it.each<[string, DocumentRecord, { status: number; reason?: string }, RegExp]>([
	[
		'in words where chunks changed, as the server says nothing',
		{ chunks },
		{ status: 400 },
		CHUNKS_CHANGED,
	],
	['of chunks where there are none', { name: 'a' }, { status: 400 }, NO_REASON],
	['of chunks where they are null', { chunks: null }, { status: 400 }, NO_REASON],
	['as the server says it', { chunks }, { status: 400, reason: 'too long' }, /400: too long$/],
	['of chunks with another status', { chunks }, { status: 500 }, NO_REASON],
])('why a document is not stored is said %s', (_, record, facts, words) => {
	const reported = failure({ kind: 'status', ...facts });
	expect(failureMessage(withPlainReason(prepared(record, 0), reported))).toMatch(words);
});
