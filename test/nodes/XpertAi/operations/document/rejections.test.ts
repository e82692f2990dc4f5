import { failureMessage } from '../../../../../nodes/XpertAi/transport/failure';
import { prepare } from '../../../../../nodes/XpertAi/operations/document/sources';
import { inWords } from '../../../../../nodes/XpertAi/operations/document/rejections';
import type { DocumentRecord } from '../../../../../nodes/XpertAi/payloads/document';
import { failure } from '../../ingest/support/outcomes';

/** What a user reads when the server refuses a document. */
function words(record: DocumentRecord, facts: Omit<Parameters<typeof failure>[0], 'kind'>): string {
	const document = prepare(record, { itemIndex: 0, position: 0 });
	const result = inWords({
		document,
		batch: 1,
		attempts: 1,
		outcome: 'rejected',
		failure: failure({ kind: 'status', ...facts }),
	});
	return result.outcome === 'stored' ? '' : failureMessage(result.failure);
}

const withChunks = { name: 'a', chunks: [{ pageContent: 'changed' }] };

describe('why a document is not stored', () => {
	it('is said in words where its chunks changed, which the server answers with an empty object', () => {
		const said =
			'The server answered 400: it does not take a document again whose chunks changed. Send its text as pages, or upload it as a file (File: Create) and send the fileUrl';
		expect(words(withChunks, { status: 400 })).toBe(said);
		expect(words({ chunks: [] }, { status: 400 })).toBe(said);
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
	const document = prepare(withChunks, { itemIndex: 0, position: 0 });
	const stored = {
		document,
		batch: 1,
		attempts: 1,
		outcome: 'stored',
		status: 201,
		record: {},
	} as const;
	expect(inWords(stored)).toBe(stored);
});
