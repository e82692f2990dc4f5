import { counted } from '../../../../../../nodes/XpertAi/operations/document/submit/counts';
import { submitFields } from '../../../../../../nodes/XpertAi/operations/document/submit/fields';
import { SubmitReport } from '../../../../../../nodes/XpertAi/operations/document/submit/report';
import { readSubmitSettings } from '../../../../../../nodes/XpertAi/operations/document/submit/settings';
import { itemOf } from '../../../../support/context';
import { prepared } from '../../../../support/documents';
import { failure } from '../../../ingest/support/outcomes';

const item = itemOf(
	{ knowledgebaseId: '7c1f5f3e-2a54-4f4b-9d0a-5d1f0c3a9b11' },
	{
		fields: submitFields,
		methods: { continueOnFail: () => true, getExecutionCancelSignal: () => undefined },
	},
);
const origin = { item, position: 0 };
const document = { ...prepared({ name: 'a' }, 0, 'id-1'), origin };
const place = { document, batch: 1, attempts: 1 };
const refusal = failure({ kind: 'status', status: 400, reason: 'no' });

/** A run of so many documents of each outcome. */
function summaryOf({
	stored = 0,
	rejected = 0,
	unknown = 0,
	unchanged = 0,
	unreadable = 0,
	notSent = 0,
}): SubmitReport {
	const report = new SubmitReport(item, readSubmitSettings(item));
	const times = (count: number, act: () => void) => Array.from({ length: count }, act);
	times(stored, () => report.addOutcome({ ...place, outcome: 'stored', status: 201, record: {} }));
	times(rejected, () => report.addOutcome({ ...place, outcome: 'rejected', failure: refusal }));
	times(unknown, () =>
		report.addOutcome({ ...place, outcome: 'unknown', failure: failure({ kind: 'timeout' }) }),
	);
	times(notSent, () => report.addOutcome({ ...place, outcome: 'notSent' }));
	times(unchanged, () => report.addUnchanged(document));
	times(unreadable, () =>
		report.addUnreadable(origin, new Error('Line 3 of the file is not valid JSON')),
	);
	return report;
}

describe('the summary of a run', () => {
	it('counts each document once', () => {
		const { counts } = summaryOf({
			stored: 5,
			rejected: 2,
			unknown: 3,
			unchanged: 4,
			unreadable: 1,
			notSent: 6,
		});
		expect(counts).toEqual({
			documents: 21,
			found: 0,
			stored: 5,
			rejected: 3,
			unknown: 3,
			unchanged: 4,
			replaced: 0,
			disabled: 0,
			notSent: 6,
		});
	});

	it('names the documents that failed, with the reason', () => {
		const report = summaryOf({ stored: 1, rejected: 1, unknown: 1, unreadable: 1, notSent: 1 });
		const processed = { ...origin, position: 1, name: 'b' };
		report.addProcessed('id-2', { state: 'error', processMsg: 'no model' }, [processed]);
		expect(report.failed).toEqual([
			{
				id: 'id-1',
				name: 'a',
				outcome: 'rejected',
				reason: 'The server answered 400: no',
				status: 400,
			},
			{
				id: 'id-1',
				name: 'a',
				outcome: 'unknown',
				reason: 'The server did not answer in time',
				status: undefined,
			},
			{ outcome: 'rejected', reason: 'Line 3 of the file is not valid JSON' },
			{
				id: 'id-2',
				name: 'b',
				outcome: 'stored',
				reason: 'The document could not be processed: no model',
			},
		]);
	});

	it('names at most 1,000 of them, but counts all', () => {
		const { failed, counts } = summaryOf({ rejected: 1500, unreadable: 10 });
		expect(failed).toHaveLength(1000);
		expect(counts).toMatchObject({ documents: 1510, rejected: 1510 });
	});

	it('adds up the requests of several knowledgebases', () => {
		const summary = summaryOf({});
		const one = { batches: 1, bytes: 20, requests: 3, retries: 2, splits: 1 };
		summary.addRequests(one);
		summary.addRequests({ ...one, bytes: 5 });
		expect(summary.requests).toEqual({ batches: 2, bytes: 25, requests: 6, retries: 4, splits: 2 });
	});

	it('says it all in a line, and only what happened', () => {
		const requests = { batches: 3, bytes: 1, requests: 3, retries: 0, splits: 0 };
		const plain = summaryOf({ stored: 250 });
		plain.addRequests(requests);
		expect(plain.line).toBe('Documents: 250 stored (3 batches).');
		plain.addProcessed('id-1', { state: 'finish' }, []);
		plain.addReplaced({ ...origin, outcome: 'stored' });
		expect(plain.line).toBe(
			'Documents: 1 found, 248 stored, 1 replaced by a later one (3 batches).',
		);
		expect(summaryOf({}).line).toBe('Documents: none.');
		const gone = summaryOf({ stored: 1 });
		gone.addProcessed('id-1', { state: 'finish' }, []);
		gone.addDisabled('id-2');
		expect(gone.line).toBe('Documents: 1 found, 1 disabled.');
		const rough = summaryOf({ stored: 2, rejected: 1, unknown: 3, unchanged: 4, notSent: 5 });
		rough.addRequests({ ...requests, retries: 7 });
		expect(rough.line).toBe(
			'Documents: 2 stored, 4 unchanged and not sent, 1 rejected, 3 unknown, 5 not sent (3 batches, 7 requests tried again).',
		);
	});
});

it.each([
	[0, '0 documents were', '0 batches'],
	[1, '1 document was', '1 batch'],
	[2, '2 documents were', '2 batches'],
])('a count of %i has the words that fit it', (count, documents, batches) => {
	expect(counted(count, 'document was', 'documents were')).toBe(documents);
	expect(counted(count, 'batch', 'batches')).toBe(batches);
});
