import { createHash } from 'crypto';

import { isUuid } from './common';

/** Namespace of owners whose own id is no UUID; made once for this package. */
const FOREIGN_OWNERS = '6f1d2c0e-3b7a-5a44-9d0b-2f7c8e51a913';

/**
 * A UUID of version 5 (RFC 9562): the same namespace and name always give the same id.
 *
 * @param namespace a UUID
 */
export function uuidV5(namespace: string, name: string): string {
	const hash = createHash('sha1')
		.update(Buffer.from(namespace.replace(/-/g, ''), 'hex'))
		.update(name)
		.digest();
	hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x50, 6);
	hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
	const hex = hash.toString('hex', 0, 16);
	return [
		hex.slice(0, 8),
		hex.slice(8, 12),
		hex.slice(12, 16),
		hex.slice(16, 20),
		hex.slice(20),
	].join('-');
}

/**
 * The id of a record that is known by a key, the same in every run: of a document by its path or address,
 * of a thread by whom it is with. The same key with another owner gives another id.
 *
 * @param ownerId the knowledgebase or the assistant it belongs to
 */
export function derivedId(ownerId: string, key: string): string {
	const namespace = isUuid(ownerId) ? ownerId : uuidV5(FOREIGN_OWNERS, ownerId);
	return uuidV5(namespace, key);
}
