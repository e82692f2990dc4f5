import type { DocumentOutcome } from '../../ingest/submit';
import type { Failure } from '../../transport/failure';

/**
 * The same outcome with a reason in words where the server's own says nothing (service behaviour, E3):
 * chunks that changed are answered with an empty object.
 */
export function inWords<Origin>(result: DocumentOutcome<Origin>): DocumentOutcome<Origin> {
	if (result.outcome === 'stored') return result;
	const { failure, document } = result;
	const reason = reasonOf(failure, document.json);
	return reason === undefined ? result : { ...result, failure: { ...failure, reason } };
}

function reasonOf({ status, reason }: Failure, json: string): string | undefined {
	return status === 400 && reason === undefined && hasChunks(json) ? CHANGED_CHUNKS : undefined;
}

const CHANGED_CHUNKS =
	'it does not take a document again whose chunks changed. Send its text as pages, or upload it as a file (File: Create) and send the fileUrl';

/** Whether a document carries chunks; parsed only where its text gives reason to. */
function hasChunks(json: string): boolean {
	if (!json.includes('"chunks":')) return false;
	const { chunks } = JSON.parse(json) as { chunks?: unknown };
	return Array.isArray(chunks);
}
