import compact from 'lodash/compact';
import lowerFirst from 'lodash/lowerFirst';
import pick from 'lodash/pick';
import type { IDataObject, NodeApiError } from 'n8n-workflow';

import { quoted } from '../../../execution/inputIssues';
import type { HintContext, StatusHints } from '../../../execution/hints';
import type { Item } from '../../../execution/item';
import type { NoAnswer } from '../../../runs/runResult';
import type { Failure } from '../../../transport/failure';

/** The error of a run without an answer: the reason, and where to look. Its data names the thread. */
export function resultError(
	item: Item,
	result: NoAnswer,
	hints = runHints(item, result),
): NodeApiError {
	const { failure, reason, advice, status, unverified } = result;
	const shown: Failure =
		failure && reason === undefined
			? failure
			: { method: '', path: '', ...failure, kind: 'unsuccessful', reason };
	const error = item.apiError(shown, hints);
	const nextStep = advice ?? (reason === undefined ? undefined : READ_THREAD_ADVICE);
	error.description = compact([nextStep, error.description]).join(' ');
	error.context.data = {
		...(error.context.data as IDataObject),
		...pick(result, ['threadId', 'conversationId', 'runId', 'cancelledRun']),
		verdict: status,
		unverified,
	};
	return error;
}

const READ_THREAD_ADVICE = 'Look the thread up on the server, or read it with Thread: Get.';

/** Hints for E12. */
const UPLOAD_HINTS: HintContext = {
	statusHints: {
		404: 'The server takes no files for runs. Leave "Attach Files" empty, and check that the Base URL of the credential leads to an Xpert AI server.',
		413: 'The file is larger than the server, or a proxy before it, takes. Make it smaller, or have the limit raised.',
		500: 'The server could not take the file. Look up the request ID in the log of the server.',
	},
};

/** The error for a file of this binary field that was not uploaded. The message was not sent. */
export function uploadError(
	item: Item,
	failure: Failure,
	thread: Pick<NoAnswer, 'threadId' | 'conversationId'>,
	property = '',
): NodeApiError {
	const status = failure.kind === 'cancelled' ? 'cancelled' : 'failed';
	const facts = pick(thread, ['threadId', 'conversationId']);
	const error = resultError(item, { ...facts, status, failure }, UPLOAD_HINTS);
	if (status === 'cancelled') return error;
	error.message = `The file in ${quoted(property)} was not uploaded: ${lowerFirst(error.message)}`;
	error.description = `The message was not sent, as "Attach Files" names this file. ${error.description}`;
	return error;
}

/** Hints for E4, where the server looks up the assistant first, and for the routes of one run (recorded). */
function runHints(item: Item, { threadId = '' }: NoAnswer): HintContext {
	const statusHints: StatusHints = {
		403: 'A key of a user may not run the assistants of a private workspace. Use a key made for that workspace, or for this assistant.',
	};
	if (item.has('runId')) return { statusHints };
	if (item.has('assistantId'))
		return { statusHints, missing: { field: '"Assistant"', id: item.id('assistantId') } };
	statusHints[404] =
		'The assistant of this thread is not there any more, or the key may not see it. Check "Thread".';
	return { statusHints, missing: { field: 'The assistant of thread', id: threadId } };
}
