import { z } from 'zod';

import { createAccountCache } from '../transport/accountCache';
import { type ApiClient, call, DOUBTFUL_ANSWER_PAUSE_MS } from '../transport/call';
import { READ_REQUEST } from './requests';
import { type Failure, isTokenRejected } from '../transport/failure';
import {
	type ConversationFacts,
	readThreadConversation,
	searchConversations,
} from './conversation';

/** The user who owns a token on one server. */
export interface Owner {
	/**
	 * - `undefined`: not known yet, because the server was not asked, or the request failed.
	 * - `null`: the server does not support owners.
	 */
	id?: string | null;
	/** Whether the server listed a conversation of this owner (see `confirmOwner`). */
	isConfirmed?: boolean;
}

/** The cached owners of tokens. Call `forgetOwner` after the server rejected the token. */
export const { of: ownerOf, forget: forgetOwner } = createAccountCache((): Owner => ({}));

/**
 * Asks the server for the owner of the token, and stores the answer in `owner.id`.
 *
 * @returns the failure if the owner could not be determined, e.g. during an outage
 */
export async function learnOwner(client: ApiClient, owner: Owner): Promise<Failure | undefined> {
	const me = { ...READ_REQUEST, apiRoot: '/api', path: '/user/me', schema: userIdAnswerSchema };
	const { answer = null, failure } = await call(client, me);
	if (failure && !(await hidesOwners(client, failure))) return failure;
	owner.id = answer;
	return undefined;
}

/** Keeps only the ID, because the server's answer also contains a password hash. */
const userIdAnswerSchema = z.object({ id: z.string().min(1) }).transform(({ id }) => id);

/** Whether the server does not tell the owner of any token. */
async function hidesOwners(client: ApiClient, failure: Failure) {
	if (failure.missing === 'route' || [405, 501].includes(failure.status ?? 0)) return true;
	// A server can reject `/user/me` for a valid token. A token is valid if it can search conversations.
	return isTokenRejected(failure) && (await searchConversations(client, { limit: 1 })).ok;
}

/**
 * Checks whether the server supports owners: whether it lists a conversation that the node has created for this owner.
 * If so, sets `owner.isConfirmed`. If the server does not list it, sets `owner.id` to null. If the conversation cannot be
 * read, changes nothing.
 *
 * @param threadId the thread of the created conversation
 * @returns the state of the conversation, or an empty object if `owner.isConfirmed` was already true
 */
export async function confirmOwner(
	client: ApiClient,
	owner: Owner,
	threadId: string,
): Promise<Partial<ConversationFacts>> {
	if (owner.isConfirmed) return {};
	let facts = await readThreadConversation(client, threadId);
	if (!facts.failure && !facts.conversationId) {
		// Asks again before it gives up the owner: without an owner, the node would use another thread.
		await client.clock.sleep(DOUBTFUL_ANSWER_PAUSE_MS, client.signal);
		facts = await readThreadConversation(client, threadId);
	}
	if (facts.conversationId) owner.isConfirmed = true;
	else if (!facts.failure) owner.id = null;
	return facts;
}
