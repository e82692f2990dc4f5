import { randomUUID } from 'crypto';
import { z } from 'zod';

import { uploadFile } from '../../../execution/binary';
import { forEachConcurrently } from '../../../execution/eachItem';
import type { Item } from '../../../execution/item';
import { withFileContexts } from '../../../runs/input';
import {
	CONVERSATION_PATH,
	createConversation,
	MAX_OWNERS,
	openConversation,
} from '../../../runs/openConversation';
import type { ThreadIds } from '../../../runs/openConversation';
import type { RunResult } from '../../../runs/result';
import { remaining, withDeadline } from '../../../runs/run';
import type { Client, RunRequest, RunRoutes } from '../../../runs/run';
import { listRuns } from '../../../threads/runsApi';
import { callApi } from '../../../threads/thread';
import { buildPath } from '../../../transport/api';
import { MINUTE_MS, systemClock } from '../../../transport/clock';
import { multipartBody, UPLOADS_AT_ONCE } from '../../../transport/multipart';
import type { UploadFile } from '../../../transport/multipart';
import { resultError, runError, uploadError } from './errors';
import type { FailedUpload } from './errors';
import type { StartOrder } from './order';
import { untilTurn } from './threadOrder';
import type { Turn } from './threadOrder';

const TIMEOUT_MS = 60_000;

/**
 * Waits for the item's turn on its thread, finds or creates the conversation and uploads the files.
 *
 * @returns the run to start, and its thread
 * @throws NodeApiError or NodeOperationError if the turn does not come or the message cannot be sent
 */
export async function prepare(
	order: StartOrder,
	routes: RunRoutes,
	turn: Turn | undefined,
): Promise<{ request: RunRequest; thread: ThreadIds }> {
	const { item, runOn, options } = order;
	const { whenBusy, deadlineMinutes, cancelSilentMinutes } = options;
	const client = clientOf(item, deadlineMinutes * MINUTE_MS);
	// With an ID of its own, the node knows the thread even if the answer is lost.
	const { threadId = randomUUID() } = order;
	const refusal = turn && (await untilTurn(turn, client, whenBusy));
	if (refusal) throw resultError(item, refusal, { threadId });
	// Before anything is sent, as n8n deletes the files of old executions.
	const files = await Promise.all(
		order.attachments.map(async (field) => ({
			property: field.property,
			file: await uploadFile(item, field),
		})),
	);
	const open = runOn === 'key' ? openConversation : createConversation;
	const { title } = order;
	const thread = runOn === 'existing' ? { threadId } : await open(client, threadId, title);
	if (thread === undefined)
		throw item.operationError(
			`"Conversation Key" is in use by ${MAX_OWNERS} other people, each with a credential of their own`,
			'Nothing was said to the assistant. Choose a key that is not shared, for example with the name of the workflow before it.',
		);
	if ('failure' in thread)
		throw runError(item, thread.failure, { threadId, verdict: 'failed' }, {});
	const attached = await uploadAttachments(client, thread.threadId, files);
	if ('failure' in attached) throw uploadError(item, attached, thread);
	const { ids } = attached;
	const body = ids.length > 0 ? withFileContexts(order.body, ids) : order.body;
	return {
		thread,
		request: {
			...{ ...client, threadId: thread.threadId, body, isNew: runOn === 'new', whenBusy, routes },
			cancelSilentMs: cancelSilentMinutes * MINUTE_MS,
		},
	};
}

/** A client that sends until the deadline, or until the execution is stopped. */
export function clientOf(item: Item, deadlineMs = Infinity, send = item.send): Client {
	const signal = item.context.getExecutionCancelSignal();
	const deadline = systemClock.now() + deadlineMs;
	return withDeadline({ send, clock: systemClock, deadline, signal });
}

/** A file to send with a message, and its binary field. */
interface Attachment {
	property: string;
	file: UploadFile;
}

const fileContext = z.object({ id: z.string().min(1) });

/**
 * Uploads files for a thread (E12). After a failure, starts no further upload. Repeats an upload whose answer is lost:
 * an unused file does no harm.
 *
 * @returns the file context IDs, in the order of the files; or the first failure
 */
export async function uploadAttachments(
	client: Client,
	threadId: string,
	attachments: Attachment[],
): Promise<{ ids: string[] } | FailedUpload> {
	const ids: string[] = [];
	const failures: FailedUpload[] = [];
	const upload = async ([index, { property, file }]: [number, Attachment]) => {
		const { answer, failure } = await callApi(client, {
			...{ method: 'POST', path: '/contexts/file', body: multipartBody(file, { threadId }) },
			...{ timeoutMs: remaining(client), schema: fileContext },
			flaw: 'it does not name the ID of the file',
		});
		if (failure) failures[index] = { property, failure };
		else ids[index] = answer.id;
	};
	const goOn = () => failures.length === 0;
	await forEachConcurrently([...attachments.entries()], UPLOADS_AT_ONCE, upload, goOn);
	return failures.find(Boolean) ?? { ids };
}

/** Deletes the conversation created for a run, if the run was refused and nothing has run in it. Never throws. */
export async function deleteUnused(
	request: RunRequest,
	{ threadId, conversationId: id }: ThreadIds,
	{ status, failure, reason }: RunResult,
): Promise<void> {
	const isRefused = status === 'failed' && failure?.kind === 'status' && reason === undefined;
	if (!request.isNew || !isRefused || id === undefined) return;
	const { answer: runs } = await listRuns(request, threadId);
	if (runs?.length !== 0) return;
	const path = buildPath(CONVERSATION_PATH, { id });
	await request.send({ method: 'DELETE', path, timeoutMs: TIMEOUT_MS });
}
