import lowerFirst from 'lodash/lowerFirst';
import type { IDataObject, INodeExecutionData, NodeApiError } from 'n8n-workflow';

import { NO_ANSWER, runFacts } from '../../../execution/audience';
import { quoted } from '../../../execution/badInput';
import type { HintContext } from '../../../execution/hints';
import type { Item } from '../../../execution/item';
import type { ItemError } from '../../../execution/outputs';
import type { ThreadIds } from '../../../runs/openConversation';
import type { RunResult } from '../../../runs/result';
import type { Failure } from '../../../transport/failure';

/** The error of a run without an answer: the reason, and where to look. */
export function resultError(item: Item, result: RunResult, thread: ThreadIds): NodeApiError {
	const { failure, reason, advice, status } = result;
	const shown: Failure =
		failure && reason === undefined
			? failure
			: { method: '', path: '', ...failure, kind: 'unsuccessful', reason };
	const error = runError(item, shown, { ...thread, verdict: status });
	const nextStep = advice ?? (reason === undefined ? undefined : READ_THREAD_ADVICE);
	if (nextStep) error.description = `${nextStep} ${error.description ?? ''}`.trim();
	return error;
}

/** Hints for E12. */
const UPLOAD_HINTS: HintContext = {
	statusHints: {
		404: 'The server takes no files for runs. Leave "Attach Files" empty, and check that the Base URL of the credential leads to an Xpert AI server.',
		413: 'The file is larger than the server, or a proxy before it, takes. Make it smaller, or have the limit raised.',
		500: 'The server could not take the file. Look up the request ID in the log of the server.',
	},
};

/** A file that was not uploaded: its binary field, and why. */
export interface FailedUpload {
	property: string;
	failure: Failure;
}

/** The error for a failed upload. The message was not sent. */
export function uploadError(
	item: Item,
	{ property, failure }: FailedUpload,
	thread: ThreadIds,
): NodeApiError {
	const verdict = failure.kind === 'cancelled' ? failure.kind : 'failed';
	const error = runError(item, failure, { ...thread, verdict }, UPLOAD_HINTS);
	if (verdict === 'cancelled') return error;
	const cause = lowerFirst(error.message);
	error.message = `The file in ${quoted(property)} was not uploaded: ${cause}`;
	error.description =
		`The message was not sent, as "Attach Files" names this file. ${error.description ?? ''}`.trim();
	return error;
}

const READ_THREAD_ADVICE = 'Look the thread up on the server, or read it with Thread: Get.';

/**
 * The output item of a failed run. A chat without streaming shows `message` to visitors; on the error output, it would
 * replace a field of the input.
 */
export function failedRunItem(item: Item, error: ItemError): INodeExecutionData {
	const failed = item.failed(error, runFacts(error));
	const isBranch = error.node?.onError === 'continueErrorOutput';
	if (!isBranch) failed.json.message = NO_ANSWER;
	return failed;
}

/** Hints for E4, where the server looks up the assistant first, and for the routes of one run (recorded). */
function runHints(item: Item): HintContext {
	return {
		statusHints: {
			403: 'A key of a user may not run the assistants of a private workspace. Use a key made for that workspace, or for this assistant.',
			404: notFoundHint(item),
		},
	};
}

function notFoundHint(item: Item): string {
	if (item.has('runId'))
		return 'The server has no such run, or the token may not see it. Check "Run ID" and "Thread".';
	if (!item.has('assistantId'))
		return 'The assistant of this thread is not there any more, or the token may not see it. Check "Thread".';
	const field = item.isJsonBody ? 'JSON Body' : 'Assistant';
	return `The server has no such assistant, or the token may not see it. Check "${field}".`;
}

/** The error of a run, naming its thread. */
export function runError(
	item: Item,
	failure: Failure,
	facts: IDataObject & { threadId: string },
	hints = runHints(item),
): NodeApiError {
	const error = item.apiError(failure, hints);
	error.description = `${error.description ?? ''} Thread: ${facts.threadId}.`.trim();
	error.context.data = { ...(error.context.data as IDataObject), ...facts };
	return error;
}
