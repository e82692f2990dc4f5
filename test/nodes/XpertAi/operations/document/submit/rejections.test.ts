import { withReadableReason } from '../../../../../../nodes/XpertAi/operations/document/submit/advice';
import type { DocumentRecord } from '../../../../../../nodes/XpertAi/payloads/document';
import { failureMessage } from '../../../../../../nodes/XpertAi/transport/failure';
import { prepared } from '../../../../support/documents';
import { failure } from '../../../ingest/support/outcomes';

/** What a user reads when the server refuses a document. */
function words(record: DocumentRecord, facts: Omit<Parameters<typeof failure>[0], 'kind'>): string {
	const document = prepared(record, 0);
	const outcome = 'rejected' as const;
	const reported = failure({ kind: 'status', ...facts });
	const result = withReadableReason({
		document,
		batch: 1,
		attempts: 1,
		outcome,
		failure: reported,
	});
	return 'failure' in result ? failureMessage(result.failure) : '';
}

const withChunks = { name: 'a', chunks: [{ pageContent: 'changed' }] };

describe('why a document is not stored', () => {
	it('is said in words where its chunks changed, which the server answers with an empty object', () => {
		const said =
			'The server answered 400: it does not take a document again whose chunks changed. Send its text with "Documents From" set to Text, or its file with Files';
		expect(words(withChunks, { status: 400 })).toBe(said);
		expect(words({ chunks: [] }, { status: 400, reason: 'Bad Request' })).toBe(said);
	});

	it.each<[string, DocumentRecord]>([
		['none', { name: 'a' }],
		['null', { chunks: null }],
		['some in its text', { pages: [{ pageContent: '"chunks": []' }] }],
	])('is no matter of chunks where there are none: %s', (_, record) => {
		expect(words(record, { status: 400 })).toBe('The server answered 400: it gave no reason');
	});

	it("is the server's own reason where it gives one", () => {
		expect(words(withChunks, { status: 400, reason: 'too long' })).toBe(
			'The server answered 400: too long',
		);
		expect(words(withChunks, { status: 500 })).toBe('The server answered 500: it gave no reason');
	});
});

it('a stored document stays as it is', () => {
	const document = prepared(withChunks, 0);
	const stored = {
		document,
		batch: 1,
		attempts: 1,
		outcome: 'stored',
		status: 201,
		record: {},
	} as const;
	expect(withReadableReason(stored)).toBe(stored);
});
