import isUndefined from 'lodash/isUndefined';
import omit from 'lodash/omit';
import omitBy from 'lodash/omitBy';
import { z } from 'zod';

import { numberIfAny, textIfAny } from '../payloads/common';
import { call, type ApiClient } from '../transport/call';
import type { Failure } from '../transport/failure';
import { UPLOADS_AT_ONCE, multipartBody } from '../transport/multipart';
import { serialize, type ReadyDocument, type DocumentFact, type Fact } from './readyDocument';
import type { Documents } from './batches';

/** The fields of the answer that are used. */
const uploadedFile = z.object({
	url: z.string().min(1),
	id: textIfAny,
	size: numberIfAny,
});

/** The dependencies of uploading. */
export interface Uploading<Origin> {
	documents: Documents<Origin>;
	client: ApiClient;
	timeoutMs: number;
	/** Whether uploads may still start. */
	gate: { readonly canSend: boolean };
	/** Why no document may be stored, so that none need be uploaded. */
	memory?: { readonly refusal?: Failure };
}

/**
 * Passes documents on, in order, once their files are on the server (E16). Files are uploaded concurrently and ahead of
 * demand. A failed upload drops its own document only. Documents without a file pass unchanged. An upload whose answer
 * is lost is repeated: an unused file does no harm.
 */
export async function* uploadFiles<Origin>({
	documents,
	client,
	timeoutMs,
	gate,
	memory,
}: Uploading<Origin>): AsyncGenerator<ReadyDocument<Origin> | Fact<Origin>> {
	type Uploaded = Array<ReadyDocument<Origin> | Fact<Origin>>;
	const inFlight: Array<Promise<Uploaded>> = [];
	const upload = async (document: ReadyDocument<Origin>): Promise<Uploaded> => {
		const failed = (failure: Failure, attempts: number): DocumentFact<Origin> => {
			const outcome = failure.status === undefined || attempts === 0 ? 'notSent' : 'rejected';
			return { document, outcome, failure, batch: 0, attempts };
		};
		try {
			if (!document.file) return [document];
			if (!gate.canSend) return [{ document, outcome: 'notSent' }];
			if (memory?.refusal) return [failed(memory.refusal, 0)];
			const content = await document.file();
			const { answer, failure, attempts } = await call(client, {
				method: 'POST',
				repeatable: true,
				path: '/v1/file',
				schema: uploadedFile,
				timeoutMs,
				body: () => multipartBody(content, {}),
			});
			if (!answer) return [failed(failure, attempts)];
			const { url: fileUrl, id: storageFileId, size } = answer;
			const known = omitBy({ storageFileId, size }, isUndefined);
			const record = { ...document.record, ...content.fields, fileUrl, ...known };
			const ready = { ...omit(document, 'file'), isUploaded: true, record, ...serialize(record) };
			return [{ outcome: 'uploaded', hadNul: content.hadNul }, ready];
		} catch (error) {
			return [{ document, outcome: 'unreadable', error }];
		}
	};
	try {
		for await (const document of documents) {
			inFlight.push(upload(document));
			if (inFlight.length >= UPLOADS_AT_ONCE) yield* (await inFlight.shift()) ?? [];
		}
		while (inFlight.length > 0) yield* (await inFlight.shift()) ?? [];
	} finally {
		// The consumer may have left, but running uploads still hold files.
		await Promise.allSettled(inFlight);
	}
}
