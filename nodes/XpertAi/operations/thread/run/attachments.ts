import { z } from 'zod';

import { remaining } from '../../../runs/run';
import type { Client } from '../../../runs/run';
import { answerMustBe } from '../../../transport/answer';
import type { Failure } from '../../../transport/failure';
import { forEachConcurrently } from '../../../execution/eachItem';
import { UPLOADS_AT_ONCE, multipartBody } from '../../../transport/multipart';
import type { UploadFile } from '../../../transport/multipart';
import { SINGLE_REQUEST_LIMITS } from '../../../transport/retryPolicy';
import { sendWithRetries } from '../../../transport/sendWithRetries';

/** A file to send along with a message, and the binary field it comes from. */
export interface Attachment {
	property: string;
	file: UploadFile;
}

/** The ids of the files on the server, in the order of the files; or why one of them is not there. */
export type Attached = { ids: string[] } | { property: string; failure: Failure };

const fileContext = z.object({ id: z.string().min(1) });

const withId = answerMustBe(
	(answer) => fileContext.safeParse(answer).success,
	'it does not name the ID of the file',
);

/**
 * Uploads files for a thread (E12). When one of them fails, no further one is begun. A file whose answer
 * is lost is sent again: one that nobody refers to harms nobody.
 */
export async function uploadAttachments(
	inTime: Client,
	threadId: string,
	attachments: Attachment[],
): Promise<Attached> {
	const results: Array<{ id: string } | { failure: Failure }> = [];
	const goOn = () => !results.some((result) => 'failure' in result);
	const upload = async ([index, { file }]: [number, Attachment]) => {
		results[index] = await uploadFor(inTime, threadId, file);
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
	inTime: Client,
	threadId: string,
	file: UploadFile,
): Promise<{ id: string } | { failure: Failure }> {
	const { outcome } = await sendWithRetries(inTime.send, {
		request: {
			method: 'POST',
			path: '/contexts/file',
			body: multipartBody(file, { threadId }),
			timeoutMs: remaining(inTime),
			checkAnswer: withId,
		},
		limits: { ...SINGLE_REQUEST_LIMITS, maxElapsedMs: remaining(inTime) },
		repeatable: true,
		clock: inTime.clock,
		signal: inTime.signal,
	});
	return outcome.ok ? { id: fileContext.parse(outcome.answer).id } : { failure: outcome.failure };
}
