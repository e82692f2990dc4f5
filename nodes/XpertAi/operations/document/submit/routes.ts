import isUndefined from 'lodash/isUndefined';
import omitBy from 'lodash/omitBy';
import { z } from 'zod';

import type { MemoryRoutes } from '../../../ingest/memory';
import type { ProcessingRoutes } from '../../../ingest/processingStatus';
import type { Upload } from '../../../ingest/uploads';
import { answerMustBe } from '../../../transport/answer';
import { buildPath } from '../../../transport/api';
import { isRouteMissing } from '../../../transport/classifyFailure';
import { multipartBody } from '../../../transport/multipart';
import type { ApiRequest } from '../../../transport/request';
import { OutageBudget, repeatedSend, sendWithRetries } from '../../../transport/sendWithRetries';
import { UPLOAD_TIMEOUT_SECONDS } from '../../shared/fields';
import { BULK_PATH, PROCESS_PATH, STATUS_PATH } from '../paths';
import { SOURCES } from './sources';
import type { Origin } from './sources/identity';
import type { Submission } from './submission';

/** The routes of a knowledgebase: storing, processing, and statuses. */
export type KnowledgebaseRoutes = ProcessingRoutes & MemoryRoutes;

/** How requests are sent. */
interface Sending extends Pick<Submission, 'send' | 'clock' | 'signal'> {
	settings: Pick<Submission['settings'], 'timeoutMs' | 'retryLimits'>;
}

/** The routes of a knowledgebase (E3, and two of Xpert for processing). Their requests can safely be repeated. */
export function knowledgebaseRoutes(
	{ send, settings, clock, signal }: Sending,
	knowledgebaseId: string,
): KnowledgebaseRoutes {
	const { timeoutMs, retryLimits: limits } = settings;
	return {
		storePath: buildPath(BULK_PATH, { knowledgebaseId }),
		startPath: buildPath(PROCESS_PATH, { knowledgebaseId }),
		statusPath: (ids) => buildPath(STATUS_PATH, { knowledgebaseId, documentIds: ids.join(',') }),
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
	const { settings, clock, signal } = submission;
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
		const retried = { request, limits: outageBudget.limits, repeatable: true, clock, signal };
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
	id: z.string().optional().catch(undefined),
	size: z.number().optional().catch(undefined),
});

const mustHaveUrl = answerMustBe(
	(answer) => uploadedFile.safeParse(answer).success,
	'it names no address of the file',
);

const NO_UPLOADS = `this server takes no uploads. Set "Documents From" to ${SOURCES.fields.name}, and send what it can read`;
