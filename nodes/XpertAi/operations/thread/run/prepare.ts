import { randomUUID } from 'crypto';
import memoize from 'lodash/memoize';
import pick from 'lodash/pick';
import { z } from 'zod';

import { uploadFile } from '../../../execution/binary';
import { forEachConcurrently } from '../../../execution/eachItem';
import type { Item } from '../../../execution/item';
import type { ItemError } from '../../../execution/outputs';
import { withFileContexts } from '../../../runs/input';
import {
	CONVERSATION_PATH,
	createConversation,
	MAX_OWNERS,
	openConversation,
} from '../../../runs/openConversation';
import { withDeadline } from '../../../runs/run';
import type { Client, Run, RunResult, RunRoutes } from '../../../runs/run';
import { listRuns } from '../../../threads/runsApi';
import { callApi } from '../../../threads/thread';
import { buildPath } from '../../../transport/api';
import { MINUTE_MS, systemClock } from '../../../transport/clock';
import { multipartBody, UPLOADS_AT_ONCE } from '../../../transport/multipart';
import type { UploadFile } from '../../../transport/multipart';
import type { Send } from '../../../transport/request';
import { resultError, uploadError } from './errors';
import type { StartOrder } from './order';
import { untilTurn } from './threadOrder';
import type { Turn } from './threadOrder';

const TIMEOUT_MS = 60_000;

/** What is known of the routes of a server. Items that send with the same function share it. */
const routesOf = memoize<(send: Send) => RunRoutes>(() => ({ areMissing: false }));
routesOf.cache = new WeakMap();

/**
 * Waits for the item's turn on its thread, finds or creates the conversation and uploads the files.
 *
 * @returns the run to start
 * @throws NodeApiError or NodeOperationError if the turn does not come or the message cannot be sent
 */
export async function prepare(order: StartOrder, turn: Turn | undefined): Promise<Run> {
	const { item, runOn, options, title } = order;
	const client = clientOf(item, options.deadlineMinutes * MINUTE_MS);
	// With an ID of its own, the node knows the thread even if the answer is lost.
	const { threadId = randomUUID() } = order;
	const refusal = turn && (await untilTurn(turn, client, options.whenBusy));
	if (refusal) throw resultError(item, { ...refusal, threadId });
	// Before anything is sent, as n8n deletes the files of old executions.
	const files = await Promise.all(
		order.attachments.map(async (field) => ({
			property: field.property,
			file: await uploadFile(item, field),
		})),
	);
	const open = runOn === 'key' ? openConversation : createConversation;
	const thread = runOn === 'existing' ? { threadId } : await open(client, threadId, title);
	if (thread === undefined)
		throw item.operationError(
			`"Conversation Key" is in use by ${MAX_OWNERS} other people, each with a credential of their own`,
			'Nothing was said to the assistant. Choose a key that is not shared, for example with the name of the workflow before it.',
		);
	if ('failure' in thread)
		throw resultError(item, { status: 'failed', failure: thread.failure, threadId }, {});
	const run: Run = {
		...{ ...client, ...thread, body: order.body, isNew: runOn === 'new' },
		...pick(options, ['whenBusy', 'whenStopped', 'whenLate', 'inOneRequest']),
		cancelSilentMs: options.cancelSilentMinutes * MINUTE_MS,
		routes: routesOf(item.send),
	};
	const ids = await uploadAttachments(item, run, files);
	return ids.length > 0 ? { ...run, body: withFileContexts(run.body, ids) } : run;
}

/** A client that sends until the deadline, or until the execution is stopped. */
export function clientOf(item: Item, deadlineMs = Infinity, send = item.send): Client {
	const signal = item.context.getExecutionCancelSignal();
	const deadline = systemClock.now() + deadlineMs;
	return withDeadline({ send, clock: systemClock, deadline, signal });
}

const fileContext = z.object({ id: z.string().min(1) });

/**
 * Uploads the files of some binary fields for a thread (E12). After a failure, starts no further upload. Repeats an upload whose answer is lost:
 * an unused file does no harm.
 *
 * @returns the file context IDs, in the order of the files
 * @throws NodeApiError for the first file that was not uploaded
 */
async function uploadAttachments(
	item: Item,
	run: Run,
	attachments: Array<{ property: string; file: UploadFile }>,
): Promise<string[]> {
	const { threadId, conversationId } = run;
	const ids: string[] = [];
	const errors: ItemError[] = [];
	const upload = async ([index, { property, file }]: [number, (typeof attachments)[number]]) => {
		const { answer, failure } = await callApi(run, {
			...{ method: 'POST', path: '/contexts/file', body: multipartBody(file, { threadId }) },
			...{ timeoutMs: run.remaining(), schema: fileContext },
			flaw: 'it does not name the ID of the file',
		});
		if (failure) errors[index] = uploadError(item, failure, property, { threadId, conversationId });
		else ids[index] = answer.id;
	};
	const goOn = () => errors.length === 0;
	await forEachConcurrently([...attachments.entries()], UPLOADS_AT_ONCE, upload, goOn);
	const error = errors.find(Boolean);
	if (error) throw error;
	return ids;
}

/** Deletes the conversation created for a run, if the run was refused and nothing has run in it. Never throws. */
export async function deleteUnused(
	run: Run,
	{ status, failure, reason }: RunResult,
): Promise<void> {
	const { isNew, conversationId: id } = run;
	const isRefused = status === 'failed' && failure?.kind === 'status' && reason === undefined;
	if (!isNew || !isRefused || id === undefined) return;
	const { answer: runs } = await listRuns(run, run.threadId);
	if (runs?.length !== 0) return;
	const path = buildPath(CONVERSATION_PATH, { id });
	await run.send({ method: 'DELETE', path, timeoutMs: TIMEOUT_MS });
}
