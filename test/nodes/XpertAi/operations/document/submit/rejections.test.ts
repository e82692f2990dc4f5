import { readableFailure } from '../../../../../../nodes/XpertAi/operations/document/submit/outcomes';
import type { DocumentRecord } from '../../../../../../nodes/XpertAi/payloads/document';
import { failureMessage } from '../../../../../../nodes/XpertAi/transport/failure';
import { prepared } from '../../../../support/documents';
import { failure } from '../../../ingest/support/outcomes';

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
	expect(failureMessage(readableFailure(prepared(record, 0), reported))).toMatch(words);
});
