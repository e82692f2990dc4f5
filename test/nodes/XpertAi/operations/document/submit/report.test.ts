import type { INodeExecutionData } from 'n8n-workflow';

import { serialize } from '../../../../../../nodes/XpertAi/ingest/batches';
import type { ReadyDocument } from '../../../../../../nodes/XpertAi/ingest/batches';
import type { ProcessingEnd } from '../../../../../../nodes/XpertAi/ingest/processingStatus';
import type { DocumentOutcome } from '../../../../../../nodes/XpertAi/ingest/storing';
import { submitFields } from '../../../../../../nodes/XpertAi/operations/document/submit/fields';
import {
	processedItem,
	processingFlaw,
	replacedItem,
} from '../../../../../../nodes/XpertAi/operations/document/submit/outcomeItems';
import { SubmitReport } from '../../../../../../nodes/XpertAi/operations/document/submit/report';
import { readSubmitSettings } from '../../../../../../nodes/XpertAi/operations/document/submit/settings';
import type { Origin } from '../../../../../../nodes/XpertAi/operations/document/submit/sources/identity';
import type { DocumentRecord } from '../../../../../../nodes/XpertAi/payloads/document';
import { itemOf } from '../../../../support/context';
import { failure } from '../../../ingest/support/outcomes';

const ID = '2f78e81b-096f-42ff-8ac0-8403fd81392d';
const item = itemOf(
	{ knowledgebaseId: ID },
	{ index: 4, methods: { continueOnFail: () => true, getExecutionCancelSignal: () => undefined } },
);
const ready = (record: DocumentRecord, origin: Origin): ReadyDocument<Origin> => ({
	record,
	...serialize(record),
	id: ID,
	origin,
});
const document = ready({ id: ID, name: 'a', size: 3 }, { item, position: 0 });
const pairedItem = { item: 4 };

/** The report of a submission, with or without Simplify. */
function reportOf(simplify = true): SubmitReport {
	const settings = readSubmitSettings(itemOf({ simplify }, { fields: submitFields }));
	return new SubmitReport(item, settings);
}

/** The item that a report has in a place; the test fails when it has none. */
function itemAt(report: SubmitReport, position: number): INodeExecutionData {
	const found = report.items[position];
	if (!found) throw new Error(`the report has no item in place ${position}`);
	return found;
}

/** The item of a document that was sent. */
function outcomeItem(result: DocumentOutcome<Origin>, asDocument: boolean): INodeExecutionData {
	const report = reportOf(asDocument);
	report.addOutcome(result);
	return itemAt(report, document.origin.position);
}

/** The item of a document that an earlier run has stored. */
function unchangedItem(): INodeExecutionData {
	const report = reportOf();
	report.addUnchanged(document);
	return itemAt(report, document.origin.position);
}

function stored(record: unknown): DocumentOutcome<Origin> {
	return { document, batch: 2, attempts: 3, outcome: 'stored', status: 201, record };
}

describe('the item of a stored document', () => {
	it('tells what became of it', () => {
		expect(outcomeItem(stored({ id: ID, name: 'a', version: 2 }), true)).toEqual({
			json: {
				id: ID,
				name: 'a',
				outcome: 'stored',
				processing: 'none',
				status: 201,
				attempts: 3,
				batch: 2,
			},
			pairedItem,
		});
	});

	it('begins with what a user looks for', () => {
		const { json } = outcomeItem(stored({ id: ID, name: 'a' }), true);
		expect(Object.keys(json)).toEqual([
			'name',
			'outcome',
			'processing',
			'id',
			'status',
			'attempts',
			'batch',
		]);
		expect(Object.keys(unchangedItem().json)).toEqual(['name', 'outcome', 'id']);
	});

	it('knows the id the server made, and else the one that was sent', () => {
		expect(outcomeItem(stored({ id: 'new' }), true).json).toMatchObject({
			id: 'new',
			name: 'a',
		});
		expect(outcomeItem(stored(undefined), true).json).toMatchObject({ id: ID, name: 'a' });
	});

	it('is the record of the server where that is asked for, or what was sent', () => {
		const record = { id: ID, version: 2 };
		expect(outcomeItem(stored(record), false)).toEqual({ json: record, pairedItem });
		expect(outcomeItem(stored('ok'), false).json).toEqual({ id: ID, name: 'a', size: 3 });
	});
});

describe('the item of a document that is not stored', () => {
	const failed = (outcome: 'rejected' | 'unknown') =>
		outcomeItem(
			{
				document,
				batch: 2,
				attempts: 3,
				outcome,
				failure: failure({ kind: 'status', status: 422, reason: 'no', requestId: 'r-1' }),
			},
			true,
		);

	it('is one n8n moves to the error output, with all that is known', () => {
		const { json, pairedItem: paired } = failed('rejected');
		expect(Object.keys(json)).toEqual(['error', 'details']);
		expect(Object.keys(json.details ?? {}).slice(0, 3)).toEqual(['name', 'outcome', 'id']);
		expect(json).toMatchObject({
			error: 'The server answered 422: no',
			details: {
				id: ID,
				name: 'a',
				outcome: 'rejected',
				status: 422,
				attempts: 3,
				batch: 2,
				requestId: 'r-1',
			},
		});
		expect(paired).toEqual(pairedItem);
	});

	it('says so when it may be stored', () => {
		expect(failed('unknown').json).toMatchObject({
			error: 'The server answered 422: no. It is not known whether this document is stored',
			details: { outcome: 'unknown' },
		});
	});

	it('may be that of a record which is no document', () => {
		const report = reportOf();
		report.addFlaw(
			{ item, position: 0 },
			item.refusal({ subject: 'Line 3 of the file', demand: 'is not valid JSON' }),
		);
		expect(itemAt(report, 0)).toMatchObject({
			json: {
				error: 'Line 3 of the file is not valid JSON [item 4]',
				details: { outcome: 'rejected' },
			},
			pairedItem,
		});
	});
});

it('the item of an unchanged document says that it was not sent', () => {
	expect(unchangedItem()).toEqual({
		json: { id: ID, name: 'a', outcome: 'unchanged' },
		pairedItem,
	});
});

describe('the item of a processed document', () => {
	const storedItem = { json: { id: ID, name: 'a', outcome: 'stored', batch: 2 }, pairedItem };
	const ended = (end: ProcessingEnd) => processedItem(item, storedItem, end, processingFlaw(end));

	it('gains the end of its processing', () => {
		expect(ended({ state: 'finish' })).toEqual({
			json: { ...storedItem.json, outcome: 'found', processing: 'finish' },
			pairedItem,
		});
	});

	it('says in one word that it goes on, and what the server says besides', () => {
		expect(ended({ state: 'running', processMsg: 'half way' }).json).toEqual({
			...storedItem.json,
			processing: 'running',
			processMsg: 'half way',
		});
	});

	it('says that nothing is known of it, on a server that decides by itself', () => {
		const noRoute = failure({ kind: 'status', status: 404, missing: 'route' });
		expect(ended({ state: 'none', failure: noRoute, hasNoRoute: true }).json).toEqual({
			...storedItem.json,
			processing: 'none',
		});
	});

	it('is an error item where it could not be started', () => {
		const refused = failure({ kind: 'status', status: 403, reason: 'no' });
		expect(ended({ state: 'none', failure: refused }).json).toMatchObject({
			error:
				'The document is stored, but its processing could not be started. The server answered 403: no',
			details: { outcome: 'stored', processing: 'none' },
		});
	});

	it('is an error item where the server does not go on with what an earlier run has started', () => {
		expect(ended({ state: 'running', isStuck: true }).json).toMatchObject({
			error:
				'The document is stored, but an earlier run has started its processing and the server shows no progress',
			details: {
				processing: 'running',
				description: expect.stringContaining(
					'With "When Run Again" set to "Send New and Changed", the next run sends it again.',
				),
			},
		});
	});

	it('stays unchanged where an earlier run has stored it', () => {
		const unchanged = { json: { ...storedItem.json, outcome: 'unchanged' }, pairedItem };
		const said = { state: 'error' } as const;
		expect(processedItem(item, unchanged, said, processingFlaw(said)).json).toMatchObject({
			details: { outcome: 'unchanged', processing: 'error' },
		});
	});

	it.each<[ProcessingEnd['state'], string | undefined, string]>([
		['error', 'no text', 'The document could not be processed: no text'],
		['error', undefined, 'The document could not be processed'],
		['cancel', undefined, 'The document was stored, but its processing was cancelled'],
		['none', 'not queued', 'The document is stored, but not being processed: not queued'],
	])(
		'is an error item after %s (%s), which says that it is stored',
		(state, processMsg, message) => {
			expect(ended({ state, processMsg })).toMatchObject({
				json: {
					error: message,
					details: { id: ID, name: 'a', outcome: 'stored', processing: state },
				},
				pairedItem,
			});
		},
	);
});

describe('what the report keeps of documents in process', () => {
	const inSummary = () => {
		const settings = readSubmitSettings(
			itemOf({ options: { output: 'summary' } }, { fields: submitFields }),
		);
		return new SubmitReport(item, settings);
	};
	const end = { state: 'error', processMsg: 'no text' } as const;

	it('puts the end into the items of all documents with that id', () => {
		const report = reportOf();
		const twin = ready({ id: ID, name: 'b' }, { item, position: 1 });
		report.addOutcome(stored({ id: ID }));
		report.addOutcome({ ...stored({ id: ID }), document: twin });
		report.addProcessed(ID, { state: 'finish' }, [document.origin, twin.origin]);
		expect(report.items.map(({ json }) => json.processing)).toEqual(['finish', 'finish']);
	});

	it('is nothing where only a summary is asked for, which names those that failed', () => {
		const report = inSummary();
		report.addOutcome(stored({ id: ID }));
		report.addProcessed(ID, end, []);
		expect(report.items).toEqual([]);
		expect(report.processingFailed).toBe(1);
		expect(report.failed).toEqual([
			{ id: ID, outcome: 'stored', reason: 'The document could not be processed: no text' },
		]);
	});
});

describe('of two documents that come with one key', () => {
	const twin = (position: number) => ({
		...ready({ id: ID, name: `twin ${position}` }, { item, position }),
		key: 'a.md',
	});
	const result = (position: number, record: unknown = { id: ID }) => ({
		...stored(record),
		document: twin(position),
	});

	it('the earlier is replaced, whether its outcome is known by then or not', () => {
		for (const isKnown of [true, false]) {
			const report = reportOf();
			const earlier = result(0);
			if (isKnown) report.addOutcome(earlier);
			report.addReplaced(earlier.document.origin);
			if (!isKnown) report.addOutcome(earlier);
			const later = result(1);
			report.addOutcome(later);
			report.addProcessed(ID, { state: 'finish' }, [
				earlier.document.origin,
				later.document.origin,
			]);
			expect(column(report)).toEqual(['replaced', 'found']);
			expect(report.counts).toMatchObject({ replaced: 1, found: 1, stored: 0 });
			expect(report.items[0]?.json).toEqual({
				name: 'twin 0',
				outcome: 'replaced',
				key: 'a.md',
				id: ID,
			});
		}
	});

	it('the earlier counts as replaced also where an earlier run had stored it, or it was found', () => {
		const report = reportOf();
		const [unchanged, found] = [twin(0), result(1)];
		report.addUnchanged(unchanged);
		report.addOutcome(found);
		report.addProcessed(ID, { state: 'finish' }, [found.document.origin]);
		report.addReplaced(unchanged.origin);
		report.addReplaced(found.document.origin);
		expect(report.counts).toMatchObject({ replaced: 2, unchanged: 0, found: 0, stored: 0 });
	});

	it('the earlier stays what it is where it was not stored', () => {
		const report = reportOf();
		const earlier = twin(0);
		const refused = failure({ kind: 'status', status: 422, reason: 'no' });
		report.addReplaced(earlier.origin);
		report.addOutcome({
			document: earlier,
			batch: 1,
			attempts: 1,
			outcome: 'rejected',
			failure: refused,
		});
		expect(report.counts).toMatchObject({ replaced: 0, rejected: 1 });
		expect(report.items[0]?.json.error).toBe('The server answered 422: no');
	});

	it('the earlier goes to the error output where there is one, with what to do', () => {
		const node = { ...item.context.getNode(), onError: 'continueErrorOutput' as const };
		const onError = itemOf(
			{},
			{ index: 4, methods: { getNode: () => node, continueOnFail: () => true } },
		);
		const json = { name: 'a', outcome: 'stored', key: 'a.md', id: ID };
		expect(replacedItem(onError, { json }).json).toEqual({
			error: 'A later document of this run came with the same key ("a.md") and replaced this one',
			details: {
				name: 'a',
				outcome: 'replaced',
				key: 'a.md',
				id: ID,
				description: 'Give each document a key of its own, such as its path or the ID of its row.',
			},
		});
	});
});

const column = (report: SubmitReport) => report.items.map(({ json }) => json.outcome);
