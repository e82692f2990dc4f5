import { attempt, compact, isEmpty, isError, pick, uniq } from 'lodash';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';

import type { ItemError } from '../../../execution/apiError';
import type { Item } from '../../../execution/item';
import { redactIds } from '../../../execution/runDetails';
import type { Execution } from '../../../execution/operation';
import { failureAsReply, NO_ANSWER_CHAT_TEXT } from '../../../execution/outputs';
import { addHints, isTool, mayContinue } from '../../../execution/n8nExecution';
import { concurrencyOf } from '../../../execution/concurrency';
import type { UnsuccessfulResult } from '../../../runs/result';
import type { Run } from '../../../runs/run';
import { type RunKind, valuesForFilters } from '../../../runs/runBody';
import { runAndWait, startOnly } from '../../../runs/runThread';
import type { QueueTurn } from '../../../runs/turns';
import { deleteConversation } from '../../../threads/conversation';
import { listRuns } from '../../../threads/runsApi';
import { answerOutputOf, FACT_FIELDS, outputJson } from './answerOutput';
import { ChatStream } from './chatStream';
import { CONCURRENCY_PARAMETER, runSettingsSchema } from './runSettings';
import { prepareRun } from './prepareRun';
import { runProgressTextMaker } from './clients';
import { resultError } from './runErrors';
import { runHints } from './runHints';
import { readRunInput, type RunInput } from './runRequest';
import { runInThreadQueues } from './threadQueues';

/**
 * Executes Thread: Ask and Wait, Decide, Answer Again and Start Run. Reads all items before it sends anything, so that an
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
	let stopError: ItemError | undefined;
	let concurrency: number | undefined;
	/** Converts an error. Stores the first error that stops the workflow. */
	const recordError: ErrorRecorder = ({ item, failsAsReply }, caught) => {
		const error = item.asError(caught);
		const isStopped = context.getExecutionCancelSignal()?.aborted;
		// `mayContinue` is also false if the execution was stopped.
		const stopsWorkflow = failsAsReply ? isStopped : !mayContinue(context);
		if (stopsWorkflow) stopError ??= item.addIndexToMessage(error);
		return error;
	};
	/** Reads the request of an item. The first item with a valid concurrency decides for all items. */
	const readRequest = (item: Item) => {
		concurrency ??= concurrencyOf([item], CONCURRENCY_PARAMETER);
		return readRunInput(item, kind, then === 'wait');
	};
	const askingItems = items.map((item) => readAskingItem(item, then, () => readRequest(item)));
	for (const asked of askingItems) if (isError(asked.request)) recordError(asked, asked.request);
	const work = askingItems.map((asked) => ({
		threadId: isError(asked.request) ? undefined : asked.request.threadOrKeyId,
		run: async (turn: QueueTurn) => await runItem(asked, turn, recordError),
	}));
	const mayGoOn = () => stopError === undefined;
	const output = compact(await runInThreadQueues(work, concurrency ?? 1, mayGoOn));
	if (stopError) throw stopError;
	addHints(context, [...newConversationHints(askingItems), ...runHints(context, output)]);
	return output;
}

/** An item that asks an assistant. */
interface AskingItem {
	item: Item;
	/** The request, or the error of an invalid parameter. */
	request: RunInput | Error;
	/** Whether a failure of this item becomes its output. */
	failsAsReply: boolean;
	/** Whether the node waits for the answer. */
	waits: boolean;
}

type ErrorRecorder = (asked: AskingItem, caught: unknown) => ItemError;

/** Reads an item. Keeps an error of an invalid parameter, instead of throwing it. */
function readAskingItem(item: Item, then: 'wait' | 'leave', read: () => RunInput): AskingItem {
	const waits = then === 'wait';
	let failsAsReply = false;
	const request = attempt(() => {
		if (waits)
			failsAsReply = item.setting('options.failuresAsReplies', z.boolean(), isTool(item.context));
		return read();
	});
	return { item, request, failsAsReply, waits };
}

/** Runs one item, and returns its output or its failure. If the failure stops the workflow, the output is discarded. */
async function runItem(
	asked: AskingItem,
	turn: QueueTurn,
	recordError: ErrorRecorder,
): Promise<INodeExecutionData> {
	const { item, request, failsAsReply, waits } = asked;
	const chat = waits ? beginChatStream(item, request) : undefined;
	try {
		// `executeAsking` has recorded this error. It is thrown here, so that the item gets its output below.
		if (isError(request)) throw request;
		return item.output(await executeRun(request, turn, chat));
	} catch (caught) {
		const failure = recordError(asked, caught);
		if (chat) showFailure(chat, item, failure, failsAsReply);
		return failureOutput(item, failure, failsAsReply);
	} finally {
		chat?.end();
	}
}

/** Hints about messages that began a new conversation, because no chat was found. */
function newConversationHints(allAsked: AskingItem[]): string[] {
	const reasons = allAsked.map(({ request }) => !isError(request) && request.noChatReason);
	return uniq(compact(reasons)).map((reason) => NO_CHAT_HINTS[reason]);
}

/** Why each message began a new conversation, although "Conversation" is "Of This Chat". */
const NO_CHAT_HINTS = {
	session:
		'The chat message has no sessionId: each message begins a new conversation. Have the page send one, or set "Conversation" to "With a Key", with a key that tells visitors apart.',
	chat: '"Conversation" is "Of This Chat", and this execution has no chat, or this node is in Loop Over Items: each message begins a new conversation. If that is meant, choose "New"; otherwise "With a Key".',
};

/** Shows the failure of an item in its chat. If the error stops the workflow, n8n itself shows the error. */
function showFailure(
	chat: ChatStream,
	{ context }: Item,
	failure: ItemError,
	failsAsReply: boolean,
): void {
	if (failsAsReply) chat.say(redactIds(failure.message));
	else if (mayContinue(context)) chat.say(NO_ANSWER_CHAT_TEXT);
}

/** Returns the output of a failed item: a reply, or an item with the error. */
function failureOutput(item: Item, failure: ItemError, failsAsReply: boolean): INodeExecutionData {
	if (failsAsReply) return item.output(failureAsReply(failure, item));
	const failed = item.failureOutput(failure);
	// Without streaming, a chat shows the field `message`. On the error output, this field would overwrite the `message`
	// of the input item.
	if (failure.node?.onError !== 'continueErrorOutput') failed.json.message = NO_ANSWER_CHAT_TEXT;
	return failed;
}

/** The chat for the answer or the error of an item. Undefined if the node shows nothing in a chat. */
function beginChatStream(item: Item, request: RunInput | Error): ChatStream | undefined {
	const { showInChat, citations } = isError(request)
		? { showInChat: readShowInChat(item), citations: undefined }
		: request.options;
	if (showInChat === 'hidden') return undefined;
	// In a sub-workflow (`integrated`), the caller may be an agent that writes its own answer to the chat. So with
	// "Whole", the node shows nothing there.
	const mayBelongToAgent = item.context.getMode() === 'integrated' && showInChat === 'whole';
	return mayBelongToAgent ? undefined : ChatStream.begin(item, citations);
}

/** Reads only the option Show in Chat, because other parameters of the item are invalid. An invalid option is `hidden`. */
function readShowInChat(item: Item) {
	const schema = runSettingsSchema.shape.options.shape.showInChat;
	const showInChat = attempt(() => item.setting('options.showInChat', schema));
	return isError(showInChat) ? 'hidden' : showInChat;
}

/**
 * Starts the run of an item, and waits for the answer if `request.waits` is set.
 *
 * @returns the JSON of the output item
 * @throws NodeApiError if the run did not start or gave no answer; NodeOperationError if a file cannot be read
 */
async function executeRun(
	request: RunInput,
	turn: QueueTurn,
	chat?: ChatStream,
): Promise<IDataObject> {
	const { item, options } = request;
	const run = await prepareRun(request, turn);
	item.progress = runProgressTextMaker(run.facts);
	const listener = options.showInChat === 'asWritten' ? chat : undefined;
	const result = await (request.waits ? runAndWait({ ...run, listener }) : startOnly(run));
	if (result.status === 'running') return outputJson(item, pick(result, FACT_FIELDS));
	if (!('output' in result)) {
		await deleteUnusedConversation(run, result);
		throw resultError(item, result);
	}
	const { output, json } = answerOutputOf(
		request,
		result,
		!isEmpty(valuesForFilters(request.body)),
	);
	chat?.showRemaining(output);
	return json;
}

/** Deletes the conversation created for a run, if the server rejected the run and nothing has run in it. Never throws. */
async function deleteUnusedConversation(run: Run, { failure, reason }: UnsuccessfulResult) {
	const { isThreadNew, threadId, facts } = run;
	const isRejected = failure?.kind === 'status' && reason === undefined;
	if (!isThreadNew || !isRejected || facts.conversationId === undefined) return;
	const { answer: runs } = await listRuns(run, threadId);
	if (runs?.length === 0) await deleteConversation(run, facts.conversationId);
}
