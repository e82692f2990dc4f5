import { quoted } from '../../../execution/badInput';
import { isUuid } from '../../../payloads/common';
import type { ReadyDocument } from '../../../ingest/batches';
import type { DocumentOutcome } from '../../../ingest/storing';
import { WITH_A_FILE } from './sources';
import type { Failure } from '../../../transport/failure';

/**
 * The same outcome with a reason in words where the server's own says nothing (service behaviour, E3):
 * chunks that changed are answered with an empty object, and an id of another kind with 500.
 */
export function inWords<Origin>(
	result: DocumentOutcome<Origin>,
	knowledgebaseId: string,
): DocumentOutcome<Origin> {
	if (!('failure' in result)) return result;
	const { failure, document } = result;
	const reason = isForeignId(failure, knowledgebaseId)
		? `${failure.reason ?? 'it gave no reason'}. The ID of the knowledgebase, ${quoted(knowledgebaseId)}, is not a UUID, which Xpert AI servers answer this way`
		: chunksReason(failure, document);
	return reason === undefined ? result : { ...result, failure: { ...failure, reason } };
}

/** Whether a failure is what Xpert says to the id of a knowledgebase that is no UUID; other servers may have such ids. */
export function isForeignId({ kind, status }: Failure, knowledgebaseId: string): boolean {
	return kind === 'status' && status === 500 && !isUuid(knowledgebaseId);
}

function chunksReason(
	{ status, reason }: Failure,
	document: ReadyDocument<unknown>,
): string | undefined {
	// Without a reason in the answer, what stands beside its status is taken for one.
	const saysNothing = reason === undefined || reason === 'Bad Request';
	return status === 400 && saysNothing && document.record.chunks ? CHANGED_CHUNKS : undefined;
}

const CHANGED_CHUNKS = `it does not take a document again whose chunks changed. Send its text ${WITH_A_FILE}`;
