import {
	processingError,
	withCounts,
} from '../../../../../../nodes/XpertAi/operations/document/submit/errors';
import { SubmitReport } from '../../../../../../nodes/XpertAi/operations/document/submit/report';
import { readSubmitSettings } from '../../../../../../nodes/XpertAi/operations/document/submit/settings';
import { submitFields } from '../../../../../../nodes/XpertAi/operations/document/submit/fields';
import { itemOf } from '../../../../support/context';
import { prepared } from '../../../../support/documents';
import { failure } from '../../../ingest/support/outcomes';

const item = itemOf(
	{ knowledgebaseId: '7c1f5f3e-2a54-4f4b-9d0a-5d1f0c3a9b11' },
	{
		fields: submitFields,
		methods: { continueOnFail: () => false, getExecutionCancelSignal: () => undefined },
	},
);
const newReport = () => new SubmitReport(item, readSubmitSettings(item));
const ID = '2f78e81b-096f-42ff-8ac0-8403fd81392d';

/** A document in its place, which was sent. */
const sent = (position: number) => ({
	document: { ...prepared({ name: `${position}.pdf` }, 0, ID), origin: { item, position } },
	batch: 1,
	attempts: 1,
});
const refused = failure({ kind: 'status', status: 422, reason: 'no.' });

describe('with Stop, the error of a document that was not stored', () => {
	it('says what became of all others, so that the numbers add up, and names it', () => {
		const report = newReport();
		report.read = 4;
		report.notRead = 2;
		report.addOutcome({ ...sent(0), outcome: 'stored', status: 201, record: {} });
		report.addOutcome({ ...sent(1), outcome: 'rejected', failure: refused });
		const error = withCounts(report.stopError ?? item.operationError('none'), report);
		expect(error.message).toBe(
			'The server answered 422: no. Documents: 1 stored, 1 rejected, 2 not sent, 2 items not read',
		);
		expect(error.description).toContain(
			'Not stored: 1.pdf. A second run replaces documents that carry a UUID as ID and stores all others again.',
		);
	});

	it('says nothing of a second run where nothing is stored, as after a field that is missing', () => {
		const report = newReport();
		report.addFlaw(
			{ item, position: 0 },
			item.refusal({ subject: '"Text"', demand: 'must not be empty' }),
		);
		const { message, description } = withCounts(
			report.stopError ?? item.operationError('none'),
			report,
		);
		expect(message).toBe('"Text" must not be empty. Documents: 1 rejected');
		expect(description).not.toContain('second run');
		expect(description).not.toMatch(/\.\./);
	});
});

describe('with Stop, the error of documents that could not be processed', () => {
	/** The error of so many documents that end this way. */
	function errorOf(count: number, processMsg: string) {
		const report = newReport();
		for (let position = 0; position < count; position += 1) {
			const origin = { item, position, name: `${position}.pdf` };
			report.addProcessed(ID, { state: 'error', processMsg }, [origin]);
		}
		return processingError(item, report);
	}

	it('names the one that is broken, what is said of it, and what to do', () => {
		const { message, description } = errorOf(1, 'EISDIR: illegal operation.');
		expect(message).toBe('1 document is stored but not found: 0.pdf');
		expect(description).toMatch(
			/^The document could not be processed: EISDIR: illegal operation\. It is stored/,
		);
	});

	it('names ten of many, and how many more there are', () => {
		const names = Array.from({ length: 10 }, (_, index) => `${index}.pdf`).join(', ');
		expect(errorOf(12, 'no text').message).toBe(
			`12 documents are stored but not found: ${names} and 2 more`,
		);
	});
});
