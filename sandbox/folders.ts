import type { StoredDocument } from './entities';
import { ApiError, missingReference, unreadable } from './errors';
import type { Store } from './store';
import { isObject, isUuid, type Loose } from './values';

/** Where a document is: the row it is under, be it a folder or not, and the path of all that is above it. */
export interface Place {
	parentId: string | null;
	folder: string;
}

/**
 * Where a document is put that was sent: under the `parent` it names, in no folder with `null`, and without one where it was
 * (`folder-moves`). The path stands in it until it is sent again, whatever becomes of the folders meanwhile.
 *
 * @throws ApiError 400 where `parent` names no row
 */
export function placeOf(store: Store, sent: Loose, before: StoredDocument | undefined): Place {
	const parentId = sent.parent === undefined ? before?.parentId : parentIn(store, sent.parent);
	const parent = store.documents.get(String(parentId ?? ''));
	return { parentId: parent?.id ?? null, folder: parent ? pathOf(parent) : '' };
}

/** The path below a row: a folder adds its name to its own, a document nothing. */
const pathOf = ({ folder, name, sourceType }: StoredDocument): string =>
	[folder, sourceType === 'folder' && name].filter(Boolean).map(String).join('/');

function parentIn(store: Store, parent: unknown): string | null {
	if (parent === null) return null;
	if (!isObject(parent) || parent.id === undefined) throw new ApiError(400, {});
	const { id } = parent;
	if (!isUuid(id)) throw unreadable();
	if (store.documents.has(id)) return id;
	throw missingReference('parentId', id, 'knowledge_document');
}
