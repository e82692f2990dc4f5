import isUndefined from 'lodash/isUndefined';
import omitBy from 'lodash/omitBy';
import { z } from 'zod';

import type { MemoryRoutes } from '../../../ingest/memory';
import type { ProcessingRoutes } from '../../../ingest/processingStatus';
import type { Upload } from '../../../ingest/uploads';
import { numberIfAny, textIfAny } from '../../../payloads/common';
import { answerMustBe } from '../../../transport/answer';
import { buildPath } from '../../../transport/api';
import { isRouteMissing } from '../../../transport/classifyFailure';
import { systemClock } from '../../../transport/clock';
import { multipartBody } from '../../../transport/multipart';
import type { ApiRequest, Send } from '../../../transport/request';
import { OutageBudget, repeatedSend, sendWithRetries } from '../../../transport/sendWithRetries';
import type { RetryLimits } from '../../../transport/sendWithRetries';
import { UPLOAD_TIMEOUT_SECONDS } from '../../shared/fields';
import { BULK_REQUEST } from '../bulkRequest';
import { getStatus, startProcessing } from '../processing';
import type { Origin } from './outcomes';
import { SOURCES } from './sources';
import type { Submission } from './submission';

/** The routes of a knowledgebase: storing, processing, and statuses. */
export type KnowledgebaseRoutes = ProcessingRoutes & MemoryRoutes;

/**
 * The routes of a knowledgebase (E3, and two of Xpert for processing). Their requests can safely be repeated, and share
 * one outage budget.
 */
export function knowledgebaseRoutes(
	knowledgebaseId: string,
	send: Send,
	{ retryLimits: limits, timeoutMs }: { retryLimits: RetryLimits; timeoutMs: number },
	signal?: AbortSignal,
): KnowledgebaseRoutes {
	const clock = systemClock;
	return {
		storePath: buildPath(BULK_REQUEST.path, { knowledgebaseId }),
		startPath: buildPath(startProcessing.path, { knowledgebaseId }),
		statusPath: (ids) => buildPath(getStatus.path, { knowledgebaseId, documentIds: ids.join(',') }),
		send: repeatedSend(send, { limits, timeoutMs, clock, signal }),
		clock,
		signal,
	};
}

/**
 * Makes the upload of a document's file (E16). An upload whose answer is lost is repeated: an unused file does no
 * harm. All uploads share one outage budget.
 */
export function uploadRoute(submission: Submission): Upload<Origin> {
	const { settings, signal } = submission;
	const outageBudget = new OutageBudget(settings.retryLimits);
	const request: ApiRequest = {
		method: 'POST',
		path: '/v1/file',
		timeoutMs: Math.max(settings.timeoutMs, UPLOAD_TIMEOUT_SECONDS * 1000),
		checkAnswer: mustHaveUrl,
	};
	return async ({ file }) => {
		const uploadedContent = await file?.();
		// Sending a form consumes it, so each attempt makes it anew.
		const send = async () =>
			await submission.send({
				...request,
				body: uploadedContent && multipartBody(uploadedContent, {}),
			});
		const limits = outageBudget.limits;
		const retried = { request, limits, repeatable: true, clock: systemClock, signal };
		const { outcome, attempts } = await sendWithRetries(send, retried);
		outageBudget.note(outcome);
		if (outcome.ok) {
			const { url: fileUrl, id: storageFileId, size } = uploadedFile.parse(outcome.answer);
			return { file: { fileUrl, ...omitBy({ storageFileId, size }, isUndefined) } };
		}
		const { failure } = outcome;
		return {
			failure: isRouteMissing(failure) ? { ...failure, reason: NO_UPLOADS } : failure,
			attempts,
		};
	};
}

/** The fields of the answer that are used. */
const uploadedFile = z.object({
	url: z.string().min(1),
	id: textIfAny,
	size: numberIfAny,
});

const mustHaveUrl = answerMustBe(
	(answer) => uploadedFile.safeParse(answer).success,
	'it names no address of the file',
);

const NO_UPLOADS = `this server takes no uploads. Set "Documents From" to ${SOURCES.fields.name}, and send what it can read`;
