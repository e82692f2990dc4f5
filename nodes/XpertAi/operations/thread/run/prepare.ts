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
 * Waits for the item's turn on its thread, then prepares the message.
 *
 * @returns the thread and the body of E4, with its files
 * @throws NodeApiError or NodeOperationError if the turn does not come or the message cannot be sent
 */
export async function prepareInTurn(
	order: Message & { options: Pick<StartOptions, 'whenBusy'> },
	client: Client,
	turn: Turn | undefined,
): Promise<{ thread: ThreadIds; body: RunBody }> {
	const { item, threadId, options } = order;
	const refusal = turn && (await untilTurn(turn, client, options.whenBusy));
	if (refusal && threadId !== undefined) throw resultError(item, refusal, { threadId });
	return await prepare(order, client);
}

/**
 * Finds or creates the conversation and uploads the files.
 *
 * @returns the thread and the body of E4, with its files
 * @throws NodeApiError or NodeOperationError if the message cannot be sent
 */
async function prepare(
	order: Message,
	client: Client,
): Promise<{ thread: ThreadIds; body: RunBody }> {
	const { item, body } = order;
	// Before anything is sent, as n8n deletes the files of old executions.
	const files = await filesOf(order);
	// With an ID of its own, the node knows the thread even if the answer is lost.
	const threadId = order.threadId ?? randomUUID();
	const thread = await conversationFor(order, client, threadId);
	if (thread === undefined) throw keyError(item);
	if ('failure' in thread)
		throw runError(item, thread.failure, { threadId, verdict: 'failed' }, {});
	if (files.length === 0) return { thread, body };
	const attached = await uploadAttachments(client, thread.threadId, files);
	if ('failure' in attached) throw uploadError(item, attached, thread);
	return { thread, body: withFileContexts(body, attached.ids) };
}

async function filesOf({ item, attachments }: Message): Promise<Attachment[]> {
	return await Promise.all(
		attachments.map(async (field) => ({
			property: field.property,
			file: await uploadFile(item, field),
		})),
	);
}

/** The thread of the run; creates the conversation if needed. Undefined if a key leads to no thread. */
async function conversationFor(
	{ runOn, title }: Message,
	client: Client,
	threadId: string,
): Promise<ThreadIds | { failure: Failure } | undefined> {
	if (runOn === 'existing') return { threadId };
	const open = runOn === 'key' ? openConversation : createConversation;
	return await open(client, threadId, title ? { title } : {}, SETUP_TIMEOUT_MS);
}

/** Deletes the conversation created for a run, if the run was refused and nothing has run in it. Never throws. */
export async function deleteUnused(
	client: Client,
	{ threadId, conversationId: id }: ThreadIds,
	{ status, failure, reason }: RunResult,
): Promise<void> {
	const isRefused = status === 'failed' && failure?.kind === 'status' && reason === undefined;
	if (!isRefused || id === undefined) return;
	const listed = await listRuns(client, threadId);
	if (!('runs' in listed) || listed.runs.length > 0) return;
	const path = buildPath(CONVERSATION_PATH, { id });
	await client.send({ method: 'DELETE', path, timeoutMs: SETUP_TIMEOUT_MS });
}
