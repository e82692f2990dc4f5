import omit from 'lodash/omit';

import type { Failure } from '../transport/failure';
import { serialize } from './batches';
import type { Documents, ReadyDocument } from './batches';
import type { DocumentOutcome } from './storing';

/** What the server says of an uploaded file, as a document takes it. */
export interface UploadedFile {
	storageFileId?: string;
	fileUrl: string;
	/** Bytes. */
	size?: number;
}

/**
 * Uploads the file of a document; or says why there is none.
 *
 * @throws what n8n throws when it cannot give the file
 */
export type Upload<Origin> = (
	document: ReadyDocument<Origin>,
) => Promise<{ file: UploadedFile } | { failure: Failure; attempts: number }>;

/** What uploading needs from outside. */
export interface Uploading<Origin> {
	upload: Upload<Origin>;
	/** Uploads at once. */
	concurrency: number;
	/** Told each document whose file was not uploaded, once: that failed, or further ones may not start. */
	onOutcome: (outcome: DocumentOutcome<Origin>) => void;
	/** Told each document whose file cannot be read, once. */
	onUnreadable: (document: ReadyDocument<Origin>, caught: unknown) => void;
	/** Asked before each upload: whether further ones may start. */
	mayUpload: () => boolean;
}

/**
 * Hands documents on when their files are on the server, in order. Files are uploaded several at once and
 * ahead of what is asked for; one that fails takes its document out and no other. A document without a
 * file is handed on as it is.
 */
export async function* uploaded<Origin>(
	documents: Documents<Origin>,
	{ upload, concurrency, onOutcome, onUnreadable, mayUpload }: Uploading<Origin>,
): AsyncGenerator<ReadyDocument<Origin>> {
	const inFlight: Array<Promise<ReadyDocument<Origin> | undefined>> = [];
	const uploadOne = async (document: ReadyDocument<Origin>) => {
		if (!document.file) return document;
		try {
			const result = mayUpload() ? await upload(document) : undefined;
			if (result && 'file' in result) return withFile(document, result.file);
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
			if (inFlight.length < concurrency) continue;
			const ready = await inFlight.shift();
			if (ready) yield ready;
		}
		for (let next = inFlight.shift(); next; next = inFlight.shift()) {
			const ready = await next;
			if (ready) yield ready;
		}
	} finally {
		// Nobody asks for these any more, but each tells what became of it before this ends.
		await Promise.allSettled(inFlight);
	}
}

function withFile<Origin>(
	document: ReadyDocument<Origin>,
	file: UploadedFile,
): ReadyDocument<Origin> {
	const record = { ...document.record, ...file };
	return { ...omit(document, 'file'), record, ...serialize(record) };
}
