import { attempt, compact, filter, isEmpty, isError, map, pick, uniq } from 'lodash';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';

import type { ItemError } from '../../../execution/apiError';
import { type Item, redactIds } from '../../../execution/item';
import type { Execution } from '../../../execution/operation';
import {
	addHints,
	failureAsReply,
	isTool,
	mayContinue,
	NO_ANSWER,
} from '../../../execution/outputs';
import { atOnceOf } from '../../../execution/runOperation';
import type { NoAnswer } from '../../../runs/result';
import type { Run } from '../../../runs/run';
import { filterValuesIn, type RunKind } from '../../../runs/runBody';
import { runAndWait, startOnly } from '../../../runs/runThread';
import type { Turn } from '../../../runs/turns';
import { deleteConversation } from '../../../threads/conversation';
import { listRuns } from '../../../threads/runsApi';
import { answerOf, FACTS, forAudience } from './answerOutput';
import { Chat } from './chat';
import { AT_ONCE, runSettingsSchema } from './options';
import { filterHint, type FilterReport } from './filterReport';
import { prepare } from './prepareRun';
import { runProgress } from './runClient';
import { resultError } from './runErrors';
import { readRunRequest, type RunRequest } from './runRequest';
import { inThreadQueues } from './threadQueues';

/**
 * Executes Thread: Ask and Wait, Decide, Answer Again and Start Run. Reads all items before it sends anything. So an
 * invalid item can stop the workflow before any run starts.
 *
 * @param kind what to send to the assistant
 * @param then whether to wait for the answer, or to leave the run once it has started
 * @returns the output, in the order of the items
 * @throws NodeApiError or NodeOperationError of the first failed item, if the failure stops the workflow or the
 * execution was stopped
 */
export async function executeAsking(
	{ context, items }: Execution,
	kind: RunKind,
	then: 'wait' | 'leave',
): Promise<INodeExecutionData[]> {
	const waits = then === 'wait';
	let stopError: ItemError | undefined;
	let atOnce: number | undefined;
	const lacking = new Set<RunRequest['lacksChat']>();
	const recordError = (item: Item, caught: unknown, asReply: boolean) => {
		const error = item.asError(caught);
		const isStopped = context.getExecutionCancelSignal()?.aborted;
		if (asReply ? isStopped : !mayContinue(context)) stopError ??= item.namedIn(error);
		return error;
	};
	const work = items.map((item) => {
		let asReply = false;
		const request = attempt(() => {
			if (waits) asReply = item.setting('options.failuresAsReplies', z.boolean(), isTool(context));
			atOnce ??= atOnceOf([item], AT_ONCE);
			return readRunRequest(item, kind, waits);
		});
		if (isError(request)) recordError(item, request, asReply);
		else lacking.add(request.lacksChat);
		/** Runs one item. If the error stops the workflow, the output is discarded. */
		const run = async (turn: Turn) => {
			const chat = waits ? chatOf(item, request) : undefined;
			try {
				if (isError(request)) throw request;
				return item.output(await ask(request, turn, chat));
			} catch (caught) {
				return outputOfFailure(item, recordError(item, caught, asReply), asReply, chat);
			} finally {
				chat?.end();
			}
		};
		return { threadId: isError(request) ? undefined : request.threadId, run };
	});
	const output = compact(await inThreadQueues(work, atOnce ?? 1, () => stopError === undefined));
	if (stopError) throw stopError;
	const ofRuns = isTool(context) ? [] : stateHints(output);
	const ofLacking = compact([...lacking]).map((what) => NEW_HINTS[what]);
	addHints(context, [...ofLacking, ...ofRuns, ...hintsAt(output)]);
	return output;
}

/** Why each message began a new conversation, by what was lacking. */
const NEW_HINTS = {
	session:
		'The chat message has no sessionId: each message begins a new conversation. Hand one on, or set a key.',
	chat: '"Conversation" is "Of This Chat", and no Chat Trigger started this execution, or this is a loop: each message begins a new conversation. If that is meant, choose "New"; otherwise "With a Key".',
};

/** Shows the failure of an item in its chat, and returns the output of the item. */
function outputOfFailure(
	item: Item,
	failure: ItemError,
	asReply: boolean,
	chat?: Chat,
): INodeExecutionData {
	// If the error stops the workflow, n8n shows the error in the chat.
	if (asReply || mayContinue(item.context))
		chat?.say(asReply ? redactIds(failure.message) : NO_ANSWER);
	if (asReply) return item.output(failureAsReply(failure));
	const failed = item.failed(failure);
	// Without streaming, a chat shows the field `message`. On the error output, this field would overwrite the `message`
	// of the input item.
	if (failure.node?.onError !== 'continueErrorOutput') failed.json.message = NO_ANSWER;
	return failed;
}

/** The chat for the answer or the error of an item. Undefined if the node shows nothing in a chat. */
function chatOf(item: Item, request: RunRequest | Error): Chat | undefined {
	const { showInChat, citations } = isError(request)
		? { showInChat: shownIn(item), citations: undefined }
		: request.options;
	// In a sub-workflow (`integrated`), the caller may be an agent. An agent writes its own answer to the chat.
	const isOfAgent = item.context.getMode() === 'integrated' && showInChat === 'whole';
	return isOfAgent || showInChat === 'hidden' ? undefined : Chat.of(item, citations);
}

/** Reads only the option Show in Chat. Other parameters of the item may be invalid. */
function shownIn(item: Item) {
	const schema = runSettingsSchema.shape.options.shape.showInChat;
	const shown = attempt(() => item.setting('options.showInChat', schema));
	return isError(shown) ? 'hidden' : shown;
}

/** Hints about runs that wait, ended a wait, or have no words. An agent reads this in the output of its tool. */
function stateHints(output: INodeExecutionData[]): string[] {
	const runs = map(output, 'json');
	const waiting = filter(runs, { status: 'interrupted' }).length;
	const ended = filter(runs, 'discarded').length;
	const wordless = runs.filter(isWithoutWords).length;
	return compact([
		waiting > 0 &&
			`Runs that wait for a person: ${waiting}. Branch on "status", and go on with Thread: Decide.`,
		ended > 0 &&
			`Messages that ended a wait for a person: ${ended}. What was asked is in "discarded".`,
		wordless > 0 && `Answers without words: ${wordless}.`,
	]);
}

/** Hints about lost answers, and about searches, of successful runs. */
function hintsAt(output: INodeExecutionData[]): string[] {
	const lost = output.filter(({ json }) => json.remembered === false).length;
	const ofLost = `Answers overwritten on the thread by another run at the same time: ${lost}.`;
	const hints = output.map(({ json }) => filterHint(json.filter as FilterReport | undefined));
	return uniq(compact([lost > 0 && ofLost, ...hints]));
}

/** Whether a run ended without an answer in words, or in other parts such as pictures. */
const isWithoutWords = ({ output, content = output, parts, rejected, status }: IDataObject) =>
	content === '' && status === 'completed' && isEmpty(parts) && !rejected;

/**
 * Starts the run of an item, and waits for the answer if `request.waits` is set.
 *
 * @returns the JSON of the output item
 * @throws NodeApiError if the run did not start or gave no answer; NodeOperationError if a file cannot be read
 */
async function ask(request: RunRequest, turn: Turn, chat?: Chat): Promise<IDataObject> {
	const { item, options } = request;
	const run = await prepare(request, turn);
	item.progress = runProgress(run.facts);
	const listener = options.showInChat === 'asWritten' ? chat : undefined;
	const result = await (request.waits ? runAndWait({ ...run, listener }) : startOnly(run));
	if (result.status === 'running') return forAudience(item, pick(result, FACTS));
	if (!('output' in result)) {
		await deleteUnused(run, result);
		throw resultError(item, result);
	}
	const { output, json } = answerOf(request, result, !isEmpty(filterValuesIn(request.body)));
	chat?.complete(output);
	return json;
}

/** Deletes the conversation created for a run, if the server rejected the run and nothing has run in it. Never throws. */
async function deleteUnused(run: Run, { status, failure, reason }: NoAnswer) {
	const { isNew, threadId, facts } = run;
	const isRejected = status === 'failed' && failure?.kind === 'status' && reason === undefined;
	if (!isNew || !isRejected || facts.conversationId === undefined) return;
	const { answer: runs } = await listRuns(run, threadId);
	if (runs?.length === 0) await deleteConversation(run, facts.conversationId);
}
