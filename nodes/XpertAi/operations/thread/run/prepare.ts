import { randomUUID } from 'crypto';

import { uploadFile } from '../../../execution/binary';
import { withFileContexts } from '../../../runs/input';
import type { RunBody } from '../../../runs/input';
import {
	CONVERSATION_PATH,
	createConversation,
	openConversation,
} from '../../../runs/openConversation';
import type { ThreadIds } from '../../../runs/openConversation';
import type { RunResult } from '../../../runs/result';
import type { Client } from '../../../runs/run';
import { listRuns } from '../../../threads/runsApi';
import { buildPath } from '../../../transport/api';
import { untilTurn } from './threadOrder';
import type { Turn } from './threadOrder';
import type { Failure } from '../../../transport/failure';
import { uploadAttachments } from './attachments';
import type { Attachment } from './attachments';
import { keyError, resultError, runError, uploadError } from './errors';
import type { StartOptions } from './options';
import type { Message } from './order';

const SETUP_TIMEOUT_MS = 60_000;

/**
 * Waits for the turn of an item on its thread, and then prepares what has to be there before the message.
 *
 * @returns the thread and the body of E4, with the files in it
 * @throws NodeApiError or NodeOperationError with the reason and the item when its turn does not come, or when the
 * message cannot be sent
 */
export async function prepareInTurn(
	order: Message & { options: Pick<StartOptions, 'whenBusy'> },
	inTime: Client,
	turn: Turn | undefined,
): Promise<{ made: ThreadIds; body: RunBody }> {
	const { item, threadId, options } = order;
	const held = turn && (await untilTurn(turn, inTime, options.whenBusy));
	if (held && threadId !== undefined) throw resultError(item, held, { threadId });
	return await prepare(order, inTime);
}

/**
 * Finds or makes the conversation where one is wanted and uploads the files: what has to be there
 * before the message.
 *
 * @returns the thread and the body of E4, with the files in it
 * @throws NodeApiError or NodeOperationError with the reason and the item when the message cannot be sent
 */
async function prepare(
	order: Message,
	inTime: Client,
): Promise<{ made: ThreadIds; body: RunBody }> {
	const { item, body } = order;
	// Looked for before anything is sent: n8n deletes the files of old executions.
	const files = await filesOf(order);
	// An id of our own, so that the thread is known also when the answer is lost.
	const threadId = order.threadId ?? randomUUID();
	const made = await conversationFor(order, inTime, threadId);
	if (made === undefined) throw keyError(item);
	if ('failure' in made) throw runError(item, made.failure, { threadId, verdict: 'failed' }, {});
	if (files.length === 0) return { made, body };
	const attached = await uploadAttachments(inTime, made.threadId, files);
	if ('failure' in attached) throw uploadError(item, attached, made);
	return { made, body: withFileContexts(body, attached.ids) };
}

async function filesOf({ item, attachments }: Message): Promise<Attachment[]> {
	return await Promise.all(
		attachments.map(async (field) => ({
			property: field.property,
			file: await uploadFile(item, field),
		})),
	);
}

/** Where the run takes place; what has to be made for it first is made. None where a key leads to no thread. */
async function conversationFor(
	{ runOn, title }: Message,
	inTime: Client,
	threadId: string,
): Promise<ThreadIds | { failure: Failure } | undefined> {
	if (runOn === 'existing') return { threadId };
	const open = runOn === 'key' ? openConversation : createConversation;
	return await open(inTime, threadId, title ? { title } : {}, SETUP_TIMEOUT_MS);
}

/** Deletes the conversation that was made for a run, if that was refused and nothing has run in it. Never throws. */
export async function deleteUnused(
	inTime: Client,
	{ threadId, conversationId: id }: ThreadIds,
	{ status, failure, reason }: RunResult,
): Promise<void> {
	const isRefused = status === 'failed' && failure?.kind === 'status' && reason === undefined;
	if (!isRefused || id === undefined) return;
	const listed = await listRuns(inTime, threadId);
	if (!('runs' in listed) || listed.runs.length > 0) return;
	const path = buildPath(CONVERSATION_PATH, { id });
	await inTime.send({ method: 'DELETE', path, timeoutMs: SETUP_TIMEOUT_MS });
}
