import { compact, lowerFirst, pick } from 'lodash';
import type { NodeApiError } from 'n8n-workflow';

import type { AdviceContext, StatusAdvice } from '../../../execution/apiError';
import { shownValue } from '../../../execution/issueText';
import type { Item } from '../../../execution/item';
import { storeRunDetails } from '../../../execution/runDetails';
import type { RunFacts, UnsuccessfulResult } from '../../../runs/result';
import { forgetOwner } from '../../../threads/tokenOwner';
import type { Failure } from '../../../transport/failure';
import { filterAdvice } from './filterReport';

/**
 * The error of a run without an answer. It contains the reason, the next step, and the IDs of the run. After a rejected
 * token, also removes the owner of the token from the cache, because this entry may be out of date.
 *
 * @param adviceContext what the description of the error depends on; default: see `runAdviceContext`
 */
export function resultError(
	item: Item,
	result: UnsuccessfulResult,
	adviceContext = runAdviceContext(item, result),
): NodeApiError {
	const { failure, reason, advice } = result;
	if (failure?.status === 401) forgetOwner(item.connection.account);
	// A reason replaces the message of the failed request, because it explains more. The details keep the request.
	const shown: Failure =
		failure && reason === undefined
			? failure
			: { method: '', path: '', ...failure, kind: 'unsuccessful', reason };
	const error = item.apiError(shown, adviceContext);
	const defaultAdvice = reason === undefined ? undefined : CORRECT_ASSISTANT_ADVICE;
	const nextStep = advice ?? filterAdvice(reason) ?? defaultAdvice;
	error.description = compact([nextStep, error.description]).join(' ');
	storeRunDetails(error, pick(result, RUN_DETAIL_NAMES));
	return error;
}

/** The facts of a result that its error keeps. */
const RUN_DETAIL_NAMES = [
	'status',
	'threadId',
	'conversationId',
	'runId',
	'cancelledRun',
	'unverified',
] as const;

const CORRECT_ASSISTANT_ADVICE =
	'The reason comes from the model or a tool of the assistant: correct it there (the model, or the key or quota of its provider), then ask again. Thread: Get shows what was said.';

/**
 * Advice for the start of a run, and for requests about a run. At the start, a 404 is about the assistant, because the
 * server looks up the assistant first. With a run ID, a 404 may be about the run.
 */
function runAdviceContext(item: Item, { threadId = '' }: UnsuccessfulResult): AdviceContext {
	const statusAdvice: StatusAdvice = { 403: PRIVATE_WORKSPACE_ADVICE };
	if (item.hasParameter('runId')) return { statusAdvice };
	if (item.hasParameter('assistantId'))
		return {
			statusAdvice,
			missingRecord: { label: '"Assistant"', id: item.filledText('assistantId') },
		};
	statusAdvice[404] = ASSISTANT_GONE_ADVICE;
	return { statusAdvice, missingRecord: { label: 'The assistant of thread', id: threadId } };
}

const PRIVATE_WORKSPACE_ADVICE =
	'A key of a user may not run the assistants of a private workspace. Use a key made for that workspace, or for this assistant.';

const ASSISTANT_GONE_ADVICE =
	'The assistant of this thread is not there any more, or the key may not see it. Check "Thread".';

/** Advice for a failed upload (E12), by HTTP status. */
const UPLOAD_ADVICE: StatusAdvice = {
	404: 'The server takes no files for runs. Leave "Attach Files" empty, and check that the Base URL of the credential leads to an Xpert AI server.',
	413: 'The file is larger than the server, or a proxy before it, takes. Make it smaller, or have the limit raised.',
	500: 'The server could not take the file. Look up the request ID in the log of the server.',
};

/**
 * The error for a file that was not uploaded.
 *
 * @param property the binary field of the file
 */
export function uploadError(
	item: Item,
	failure: Failure,
	facts: RunFacts,
	property = '',
): NodeApiError {
	const status = failure.kind === 'cancelled' ? 'cancelled' : 'failed';
	const error = resultError(item, { ...facts, status, failure }, { statusAdvice: UPLOAD_ADVICE });
	// The user has stopped the execution, so the file does not matter.
	if (status === 'cancelled') return error;
	error.message = `The file in ${shownValue(property)} was not uploaded: ${lowerFirst(error.message)}`;
	error.description = `The message was not sent, as "Attach Files" names this file. ${error.description}`;
	return error;
}
