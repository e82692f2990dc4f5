import type { MemoryRoutes } from '../../../ingest/notesOnServer';
import type { ProcessingRoutes } from '../../../ingest/processing';
import type { Upload, UploadedFile } from '../../../ingest/uploads';
import { answerMustBe, isJsonObject } from '../../../transport/answer';
import type { Clock } from '../../../transport/clock';
import { isRouteMissing, isTransient } from '../../../transport/meaning';
import { multipartForm } from '../../../transport/multipart';
import { buildPath } from '../../../transport/api';
import type { RetryLimits } from '../../../transport/retryPolicy';
import { sendWithRetries } from '../../../transport/sendWithRetries';
import type { Execution } from '../../../execution/operation';
import { BULK_PATH, PROCESS_PATH, STATUS_PATH } from '../paths';
import { UPLOAD_TIMEOUT_SECONDS } from '../../shared/upload';
import type { SubmitSettings } from './settings';
import type { Origin } from './sources';

/** Xpert's two routes to process the documents of a knowledgebase; starting twice and asking twice does no harm. */
export function processingRoutes(
	{ context, send }: Execution,
	{ retryLimits: limits, timeoutMs }: SubmitSettings,
	knowledgebaseId: string,
	clock: Clock,
): ProcessingRoutes {
	const signal = context.getExecutionCancelSignal();
	return {
		startPath: buildPath(PROCESS_PATH, { knowledgebaseId }),
		statusPath: (ids) => buildPath(STATUS_PATH, { knowledgebaseId, documentIds: ids.join(',') }),
		send: async (request) => {
			const retried = {
				request: { ...request, timeoutMs },
				limits,
				repeatable: true,
				clock,
				signal,
			};
			return (await sendWithRetries(send, retried)).outcome;
		},
		clock,
		signal,
	};
}

/** What memory is written (E3) and read with. A server that stays away is waited for once. */
export function memoryRoutes(
	execution: Execution,
	settings: SubmitSettings,
	knowledgebaseId: string,
	clock: Clock,
): MemoryRoutes {
	const { retryLimits } = settings;
	const routes = (limits: RetryLimits) =>
		processingRoutes(execution, { ...settings, retryLimits: limits }, knowledgebaseId, clock);
	const patient = routes(retryLimits);
	const once = routes({ ...retryLimits, maxTries: 1 });
	let givenUp = false;
	return {
		storePath: buildPath(BULK_PATH, { knowledgebaseId }),
		statusPath: patient.statusPath,
		send: async (request) => {
			const outcome = await (givenUp ? once : patient).send(request);
			givenUp = !outcome.ok && isTransient(outcome.failure);
			return outcome;
		},
	};
}

/**
 * Uploads the file of a document (E16). One whose answer is lost is sent again: a file that nothing names
 * harms nobody. A server that stays away is waited for once; each file after that is tried once.
 */
export function uploadRoute(
	{ context, send }: Execution,
	{ retryLimits, timeoutMs }: SubmitSettings,
	clock: Clock,
): Upload<Origin> {
	const signal = context.getExecutionCancelSignal();
	let givenUp = false;
	return async ({ file }) => {
		const whole = await file?.();
		const request = async () =>
			await send({
				method: 'POST',
				path: '/v1/file',
				body: whole && multipartForm(whole, {}),
				timeoutMs: Math.max(timeoutMs, UPLOAD_TIMEOUT_SECONDS * 1000),
				checkAnswer: answerMustBe(namesAddress, 'it names no address of the file'),
			});
		const { outcome, attempts } = await sendWithRetries(request, {
			request: { method: 'POST', path: '/v1/file', timeoutMs },
			limits: givenUp ? { ...retryLimits, maxTries: 1 } : retryLimits,
			repeatable: true,
			clock,
			signal,
		});
		if (!outcome.ok) {
			const { failure } = outcome;
			givenUp = isTransient(failure);
			return {
				failure: isRouteMissing(failure) ? { ...failure, reason: NO_UPLOADS } : failure,
				attempts,
			};
		}
		givenUp = false;
		return { file: uploadedFile(outcome.answer) };
	};
}

function uploadedFile(answer: unknown): UploadedFile {
	const { id, url, size } = answer as { id?: unknown; url: string; size?: unknown };
	return {
		fileUrl: url,
		...(typeof id === 'string' ? { storageFileId: id } : {}),
		...(typeof size === 'number' ? { size } : {}),
	};
}

const NO_UPLOADS =
	'this server takes no uploads. Set "Documents From" to Fields, and send what it can read';

function namesAddress(answer: unknown): boolean {
	return isJsonObject(answer) && typeof answer.url === 'string' && answer.url !== '';
}
