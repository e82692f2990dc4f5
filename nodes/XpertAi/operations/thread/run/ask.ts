import { randomUUID } from 'crypto';
import attempt from 'lodash/attempt';
import compact from 'lodash/compact';
import isEmpty from 'lodash/isEmpty';
import isError from 'lodash/isError';
import memoize from 'lodash/memoize';
import pick from 'lodash/pick';
import uniq from 'lodash/uniq';
import type { IDataObject, INodeExecutionData, NodeApiError } from 'n8n-workflow';
import { z } from 'zod';

import { readUploadFile } from '../../../execution/binary';
import { forEachConcurrently } from '../../../execution/eachItem';
import type { HintContext } from '../../../execution/hints';
import type { Item } from '../../../execution/item';
import type { Execution } from '../../../execution/operation';
import { addHints, type ItemError } from '../../../execution/outputs';
import { withProgress } from '../../../execution/progress';
import {
	filterValuesIn,
	withFileContexts,
	type RunKind,
	withDeadline,
	type Client,
	type Run,
	type RunRoutes,
} from '../../../runs/run';
import { openByKey, openNew } from '../../../runs/openConversation';
import { withFacts, type NoAnswer, type RunFacts } from '../../../runs/runResult';
import { runAndWait } from '../../../runs/runThread';
import { startInTurn } from '../../../runs/start';
import {
	deleteConversation,
	forgetOwner,
	ownerOf,
	readConversation,
} from '../../../threads/conversation';
import { listRuns } from '../../../threads/runsApi';
import { call } from '../../../transport/call';
import { MINUTE_MS, systemClock } from '../../../transport/clock';
import { multipartBody, UPLOADS_AT_ONCE, type UploadFile } from '../../../transport/multipart';
import type { Send } from '../../../transport/request';
import { answerOf, FACTS, filterHint, forAudience, type FilterReport } from './answerFields';
import { Chat } from './chat';
import { resultError, uploadError } from './errors';
import { runSettings } from './options';
import { readRunRequest, type RunRequest } from './runRequest';
import { executeByThread, waitForTurn, type Turn } from './threadQueues';

/**
 * Thread: Ask and Wait, Decide, Answer Again and Start Run.
 *
 * @param kind what to send to the assistant
 * @param waits whether to wait for the answer
 */
export async function execute(execution: Execution, kind: RunKind, waits = true) {
	const read = (item: Item) => readRunRequest(item, kind, waits);
	const output = await executeByThread(execution, { read, run: ask, ...(waits && { chatOf }) });
	addHints(execution.context, hintsAt(output));
	return output;
}

function chatOf(item: Item, request?: RunRequest): Chat | undefined {
	// A sub-workflow may be the tool of an agent, which the node cannot detect: with Whole it is silent there.
	const { showInChat = shownIn(item), citations = 'none' } = request?.options ?? {};
	const isTool = item.context.getMode() === 'integrated' && showInChat === 'whole';
	return isTool || showInChat === 'hidden' ? undefined : Chat.of(item, citations);
}

/** What an item shows in its chat, if its other parameters cannot be read. */
function shownIn(item: Item) {
	const schema = runSettings.shape.options.shape.showInChat;
	const shown = attempt(() => item.setting('options.showInChat', schema));
	return isError(shown) ? 'hidden' : shown;
}

/** Hints about answers that threads lack and searches that were not filtered as intended: the runs report success. */
function hintsAt(output: INodeExecutionData[]): string[] {
	const lost = output.filter(({ json }) => json.remembered === false).length;
	const answers = lost === 1 ? 'One answer is' : `${lost} answers are`;
	const why = 'another run at the same time has overwritten the messages';
	const hints = output.map(({ json }) => filterHint(json.filter as FilterReport | undefined));
	return uniq(compact([lost > 0 && `${answers} not on the thread: ${why}.`, ...hints]));
}

/**
 * Runs an item's thread and, if wanted, waits for the result.
 *
 * @throws NodeApiError with reason, thread and item if the run has no answer, or was not started
 */
async function ask(request: RunRequest, turn?: Turn, chat?: Chat): Promise<IDataObject> {
	const { item, options } = request;
	const run = await prepare(request, turn);
	const listener = options.showInChat === 'asWritten' ? chat : undefined;
	let waitsFor = `thread ${run.threadId}`;
	const onStart = (runId: string) => (waitsFor = `run ${runId}`);
	const wait = async () => await runAndWait({ ...run, listener, onStart });
	const progress = (minutes: number) => `waiting for ${waitsFor}, ${minutes} minutes`;
	const result = await (request.waits ? withProgress(item.context, progress, wait) : start(run));
	if (result.status === 'running') return forAudience(item, pick(result, FACTS));
	if (result.status !== 'completed' && result.status !== 'interrupted') {
		await deleteUnused(run, result);
		throw failedAt(item, result);
	}
	const { output, json } = answerOf(request, result, !isEmpty(filterValuesIn(request.body)));
	chat?.complete(output);
	return json;
}

/** The error of a run without an answer. The owner of a key that is refused is not kept. */
function failedAt(item: Item, result: NoAnswer, hints?: HintContext): NodeApiError {
	if (result.failure?.status === 401) forgetOwner(item.account);
	return resultError(item, result, hints);
}

/** Starts a run without waiting for it. */
async function start(run: Run): Promise<NoAnswer | (RunFacts & { status: 'running' })> {
	const { threadId, conversationId: opened } = run;
	const started = await startInTurn(run);
	if (started.kind !== 'started')
		return withFacts(started.result, { threadId, conversationId: opened });
	const { runId, facts } = started;
	const conversationId =
		opened ??
		facts.conversationId ??
		(await readConversation(run, started.threadId)).conversationId;
	return { status: 'running', ...facts, threadId: started.threadId, runId, conversationId };
}

/** What is known of the routes of a server. Items that send with the same function share it. */
const routesOf = memoize<(send: Send) => RunRoutes>(() => ({ areMissing: false }));
routesOf.cache = new WeakMap();

/**
 * Waits for the item's turn on its thread, finds or creates the conversation and uploads the files.
 *
 * @returns the run to start
 * @throws NodeApiError or NodeOperationError if the turn does not come or the message cannot be sent
 */
async function prepare(request: RunRequest, turn: Turn | undefined): Promise<Run> {
	const { item, runOn, options, intent } = request;
	const client = clientOf(item, options.deadlineMinutes * MINUTE_MS);
	const refusal = turn && (await waitForTurn(turn, client, options.whenBusy));
	if (refusal) throw resultError(item, refusal);
	// Before anything is sent, as n8n deletes the files of old executions.
	const read = request.attachments.map(async (field) => await readUploadFile(item, field));
	const files = await Promise.all(read);
	const thread = await openThread(request, client);
	if ('status' in thread) throw failedAt(item, thread, thread.failure ? {} : undefined);
	const run: Run = {
		...client,
		...thread,
		body: request.body,
		intent,
		isNew: runOn === 'new',
		...pick(options, ['whenBusy', 'whenGivenUp', 'inOneRequest']),
		cancelSilentMs: options.cancelSilentMinutes * MINUTE_MS,
		routes: routesOf(item.send),
	};
	const ids = await uploadAttachments(request, run, files);
	return ids.length > 0 ? { ...run, body: withFileContexts(run.body, ids) } : run;
}

/** The chosen thread, or that of a new conversation or of the conversation of a key. */
async function openThread({ item, runOn, threadId = '', title }: RunRequest, client: Client) {
	if (runOn === 'existing') return { threadId };
	// With an ID of its own, the node knows the thread even if the answer is lost.
	if (runOn === 'new') return await openNew(client, randomUUID(), title);
	const { account, credentialId } = item;
	return await openByKey(client, { keyId: threadId, title, owner: ownerOf(account), credentialId });
}

/** A client that sends until the deadline, or until the execution is stopped. */
export function clientOf(item: Item, deadlineMs = Infinity, send = item.send): Client {
	const signal = item.context.getExecutionCancelSignal();
	const deadline = systemClock.now() + deadlineMs;
	return withDeadline({ send, clock: systemClock, deadline, signal });
}

const fileContext = z.object({ id: z.string().min(1) });

/**
 * Uploads files for a thread (E12), in the order of their binary fields. After a failure, starts no further upload.
 * Repeats an upload whose answer is lost: an unused file does no harm.
 *
 * @returns the file context IDs, in the order of the files
 * @throws NodeApiError for the first file that was not uploaded
 */
async function uploadAttachments({ item, attachments }: RunRequest, run: Run, files: UploadFile[]) {
	const { threadId } = run;
	const ids: string[] = [];
	const errors: ItemError[] = [];
	const upload = async ([index, file]: [number, UploadFile]) => {
		const { answer, failure } = await call(run, {
			method: 'POST',
			repeatable: true,
			path: '/contexts/file',
			schema: fileContext,
			body: () => multipartBody(file, { threadId }),
			timeoutMs: run.remaining(),
		});
		if (failure) errors[index] = uploadError(item, failure, run, attachments[index]?.property);
		else ids[index] = answer.id;
	};
	const goOn = () => errors.length === 0;
	await forEachConcurrently([...files.entries()], UPLOADS_AT_ONCE, upload, goOn);
	const error = errors.find(Boolean);
	if (error) throw error;
	return ids;
}

/** Deletes the conversation created for a run, if the run was refused and nothing has run in it. Never throws. */
async function deleteUnused(run: Run, { status, failure, reason }: NoAnswer): Promise<void> {
	const { isNew, conversationId: id } = run;
	const isRefused = status === 'failed' && failure?.kind === 'status' && reason === undefined;
	if (!isNew || !isRefused || id === undefined) return;
	const { answer: runs } = await listRuns(run, run.threadId);
	if (runs?.length === 0) await deleteConversation(run, id);
}
