import { randomUUID } from 'crypto';
import { attempt, chunk, compact, isEmpty, isError, memoize, pick, uniq } from 'lodash';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';

import type { ItemError } from '../../../execution/apiError';
import { readUploadFile } from '../../../execution/binary';
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
import type { Client } from '../../../runs/client';
import { openByKey, openNew } from '../../../runs/openConversation';
import type { NoAnswer } from '../../../runs/result';
import type { Run } from '../../../runs/run';
import { filterValuesIn, type RunKind, withFileContexts } from '../../../runs/runBody';
import { runAndWait, startOnly } from '../../../runs/runThread';
import { type Turn, waitForTurn } from '../../../runs/turns';
import { deleteConversation } from '../../../threads/conversation';
import { lockSupportOf } from '../../../threads/lockRecord';
import { ownerOf } from '../../../threads/owner';
import { listRuns } from '../../../threads/runsApi';
import { call } from '../../../transport/call';
import { MINUTE_MS } from '../../../transport/clock';
import { multipartBody, type UploadFile, UPLOADS_AT_ONCE } from '../../../transport/multipart';
import type { Send } from '../../../transport/request';
import { answerOf, FACTS, forAudience } from './answerOutput';
import { Chat } from './chat';
import { runSettings } from './fields';
import { filterHint, type FilterReport } from './filterReport';
import { clientOf, progressOf } from './runClient';
import { resultError, uploadError } from './runErrors';
import { readRunRequest, type RunRequest } from './runRequest';
import { inThreadQueues } from './threadQueues';

/**
 * Executes Thread: Ask and Wait, Decide, Answer Again and Start Run. Reads all items before it sends anything. So an
 * invalid item can stop the workflow before any run starts.
 *
 * @param kind what to send to the assistant
 * @param waits whether to wait for the answer
 * @returns the output, in the order of the items
 * @throws NodeApiError or NodeOperationError of the first failed item, if the failure stops the workflow or the
 * execution was stopped
 */
export async function executeAsking(
	{ context, items }: Execution,
	kind: RunKind,
	waits = true,
): Promise<INodeExecutionData[]> {
	let stopError: ItemError | undefined;
	let atOnce: number | undefined;
	let lacksSession = false;
	const errorOf = (item: Item, caught: unknown, asReply: boolean) => {
		const error = item.asError(caught);
		const isStopped = context.getExecutionCancelSignal()?.aborted;
		if (asReply ? isStopped : !mayContinue(context)) stopError ??= error;
		return error;
	};
	const work = items.map((item) => {
		let asReply = false;
		const request = attempt(() => {
			if (waits) asReply = item.setting('options.failuresAsReplies', z.boolean(), isTool(context));
			atOnce ??= atOnceOf([item]);
			return readRunRequest(item, kind, waits);
		});
		if (isError(request)) errorOf(item, request, asReply);
		else lacksSession ||= request.lacksSession;
		const run = async (turn: Turn) => {
			const chat = waits ? chatOf(item, request) : undefined;
			try {
				if (isError(request)) throw request;
				return item.output(await ask(request, turn, chat));
			} catch (caught) {
				const failure = errorOf(item, caught, asReply);
				// If the error stops the workflow, n8n shows the error in the chat.
				if (asReply || mayContinue(context))
					chat?.say(asReply ? redactIds(failure.message) : NO_ANSWER);
				if (asReply) return item.output(failureAsReply(failure));
				const failed = item.failed(failure);
				// Without streaming, a chat shows the field `message`. On the error output, this field would overwrite
				// the `message` of the input item.
				if (failure.node?.onError !== 'continueErrorOutput') failed.json.message = NO_ANSWER;
				return failed;
			} finally {
				chat?.end();
			}
		};
		return { threadId: isError(request) ? undefined : request.threadId, run };
	});
	const output = compact(await inThreadQueues(work, atOnce ?? 1, () => stopError === undefined));
	if (stopError) throw stopError;
	addHints(context, compact([lacksSession && NO_SESSION, ...hintsAt(output)]));
	return output;
}

const NO_SESSION =
	'The chat message has no sessionId: each message begins a new conversation. Hand one on, or set a key.';

/** The chat for the answer or the error of an item. Undefined if the node shows nothing in a chat. */
function chatOf(item: Item, request: RunRequest | Error): Chat | undefined {
	const { showInChat, citations } = isError(request)
		? { showInChat: shownIn(item), citations: undefined }
		: request.options;
	// In a sub-workflow (`integrated`), the caller may be an agent. An agent writes its own answer to the chat.
	const isTool = item.context.getMode() === 'integrated' && showInChat === 'whole';
	return isTool || showInChat === 'hidden' ? undefined : Chat.of(item, citations);
}

/** Reads only the option Show in Chat. Other parameters of the item may be invalid. */
function shownIn(item: Item) {
	const schema = runSettings.shape.options.shape.showInChat;
	const shown = attempt(() => item.setting('options.showInChat', schema));
	return isError(shown) ? 'hidden' : shown;
}

/** Hints about lost answers and unfiltered searches of successful runs. */
function hintsAt(output: INodeExecutionData[]): string[] {
	const lost = output.filter(({ json }) => json.remembered === false).length;
	const ofLost = `Answers overwritten on the thread by another run at the same time: ${lost}.`;
	const hints = output.map(({ json }) => filterHint(json.filter as FilterReport | undefined));
	return uniq(compact([lost > 0 && ofLost, ...hints]));
}

/**
 * Starts the run of an item, and waits for the answer if `request.waits` is set.
 *
 * @returns the JSON of the output item
 * @throws NodeApiError if the run did not start or gave no answer; NodeOperationError if a file cannot be read
 */
async function ask(request: RunRequest, turn: Turn, chat?: Chat): Promise<IDataObject> {
	const { item, options } = request;
	const run = await prepare(request, turn);
	item.progress = progressOf(run.facts);
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

/** Deletes the conversation created for a run, if the server refused the run and nothing has run in it. Never throws. */
async function deleteUnused(run: Run, { status, failure, reason }: NoAnswer) {
	const { isNew, threadId, facts } = run;
	const isRefused = status === 'failed' && failure?.kind === 'status' && reason === undefined;
	if (!isNew || !isRefused || facts.conversationId === undefined) return;
	const { answer: runs } = await listRuns(run, threadId);
	if (runs?.length === 0) await deleteConversation(run, facts.conversationId);
}

/** Whether the server lacks the routes for background runs. All items of a connection share this information. */
const routesOf = memoize<(send: Send) => Run['routes']>(() => ({ areMissing: false }));
routesOf.cache = new WeakMap();

/**
 * Prepares the run of an item: waits for the turn, opens the conversation, and uploads the files.
 *
 * @returns the run to start
 * @throws NodeApiError or NodeOperationError if one of these steps fails
 */
async function prepare(request: RunRequest, turn: Turn): Promise<Run> {
	const { item, runOn, options, intent } = request;
	const client = clientOf(item, options.deadlineMinutes * MINUTE_MS);
	const refusal = await waitForTurn(turn, client, options.whenBusy);
	if (refusal) throw resultError(item, refusal);
	// Reads all files before the first request, so that nothing is sent if n8n has deleted a file.
	const read = request.attachments.map(async (field) => await readUploadFile(item, field));
	const files = await Promise.all(read);
	const thread = await openThread(request, client);
	if ('status' in thread) throw resultError(item, thread, {});
	const { threadId } = thread;
	const run: Run = {
		...client,
		threadId,
		facts: { ...thread },
		body: request.body,
		intent,
		isNew: runOn === 'new',
		...pick(options, ['whenBusy', 'whenGivenUp', 'inOneRequest']),
		cancelSilentMs: options.cancelSilentMinutes * MINUTE_MS,
		routes: routesOf(item.connection.send),
		locks: lockSupportOf(item.connection.account),
	};
	const ids = await uploadAttachments(request, run, files);
	return ids.length > 0 ? { ...run, body: withFileContexts(run.body, ids) } : run;
}

/** Finds or creates the conversation of a run. */
async function openThread({ item, runOn, threadId = '', title }: RunRequest, client: Client) {
	if (runOn === 'existing') return { threadId };
	// The node chooses the thread ID, so the ID is known even without an answer of the server.
	if (runOn === 'new') return await openNew(client, randomUUID(), title);
	const { account, credentialId } = item.connection;
	return await openByKey(client, { keyId: threadId, title, owner: ownerOf(account), credentialId });
}

const fileContext = z.object({ id: z.string().min(1) });

/**
 * Uploads files for a thread, several at once (E12).
 *
 * @returns the file context IDs, in the order of the files
 * @throws NodeApiError for the first file that was not uploaded
 */
async function uploadAttachments({ item, attachments }: RunRequest, run: Run, files: UploadFile[]) {
	const upload = async (file: UploadFile) =>
		await call(run, {
			method: 'POST',
			// Repeatable, because a second copy of a file does no harm.
			repeatable: true,
			path: '/contexts/file',
			schema: fileContext,
			body: () => multipartBody(file, pick(run, 'threadId')),
			timeoutMs: run.remaining(),
		});
	const ids: string[] = [];
	for (const some of chunk(files, UPLOADS_AT_ONCE)) {
		for (const { answer, failure } of await Promise.all(some.map(upload))) {
			const property = attachments[ids.length]?.property;
			if (failure) throw uploadError(item, failure, run.facts, property);
			ids.push(answer.id);
		}
	}
	return ids;
}
