import { omit, some } from 'lodash';
import { z } from 'zod';

import { lenientNumber, lenientText } from '../payloads/schemas';
import { type ApiClient, call } from '../transport/call';
import type { Failure } from '../transport/failure';
import { multipartBody, UPLOADS_AT_ONCE } from '../transport/multipart';
import { type Documents, type Fact, type ReadyDocument, serialize } from './facts';

/** Either a document to store, or a fact to pass on. */
export type DocumentOrFact<Report> = ReadyDocument<Report> | Fact<Report>;

type Steps<Report> = Array<DocumentOrFact<Report>>;

/** The fields that the node uses from the answer to an upload. */
const uploadedFile = z.object({ url: z.string().min(1), id: lenientText, size: lenientNumber });

interface UploadOptions<Report> {
	documents: Documents<Report>;
	client: ApiClient;
	timeoutMs: number;
	/** Uploads start only while `canSend` is true. */
	gate: { readonly canSend: boolean };
	/** If `sendFailure` is set, no files are uploaded. */
	memory?: { readonly sendFailure?: Failure };
}

/**
 * Uploads the files of documents, several at once (E16). Yields the documents in their original order. If an upload
 * fails, yields a fact instead of the document. An upload can be repeated, because an unused file does no harm.
 *
 * @throws an error of the document source
 */
export async function* uploadFiles<Report>(
	all: UploadOptions<Report>,
): AsyncGenerator<Steps<Report>> {
	const { documents, client, timeoutMs, gate, memory } = all;
	const inFlight: Array<Promise<Steps<Report>>> = [];
	const upload = async (document: ReadyDocument<Report>): Promise<Steps<Report>> => {
		try {
			if (!document.file) return [document];
			if (!gate.canSend) return [{ document, outcome: 'notSent' }];
			const unsent = { document, outcome: 'notSent', batch: 0, attempts: 0 } as const;
			if (memory?.sendFailure) return [{ ...unsent, failure: memory.sendFailure }];
			const content = await document.file();
			const body = () => multipartBody(content, {});
			const request = { method: 'POST', repeatable: true, path: '/v1/file', body } as const;
			const result = await call(client, { ...request, schema: uploadedFile, timeoutMs });
			const { answer, failure, attempts } = result;
			if (!answer) {
				const outcome = failure.status === undefined ? 'notSent' : 'rejected';
				return [{ document, outcome, failure, batch: 0, attempts }];
			}
			const { url: fileUrl, id: storageFileId, size } = answer;
			const record = { ...document.record, ...content.fields, fileUrl, storageFileId, size };
			const ready = { ...omit(document, 'file'), isUploaded: true, record, ...serialize(record) };
			return [{ outcome: 'uploaded', hadNul: content.hadNul }, ready];
		} catch (error) {
			return [{ document, outcome: 'unreadable', error }];
		}
	};
	try {
		for await (const group of documents) {
			// If uploads are in progress, documents without a file are queued too, to keep the order.
			const isQueued = inFlight.length > 0 || some(group, 'file');
			if (!isQueued) yield group;
			for (const document of isQueued ? group : []) {
				inFlight.push(upload(document));
				if (inFlight.length >= UPLOADS_AT_ONCE) yield (await inFlight.shift()) ?? [];
			}
		}
		while (inFlight.length > 0) yield (await inFlight.shift()) ?? [];
	} finally {
		// Waits for all uploads, because they may still read files when the consumer stops early.
		await Promise.allSettled(inFlight);
	}
}
