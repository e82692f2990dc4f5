import { z } from 'zod';

import { remaining } from '../../../runs/run';
import type { Client } from '../../../runs/run';
import { answerMustBe } from '../../../transport/answer';
import type { Failure } from '../../../transport/failure';
import { forEachConcurrently } from '../../../execution/eachItem';
import { UPLOADS_AT_ONCE, multipartBody } from '../../../transport/multipart';
import type { UploadFile } from '../../../transport/multipart';
import { SINGLE_REQUEST_LIMITS, sendWithRetries } from '../../../transport/sendWithRetries';

/** A file to send with a message, and its binary field. */
export interface Attachment {
	property: string;
	file: UploadFile;
}

/** The file context IDs, in the order of the files; or the failure of one file. */
export type Attached = { ids: string[] } | { property: string; failure: Failure };

const fileContext = z.object({ id: z.string().min(1) });

const withId = answerMustBe(
	(answer) => fileContext.safeParse(answer).success,
	'it does not name the ID of the file',
);

/**
 * Uploads files for a thread (E12). After a failure, starts no further upload. Repeats an upload whose answer is lost:
 * an unused file does no harm.
 */
export async function uploadAttachments(
	client: Client,
	threadId: string,
	attachments: Attachment[],
): Promise<Attached> {
	const results: Array<{ id: string } | { failure: Failure }> = [];
	const goOn = () => !results.some((result) => 'failure' in result);
	const upload = async ([index, { file }]: [number, Attachment]) => {
		results[index] = await uploadFor(client, threadId, file);
	};
	await forEachConcurrently([...attachments.entries()], UPLOADS_AT_ONCE, upload, goOn);

	const ids: string[] = [];
	for (const [index, { property }] of attachments.entries()) {
		const result = results[index];
		if (result && 'failure' in result) return { property, failure: result.failure };
		if (result) ids.push(result.id);
	}
	return { ids };
}

async function uploadFor(
	client: Client,
	threadId: string,
	file: UploadFile,
): Promise<{ id: string } | { failure: Failure }> {
	const { outcome } = await sendWithRetries(client.send, {
		request: {
			method: 'POST',
			path: '/contexts/file',
			body: multipartBody(file, { threadId }),
			timeoutMs: remaining(client),
			checkAnswer: withId,
		},
		limits: { ...SINGLE_REQUEST_LIMITS, maxElapsedMs: remaining(client) },
		repeatable: true,
		clock: client.clock,
		signal: client.signal,
	});
	return outcome.ok ? { id: fileContext.parse(outcome.answer).id } : { failure: outcome.failure };
}
