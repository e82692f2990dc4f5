import { derivedId } from '../payloads/ids';
import { createConversation, readThreadConversation } from '../threads/conversation';
import { confirmOwner, learnOwner, type Owner } from '../threads/tokenOwner';
import { readThread } from '../threads/thread';
import { type ApiClient, DOUBTFUL_ANSWER_PAUSE_MS } from '../transport/call';
import {
	type Failure,
	isInputRejected,
	isNeverSent,
	isTokenRejected,
	mayMeanNoRecord,
} from '../transport/failure';
import { type Client, repeatUntil } from './client';
import { failedResult, resultOfFailure, type UnsuccessfulResult } from './result';

/** Maximum number of attempts to create a conversation in `openNewConversation`. */
const CREATE_TRIES = 3;

/** The IDs of the conversation, or why there is none. */
type OpenedOrUnsuccessful = { threadId: string; conversationId: string } | UnsuccessfulResult;

/**
 * Creates a conversation on a thread that does not exist yet. If the server's answer is lost, looks for the conversation
 * before the next attempt. Never throws.
 */
export async function openNewConversation(
	client: ApiClient,
	threadId: string,
	title?: string,
): Promise<OpenedOrUnsuccessful> {
	for (let tries = 1; ; tries++) {
		const created = await createConversation(client, { title, threadId });
		if (created.ok) return { threadId, conversationId: created.answer.id };
		const { failure, mayBeDone } = created;
		if (!mayBeDone) return resultOfFailure(failure, threadId);
		const { failure: unread, conversationId } = await readThreadConversation(client, threadId);
		if (conversationId) return { threadId, conversationId };
		if (unread || tries >= CREATE_TRIES || client.signal?.aborted)
			return resultOfFailure(failure, threadId);
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
 * and the owner, so that processes that create the conversation at the same time get the same conversation. This does
 * not hold on a server that does not support owners (see `openForCredential`). Stores the owner's ID in `keyed.owner`.
 */
export async function openConversationByKey(
	client: Client,
	keyed: KeyedConversation,
): Promise<OpenedOrUnsuccessful> {
	const { owner } = keyed;
	if (owner.id === undefined) {
		const learn = async () => await learnOwner(client, owner);
		const failure = await repeatUntil(client, learn, (unread) => !unread || isPermanent(unread));
		// Fail if the owner stays unknown. Without the owner, the node would derive a different thread ID.
		if (failure) return resultOfFailure(failure);
	}
	const opened = owner.id ? await openForOwner(client, keyed, owner.id) : undefined;
	return opened ?? (await openForCredential(client, keyed));
}

/** Whether a retry cannot help to learn the owner. */
const isPermanent = (failure: Failure) =>
	isNeverSent(failure) || failure.kind === 'redirect' || isTokenRejected(failure);

/**
 * Finds or creates the conversation of a key and an owner.
 *
 * @returns undefined if the server does not support owners (see `confirmOwner`)
 */
async function openForOwner(
	client: Client,
	{ keyId, title, owner }: KeyedConversation,
	createdById: string,
): Promise<OpenedOrUnsuccessful | undefined> {
	const threadId = derivedId(keyId, createdById);
	const found = await findConversation(client, threadId);
	if (found) return found;
	const id = derivedId(threadId, 'conversation');
	const wanted = { id, threadId, title, createdById };
	const { failure: notCreated } = await createConversation(client, wanted);
	if (notCreated) {
		// After a rejection, look for the conversation. Another process may have just created it.
		const existing = isInputRejected(notCreated)
			? await findConversation(client, threadId)
			: undefined;
		return existing ?? resultOfFailure(notCreated, threadId);
	}
	const { failure, conversationId } = await confirmOwner(client, owner, threadId);
	if (conversationId) return { threadId, conversationId };
	if (failure) return resultOfFailure(failure, threadId);
	// Either the owner was confirmed before, or the server does not support owners. In the second case, `confirmOwner`
	// has set `owner.id` to null.
	return owner.id ? { threadId, conversationId: id } : undefined;
}

/**
 * Finds the conversation of a thread.
 *
 * @returns undefined if there is none; a failed result if the server could not be asked
 */
async function findConversation(
	client: Client,
	threadId: string,
): Promise<OpenedOrUnsuccessful | undefined> {
	const { failure, conversationId } = await readThreadConversation(client, threadId);
	if (failure) return resultOfFailure(failure, threadId);
	return conversationId ? { threadId, conversationId } : undefined;
}

/**
 * Finds or creates the conversation of a key on a server that does not support owners. The thread ID is derived from the
 * key and the credential. The conversation ID is not derived.
 */
async function openForCredential(
	client: Client,
	keyed: KeyedConversation,
): Promise<OpenedOrUnsuccessful> {
	const { keyId, title, credentialId } = keyed;
	const threadId = derivedId(keyId, `credential ${credentialId}`);
	const found = await findConversation(client, threadId);
	if (found) return found;
	const failure = await confirmedReadFailure(client, threadId);
	if (failure && mayMeanNoRecord(failure))
		return await openNewConversation(client, threadId, title);
	if (failure) return resultOfFailure(failure, threadId);
	// The thread exists. Another message with this key may have created the conversation since. Otherwise, the server
	// hides the conversation from this token.
	return (await findConversation(client, threadId)) ?? { ...OTHER_OWNER_RESULT, threadId };
}

/**
 * Returns why a thread cannot be read; undefined if it can be read. If the thread seems to be missing, reads it once more.
 * Without the second read, the caller could create a conversation on an existing thread of another owner.
 */
async function confirmedReadFailure(
	client: Client,
	threadId: string,
): Promise<Failure | undefined> {
	const { failure } = await readThread(client, threadId);
	if (!failure || !mayMeanNoRecord(failure)) return failure;
	await client.wait(DOUBTFUL_ANSWER_PAUSE_MS);
	return (await readThread(client, threadId)).failure;
}

const OTHER_OWNER_RESULT = failedResult(
	'The conversation of this key belongs to somebody else',
	'Nothing was sent. Choose another "Conversation Key", such as one that begins with the name of the workflow.',
);
