import { derivedId } from '../payloads/derivedId';
import {
	createConversation,
	isConversationId,
	learnOwner,
	proveOwner,
	readConversation,
} from '../threads/conversation';
import type { Owner } from '../threads/conversation';
import { readThread } from '../threads/thread';
import { FOREIGN_ANSWER_PAUSE_MS, type ApiClient } from '../transport/call';
import {
	isNeverSent,
	isRejection,
	isTokenRefused,
	mayMeanNoRecord,
} from '../transport/classifyFailure';
import type { Failure } from '../transport/failure';
import { repeated, type Client, type Run } from './run';
import { failed, type NoAnswer } from './runResult';

/** How often E13 is sent without an ID when its outcome is unknown. */
const CREATE_TRIES = 3;

/** A thread and its conversation, or why there is none. */
type Opened = { threadId: string; conversationId: string } | NoAnswer;

const failedBy = (failure: Failure, threadId?: string): NoAnswer => ({
	status: failure.kind === 'cancelled' ? 'cancelled' : 'failed',
	failure,
	threadId,
});

/**
 * Creates a conversation on a thread ID that nobody else has (E13). If the answer is lost, searches for the conversation
 * before it sends again, so that there are never two. Never throws.
 */
export async function openNew(
	client: ApiClient,
	threadId: string,
	title?: string,
): Promise<Opened> {
	for (let tries = 1; ; tries++) {
		const created = await createConversation(client, { title, threadId });
		if (created.ok) return { threadId, conversationId: created.answer.id };
		const { failure, mayBeDone } = created;
		if (!mayBeDone) return failedBy(failure, threadId);
		const { failure: unread, conversationId } = await readConversation(client, threadId);
		if (conversationId) return { threadId, conversationId };
		if (unread || tries >= CREATE_TRIES || client.signal?.aborted)
			return failedBy(failure, threadId);
	}
}

/** Names the conversation of a key. */
export interface KeyedConversation {
	/** Made of the assistant and the key. */
	keyId: string;
	title?: string;
	/** Kept in the process for each server and token, and filled here. */
	owner: Owner;
	/** What stands for the owner on servers that tell none: the ID of the n8n credential. */
	credentialId: string;
}

/**
 * Finds or creates the conversation of a key. Its thread and its ID are derived from the key and its owner, so there is
 * one, however many processes create it at once (recorded, `conversation-by-id`). Never throws.
 */
export async function openByKey(client: Client, keyed: KeyedConversation): Promise<Opened> {
	const { owner } = keyed;
	if (owner.id === undefined) {
		// With a guess, a key would have two conversations.
		const learn = async () => await learnOwner(client, owner);
		const unread = await repeated(client, learn, (failure) => !failure || isFinal(failure));
		if (unread) return failedBy(unread);
	}
	const opened = owner.id ? await openOwned(client, keyed, owner.id) : undefined;
	return opened ?? (await openUnowned(client, keyed));
}

/** Whether asking again cannot help: a server refuses the token, or cannot be asked. */
function isFinal(failure: Failure): boolean {
	return isNeverSent(failure) || failure.kind === 'redirect' || isTokenRefused(failure);
}

/** @returns undefined if this server does not show what was created with the owner */
async function openOwned(
	client: Client,
	{ keyId, title, owner }: KeyedConversation,
	createdById: string,
): Promise<Opened | undefined> {
	const threadId = derivedId(keyId, createdById);
	const found = await readConversation(client, threadId);
	if (found.failure) return failedBy(found.failure, threadId);
	if (found.conversationId) return { threadId, conversationId: found.conversationId };
	const id = derivedId(threadId, 'conversation');
	const wanted = { id, threadId, title, createdById };
	const { failure: refusal } = await createConversation(client, wanted);
	if (refusal && !isRejection(refusal)) return failedBy(refusal, threadId);
	// A rejection may say that it came into being meanwhile.
	const { failure, conversationId } = await (refusal
		? readConversation(client, threadId)
		: proveOwner(client, owner, threadId));
	if (conversationId) return { threadId, conversationId };
	const reason = failure ?? refusal;
	if (reason) return failedBy(reason, threadId);
	return owner.id ? { threadId, conversationId: id } : undefined;
}

/** Without an owner, a thread that the server knows but does not show as ours belongs to somebody else. */
async function openUnowned(client: Client, keyed: KeyedConversation): Promise<Opened> {
	const { keyId, title, credentialId } = keyed;
	const threadId = derivedId(keyId, `credential ${credentialId}`);
	for (let wasKnown = false; ; wasKnown = true) {
		const { failure, conversationId } = await readConversation(client, threadId);
		if (failure) return failedBy(failure, threadId);
		if (conversationId) return { threadId, conversationId };
		if (wasKnown) return { ...SOMEBODY_ELSES, threadId };
		const unread = await missingThread(client, threadId);
		if (unread && !mayMeanNoRecord(unread)) return failedBy(unread, threadId);
		if (unread) return await openNew(client, threadId, title);
		// Another message with this key may have created it since.
	}
}

const SOMEBODY_ELSES = failed(
	'The conversation of this key belongs to somebody else',
	'Nothing was said to the assistant. Choose a "Conversation Key" that is not shared, for example with the name of the workflow before it.',
);

/** Why a thread cannot be read. One that seems missing is read again, as two owners would otherwise share it. */
async function missingThread(client: Client, threadId: string): Promise<Failure | undefined> {
	const { failure } = await readThread(client, threadId);
	if (!failure || !mayMeanNoRecord(failure)) return failure;
	await client.wait(FOREIGN_ANSWER_PAUSE_MS);
	return (await readThread(client, threadId)).failure;
}

/**
 * Explains why a thread cannot be run: it is unknown, or its ID is the ID of a conversation.
 *
 * @param otherwise the result if neither applies
 */
export async function explainUnreadable(run: Run, otherwise: NoAnswer): Promise<NoAnswer> {
	const { failure, conversationId } = await readConversation(run, run.threadId);
	if (failure) return otherwise.failure ? otherwise : failedBy(failure);
	if (conversationId) return { ...otherwise, conversationId };
	const reason = (await isConversationId(run, run.threadId))
		? '"Thread" holds the ID of a conversation, not that of its thread'
		: 'There is no conversation with this thread';
	const advice =
		'Check "Thread": it takes the threadId that Conversation: Create or an earlier run gave, of the same token.';
	return failed(reason, advice, otherwise.failure);
}

/** The result of a refused run. A failure without a reason of its own may mean an unknown thread. */
export async function explainRefusal(run: Run, failure: Failure): Promise<NoAnswer> {
	const refused: NoAnswer = { status: 'failed', failure };
	const mayBeUnknown = mayMeanNoRecord(failure) && failure.missing !== 'record';
	return run.isNew || !mayBeUnknown ? refused : await explainUnreadable(run, refused);
}
