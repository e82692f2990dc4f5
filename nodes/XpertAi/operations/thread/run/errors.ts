import lowerFirst from 'lodash/lowerFirst';
import type {
	IDataObject,
	INodeExecutionData,
	NodeApiError,
	NodeOperationError,
} from 'n8n-workflow';

import { NO_ANSWER, runFacts } from '../../../execution/audience';
import { quoted } from '../../../execution/badInput';
import type { HintContext } from '../../../execution/hints';
import type { Item } from '../../../execution/item';
import type { ItemError } from '../../../execution/outputs';
import { MAX_OWNERS } from '../../../runs/openConversation';
import type { ThreadIds } from '../../../runs/openConversation';
import type { RunResult } from '../../../runs/result';
import type { Failure } from '../../../transport/failure';
import type { Attached } from './attachments';

/** What failed was no request. */
const NO_REQUEST = { method: '', path: '' };

/** Says why there is no answer, and where to look. */
export function resultError(item: Item, result: RunResult, thread: ThreadIds): NodeApiError {
	const { failure, reason, advice, status } = result;
	const told: Failure =
		failure && reason === undefined
			? failure
			: { ...NO_REQUEST, ...failure, kind: 'unsuccessful', reason };
	const error = runError(item, told, { ...thread, verdict: status });
	const way = advice ?? (reason === undefined ? undefined : LOOK_IT_UP);
	if (way) error.description = `${way} ${error.description ?? ''}`.trim();
	return error;
}

/** Says that every thread a key leads to is another person's. */
export function keyError(item: Item): NodeOperationError {
	return item.operationError(
		`"Conversation Key" is in use by ${MAX_OWNERS} other people, each with a credential of their own`,
		'Nothing was said to the assistant. Choose a key that is not shared, for example with the name of the workflow before it.',
	);
}

/** What statuses mean for E12. */
const UPLOAD_MEANING: HintContext = {
	statusHints: {
		404: 'The server takes no files for runs. Leave "Attach Files" empty, and check that the Base URL of the credential leads to an Xpert AI server.',
		413: 'The file is larger than the server, or a proxy before it, takes. Make it smaller, or have the limit raised.',
		500: 'The server could not take the file. Look up the request ID in the log of the server.',
	},
};

/** Says which file could not be uploaded, so that nothing was said to the assistant. */
export function uploadError(
	item: Item,
	{ property, failure }: Extract<Attached, { failure: Failure }>,
	thread: ThreadIds,
): NodeApiError {
	if (failure.kind === 'cancelled')
		return runError(item, failure, { ...thread, verdict: 'cancelled' });
	const error = runError(item, failure, { ...thread, verdict: 'failed' }, UPLOAD_MEANING);
	const why = lowerFirst(error.message);
	error.message = `The file in ${quoted(property)} was not uploaded: ${why}`;
	error.description =
		`The message was not sent, as "Attach Files" names this file. ${error.description ?? ''}`.trim();
	return error;
}

const LOOK_IT_UP = 'Look the thread up on the server, or read it with Thread: Get.';

/**
 * The item of a run that failed. A chat that does not stream shows its `message` to visitors, where there is no output.
 * On the error output it would take the place of a field of the input.
 */
export function failedRunItem(item: Item, error: ItemError): INodeExecutionData {
	const failed = item.failed(error, runFacts(error));
	const isBranch = error.node?.onError === 'continueErrorOutput';
	if (!isBranch) failed.json.message = NO_ANSWER;
	return failed;
}

/** What statuses mean for E4, where the server looks for the assistant first, and for a run that is there (recorded). */
function meaningFor(item: Item): HintContext {
	return {
		statusHints: {
			403: 'A key of a user may not run the assistants of a private workspace. Use a key made for that workspace, or for this assistant.',
			404: missingFor(item),
		},
	};
}

function missingFor(item: Item): string {
	if (item.has('runId'))
		return 'The server has no such run, or the token may not see it. Check "Run ID" and "Thread".';
	if (!item.has('assistantId'))
		return 'The assistant of this thread is not there any more, or the token may not see it. Check "Thread".';
	const field = item.isJsonBody ? 'JSON Body' : 'Assistant';
	return `The server has no such assistant, or the token may not see it. Check "${field}".`;
}

/** The error of a run; names the thread, so that the user can look it up. */
export function runError(
	item: Item,
	failure: Failure,
	facts: IDataObject & { threadId: string },
	meaning = meaningFor(item),
): NodeApiError {
	const error = item.apiError(failure, meaning);
	error.description = `${error.description ?? ''} Thread: ${facts.threadId}.`.trim();
	error.context.data = { ...(error.context.data as IDataObject), ...facts };
	return error;
}
