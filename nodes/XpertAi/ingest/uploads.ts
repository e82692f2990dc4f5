import { omit, some } from 'lodash';
import { z } from 'zod';

import { lenientNumber, lenientText } from '../payloads/zodHelpers';
import { type ApiClient, call } from '../transport/call';
import type { Failure } from '../transport/failure';
import { multipartBody, UPLOAD_PATH, UPLOADS_AT_ONCE } from '../transport/multipart';
import type { Fact } from './facts';
import { type DocumentGroups, type ReadyDocument, recordJsonAndSize } from './readyDocuments';

/** Either a document to store, or a fact to pass on. */
export type DocumentOrFact<Report> = ReadyDocument<Report> | Fact<Report>;

/** The fields that the node uses from the answer to an upload. */
const uploadedFileSchema = z.object({
	url: z.string().min(1),
	id: lenientText,
	size: lenientNumber,
});

interface UploadOptions<Report> {
	documents: DocumentGroups<Report>;
	client: ApiClient;
	timeoutMs: number;
	/** Uploads start only while `canSend` is true. */
	gate: { readonly canSend: boolean };
	/** If `sendBlockedBy` is set, no files are uploaded. */
	memory?: { readonly sendBlockedBy?: Failure };
}

/**
 * Uploads the files of documents, several at once (E16). Yields the documents in their original order. After an upload,
 * yields the fact `uploaded` before the document. If an upload fails or is not allowed, yields a fact instead of the
 * document.
 *
 * @throws an error of the document source
 */
export async function* uploadFiles<Report>(
	options: UploadOptions<Report>,
): AsyncGenerator<Array<DocumentOrFact<Report>>> {
	/** Documents in their order. The uploads of some may still be in progress. */
	const inFlight: Array<Promise<Array<DocumentOrFact<Report>>>> = [];
	try {
		for await (const group of options.documents) {
			// Documents without a file wait only for the uploads of earlier documents.
			if (inFlight.length === 0 && !some(group, 'readFile')) {
				yield group;
				continue;
			}
			for (const document of group) {
				inFlight.push(uploadFile(document, options));
				if (inFlight.length >= UPLOADS_AT_ONCE) yield (await inFlight.shift()) ?? [];
			}
		}
		while (inFlight.length > 0) yield (await inFlight.shift()) ?? [];
	} finally {
		// Waits for all uploads, because they may still read files when the consumer stops early.
		await Promise.allSettled(inFlight);
	}
}

/**
 * Uploads the file of a document, if it has one.
 *
 * @returns the document to store, after the fact `uploaded` if its file was uploaded; or only the fact that says why the
 * document is not stored
 */
async function uploadFile<Report>(
	document: ReadyDocument<Report>,
	{ client, gate, memory, timeoutMs }: UploadOptions<Report>,
): Promise<Array<DocumentOrFact<Report>>> {
	try {
		if (!document.readFile) return [document];
		if (!gate.canSend) return [{ document, outcome: 'notSent' }];
		const failedMemory = memory?.sendBlockedBy;
		if (failedMemory)
			return [{ document, outcome: 'notSent', failure: failedMemory, batch: 0, attempts: 0 }];
		const file = await document.readFile();
		const body = () => multipartBody(file, {});
		// An upload can be repeated, because an unused file does no harm.
		const request = { method: 'POST', repeatable: true, path: UPLOAD_PATH, body } as const;
		const result = await call(client, { ...request, schema: uploadedFileSchema, timeoutMs });
		const { answer, attempts, failure } = result;
		if (!answer) {
			const outcome = failure.status === undefined ? 'notSent' : 'rejected';
			return [{ document, outcome, failure, batch: 0, attempts }];
		}
		const { url: fileUrl, id: storageFileId, size } = answer;
		const record = { ...document.record, ...file.recordFields, fileUrl, storageFileId, size };
		const uploaded = {
			...omit(document, 'readFile'),
			isUploaded: true,
			record,
			...recordJsonAndSize(record),
		};
		return [{ outcome: 'uploaded', hadNul: file.hadNul }, uploaded];
	} catch (error) {
		return [{ document, outcome: 'unreadable', error }];
	}
}
