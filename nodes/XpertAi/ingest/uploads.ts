import compact from 'lodash/compact';
import omit from 'lodash/omit';

import type { DocumentRecord } from '../payloads/document';
import type { Failure } from '../transport/failure';
import { serialize } from './batches';
import type { Documents, ReadyDocument } from './batches';
import type { DocumentOutcome } from './storing';

/**
 * Uploads the file of a document.
 *
 * @returns the fields with which the document refers to the file, or why it was not uploaded
 * @throws what n8n throws when it cannot read the file
 */
export type Upload<Origin> = (
	document: ReadyDocument<Origin>,
) => Promise<{ file: Partial<DocumentRecord> } | { failure: Failure; attempts: number }>;

/** The dependencies of uploading. */
export interface Uploading<Origin> {
	upload: Upload<Origin>;
	/** Concurrent uploads. */
	concurrency: number;
	/** Called once for each document whose file was not uploaded, because that failed or uploading had stopped. */
	onOutcome: (outcome: DocumentOutcome<Origin>) => void;
	/** Called once for each document whose file cannot be read. */
	onUnreadable: (document: ReadyDocument<Origin>, caught: unknown) => void;
	/** Called before each upload: whether it may start. */
	mayUpload: () => boolean;
}

/**
 * Passes documents on, in order, once their files are on the server. Files are uploaded concurrently and ahead of
 * demand. A failed upload drops its own document only. Documents without a file pass unchanged.
 */
export async function* uploadFiles<Origin>(
	documents: Documents<Origin>,
	{ upload, concurrency, onOutcome, onUnreadable, mayUpload }: Uploading<Origin>,
): AsyncGenerator<ReadyDocument<Origin>> {
	const inFlight: Array<Promise<ReadyDocument<Origin> | undefined>> = [];
	const uploadOne = async (document: ReadyDocument<Origin>) => {
		if (!document.file) return document;
		try {
			const result = mayUpload() ? await upload(document) : undefined;
			if (result && 'file' in result) {
				const record = { ...document.record, ...result.file };
				return { ...omit(document, 'file'), isUploaded: true, record, ...serialize(record) };
			}
			const outcome = result
				? { ...result, outcome: 'rejected' as const }
				: { attempts: 0, outcome: 'notSent' as const };
			onOutcome({ document, batch: 0, ...outcome });
		} catch (caught) {
			onUnreadable(document, caught);
		}
		return undefined;
	};
	try {
		for await (const document of documents) {
			inFlight.push(uploadOne(document));
			if (inFlight.length >= concurrency) yield* compact([await inFlight.shift()]);
		}
		while (inFlight.length > 0) yield* compact([await inFlight.shift()]);
	} finally {
		// The consumer has left, but the outcomes of running uploads must still be reported.
		await Promise.allSettled(inFlight);
	}
}
