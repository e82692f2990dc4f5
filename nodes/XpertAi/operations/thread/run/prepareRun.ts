import { randomUUID } from 'crypto';
import { chunk, memoize, pick } from 'lodash';
import { z } from 'zod';

import { readUploadFile } from '../../../execution/binary';
import type { Client } from '../../../runs/client';
import { openConversationByKey, openNewConversation } from '../../../runs/openConversation';
import type { Run } from '../../../runs/run';
import { withFileContexts } from '../../../runs/runBody';
import { type QueueTurn, waitForTurn } from '../../../runs/turns';
import { lockSupportOf } from '../../../threads/lockRecord';
import { ownerOf } from '../../../threads/tokenOwner';
import { call } from '../../../transport/call';
import { MINUTE_MS } from '../../../transport/clock';
import { multipartBody, type UploadFile, UPLOADS_AT_ONCE } from '../../../transport/multipart';
import type { Send } from '../../../transport/request';
import { clientWithDeadline } from './clients';
import { resultError, uploadError } from './runErrors';
import type { RunInput } from './runRequest';

type RouteSupport = Run['backgroundRoutes'];

/** Whether the server lacks the routes for background runs. All items of a connection share this information. */
const routeSupportOf = memoize<(send: Send) => RouteSupport>(() => ({ areMissing: false }));
routeSupportOf.cache = new WeakMap();

/**
 * Prepares the run of an item: waits for the turn, opens the conversation, and uploads the files.
 *
 * @returns the run to start
 * @throws NodeApiError or NodeOperationError if one of these steps fails
 */
export async function prepareRun(request: RunInput, turn: QueueTurn): Promise<Run> {
	const { item, conversationKind, options, tuning, intent } = request;
	const client = clientWithDeadline(item, options.deadlineMinutes * MINUTE_MS);
	const notReached = await waitForTurn(turn, client, tuning.whenBusy);
	if (notReached) throw resultError(item, notReached);
	// Reads all files before the first request, so that nothing is sent if n8n has deleted a file.
	const read = request.attachments.map(async (field) => await readUploadFile(item, field));
	const files = await Promise.all(read);
	const thread = await openThread(request, client);
	// `{}` leaves out the advice about the assistant: this failure is about the conversation.
	if ('status' in thread) throw resultError(item, thread, {});
	const { threadId } = thread;
	const run: Run = {
		...client,
		threadId,
		facts: { ...thread },
		body: request.body,
		intent,
		isThreadNew: conversationKind === 'new',
		...pick(options, 'whenGivenUp'),
		...pick(tuning, ['whenBusy', 'inOneRequest']),
		cancelSilentMs: tuning.cancelSilentMinutes * MINUTE_MS,
		backgroundRoutes: routeSupportOf(item.connection.send),
		lockSupport: lockSupportOf(item.connection.account),
	};
	const fileContextIds = await uploadAttachments(request, run, files);
	if (fileContextIds.length === 0) return run;
	return { ...run, body: withFileContexts(run.body, fileContextIds) };
}

/**
 * Finds or creates the conversation of a run. Sends nothing for an existing thread.
 *
 * @returns the IDs, or a failed result
 */
async function openThread(
	{ item, conversationKind, threadOrKeyId = '', title }: RunInput,
	client: Client,
) {
	if (conversationKind === 'existing') return { threadId: threadOrKeyId };
	// The node chooses the thread ID, so the ID is known even without an answer of the server.
	if (conversationKind === 'new') return await openNewConversation(client, randomUUID(), title);
	const { account, credentialId } = item.connection;
	return await openConversationByKey(client, {
		keyId: threadOrKeyId,
		title,
		owner: ownerOf(account),
		credentialId,
	});
}

/** The answer to an upload (E12). */
const fileContextAnswerSchema = z.object({ id: z.string().min(1) });

/**
 * Uploads files for a thread, several at once (E12).
 *
 * @returns the file context IDs, in the order of the files
 * @throws NodeApiError for the first file that was not uploaded
 */
async function uploadAttachments({ item, attachments }: RunInput, run: Run, files: UploadFile[]) {
	const upload = async (file: UploadFile) =>
		await call(run, {
			method: 'POST',
			// A second copy of a file does no harm.
			repeatable: true,
			path: '/contexts/file',
			schema: fileContextAnswerSchema,
			body: () => multipartBody(file, pick(run, 'threadId')),
			timeoutMs: run.remainingMs(),
		});
	const ids: string[] = [];
	for (const batch of chunk(files, UPLOADS_AT_ONCE)) {
		for (const { answer, failure } of await Promise.all(batch.map(upload))) {
			// The failed file is the next one without an ID.
			if (failure) throw uploadError(item, failure, run.facts, attachments[ids.length]?.property);
			ids.push(answer.id);
		}
	}
	return ids;
}
