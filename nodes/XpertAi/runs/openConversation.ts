import { derivedId } from '../payloads/ids';
import { createConversation, readConversation } from '../threads/conversation';
import { learnOwner, type Owner, proveOwner } from '../threads/owner';
import { readThread } from '../threads/thread';
import { type ApiClient, FOREIGN_PAUSE_MS } from '../transport/call';
import {
	type Failure,
	isNeverSent,
	isRejection,
	isTokenRejected,
	mayMeanNoRecord,
} from '../transport/failure';
import { type Client, repeatUntil } from './client';
import { failed, failedBy, type NoAnswer } from './result';

/** Maximum number of attempts to create a conversation in `openNewConversation`. */
const CREATE_TRIES = 3;

type Opened = { threadId: string; conversationId: string } | NoAnswer;

/**
 * Creates a conversation with a new thread ID. Never throws. If the server's answer is lost, looks for the conversation
 * before the next attempt.
 */
export async function openNewConversation(
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

/** A conversation that the user identifies by a "Conversation Key". */
interface KeyedConversation {
	/** ID derived from the assistant and the key. */
	keyId: string;
	title?: string;
	/** The owner of the token. If the owner's ID is unknown, `openConversationByKey` asks the server. */
	owner: Owner;
	/** ID of the n8n credential. Replaces the owner on a server that does not support owners. */
	credentialId: string;
}

/**
 * Finds or creates the conversation of a key. Never throws. Derives the thread ID and the conversation ID from the key
 * and the owner. So processes that create the conversation at the same time get the same conversation.
 */
export async function openConversationByKey(
	client: Client,
	keyed: KeyedConversation,
): Promise<Opened> {
	const { owner } = keyed;
	if (owner.id === undefined) {
		// Fail if the owner stays unknown. Without the owner, the node would derive a different thread ID.
		const learn = async () => await learnOwner(client, owner);
		const unread = await repeatUntil(client, learn, (failure) => !failure || isFinal(failure));
		if (unread) return failedBy(unread);
	}
	const opened = owner.id ? await openForOwner(client, keyed, owner.id) : undefined;
	return opened ?? (await openForCredential(client, keyed));
}

const isFinal = (failure: Failure) =>
	isNeverSent(failure) || failure.kind === 'redirect' || isTokenRejected(failure);

/**
 * Finds or creates the conversation of a key and an owner.
 *
 * @returns undefined if the server does not support owners (see `proveOwner`)
 */
async function openForOwner(
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
	const { failure: creationFailure } = await createConversation(client, wanted);
	if (creationFailure && !isRejection(creationFailure)) return failedBy(creationFailure, threadId);
	// After a rejection, look for the conversation. Another process may have just created it.
	const { failure, conversationId } = await (creationFailure
		? readConversation(client, threadId)
		: proveOwner(client, owner, threadId));
	if (conversationId) return { threadId, conversationId };
	const reason = failure ?? creationFailure;
	if (reason) return failedBy(reason, threadId);
	return owner.id ? { threadId, conversationId: id } : undefined;
}

/**
 * Finds or creates the conversation of a key on a server that does not support owners. The thread ID is derived from the
 * key and the credential. The conversation ID is not derived.
 */
async function openForCredential(client: Client, keyed: KeyedConversation): Promise<Opened> {
	const { keyId, title, credentialId } = keyed;
	const threadId = derivedId(keyId, `credential ${credentialId}`);
	for (let threadExists = false; ; threadExists = true) {
		const { failure, conversationId } = await readConversation(client, threadId);
		if (failure) return failedBy(failure, threadId);
		if (conversationId) return { threadId, conversationId };
		// The thread exists, but the server hides its conversation from this token.
		if (threadExists) return { ...SOMEBODY_ELSES, threadId };
		const unread = await threadReadFailure(client, threadId);
		if (unread)
			return mayMeanNoRecord(unread)
				? await openNewConversation(client, threadId, title)
				: failedBy(unread, threadId);
		// Another message with this key may have created the conversation since. Look for it again.
	}
}

/**
 * Returns why a thread cannot be read. Reads a thread that seems to be missing twice, because two owners would otherwise
 * share it.
 */
async function threadReadFailure(client: Client, threadId: string): Promise<Failure | undefined> {
	const { failure } = await readThread(client, threadId);
	if (!failure || !mayMeanNoRecord(failure)) return failure;
	await client.wait(FOREIGN_PAUSE_MS);
	return (await readThread(client, threadId)).failure;
}

const SOMEBODY_ELSES = failed(
	'The conversation of this key belongs to somebody else',
	'Nothing was sent. Choose another "Conversation Key", such as one that begins with the name of the workflow.',
);
