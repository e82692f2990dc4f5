import { hash } from 'crypto';
import { z } from 'zod';

const UUID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Matches every UUID in a text. */
export const EVERY_UUID_PATTERN = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

/** Whether a text is a UUID. Xpert AI servers require UUIDs for most IDs. */
export const isUuid = (text: string) => UUID_PATTERN.test(text);

export const UUID_ISSUE = 'must be a UUID such as 123e4567-e89b-42d3-a456-426614174000';

/** A UUID, as the API contract requires for `workspaceId`, `integrationId` and `storageFileId`. */
export const uuidSchema = z.string().uuid(UUID_ISSUE);

/** The UUID namespace for owner IDs that are not UUIDs. A change would change the IDs of stored documents. */
const NON_UUID_OWNER_NAMESPACE = '6f1d2c0e-3b7a-5a44-9d0b-2f7c8e51a913';

/** A cache of one namespace. Callers often use the same namespace many times in a row. */
let namespaceCache = { namespace: '', bytes: Buffer.alloc(0) };

/**
 * Returns a version 5 UUID (RFC 9562). The same namespace and name always give the same UUID.
 *
 * @param namespace a UUID
 */
export function uuidV5(namespace: string, name: string): string {
	if (namespace !== namespaceCache.namespace)
		namespaceCache = { namespace, bytes: Buffer.from(namespace.replace(/-/g, ''), 'hex') };
	// `hash` is faster than `createHash`.
	const hex = hash('sha1', Buffer.concat([namespaceCache.bytes, Buffer.from(name)]));
	const variant = '89ab'.charAt(parseInt(hex.charAt(16), 16) % 4);
	return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/**
 * Derives an ID from an owner and a key. The same owner and key always give the same ID.
 *
 * @param ownerId ID of a knowledgebase or assistant, or a derived ID
 */
export const derivedId = (ownerId: string, key: string): string =>
	uuidV5(isUuid(ownerId) ? ownerId : uuidV5(NON_UUID_OWNER_NAMESPACE, ownerId), key);
