import { difference, map, uniq, uniqBy } from 'lodash';

import type { DocumentRecord } from '../payloads/document';
import { canonicalKey } from '../payloads/keys';
import { derivedId } from '../payloads/ids';
import type { Failure } from '../transport/failure';
import { documentListSchema } from './documentList';
import type { KnowledgebaseRoutes } from '../transport/knowledgebaseRoutes';

/** The folder records of a path such as `Dept/Sales`, outermost first. The IDs are the same in all runs and sources. */
function folderRows(knowledgebaseId: string, folder: string) {
	const owner = derivedId(knowledgebaseId, 'folders');
	const names = folderNames(folder);
	const idAt = (depth: number) => derivedId(owner, names.slice(0, depth + 1).join('/'));
	return names.map((name, depth) => {
		const parent = depth > 0 && { parent: { id: idAt(depth - 1) } };
		return { id: idAt(depth), name, sourceType: 'folder', ...parent };
	});
}

/** The folder names in a path. Leaves out empty names, `.` and `..`. */
const folderNames = (folder: string) =>
	difference(folder.split('/').map(canonicalKey), ['', '.', '..']);

/**
 * Derives the `parent` of a record from its `folder`, because Xpert AI servers ignore `folder`. An empty `folder` moves
 * the document out of all folders. Returns the record unchanged if it has no `folder`, or already has a `parent`.
 */
export function withParentFolder(record: DocumentRecord, knowledgebaseId: string): DocumentRecord {
	const { folder, parent } = record;
	if (folder === undefined || parent !== undefined) return record;
	const path = folderNames(folder ?? '').join('/');
	const row = folderRows(knowledgebaseId, path).at(-1);
	return { ...record, folder: path, parent: row ? { id: row.id } : null };
}

/** Creates the folders of documents in a knowledgebase. Each instance creates a folder only once. */
export class FolderCreator {
	private readonly created = new Set<string>();
	private queue = Promise.resolve<Failure | undefined>(undefined);

	constructor(
		private readonly knowledgebaseId: string,
		private readonly routes: Pick<KnowledgebaseRoutes, 'send' | 'storePath'>,
	) {}

	/**
	 * Creates the folders of documents. The server rejects a document whose folder does not exist.
	 *
	 * @returns the failure if folders could not be created
	 */
	async createFor(records: DocumentRecord[]): Promise<Failure | undefined> {
		const folders = uniq(map(records, 'folder'));
		const rows = folders.flatMap((folder) => folderRows(this.knowledgebaseId, folder ?? ''));
		// One request at a time: concurrent requests could create the same folder twice.
		this.queue = this.queue.then(async () => {
			const missing = uniqBy(rows, 'id').filter(({ id }) => !this.created.has(id));
			if (missing.length === 0) return undefined;
			const { send, storePath: path } = this.routes;
			// A folder that already exists can be sent again, because its row is the same in all runs.
			const body = JSON.stringify(missing);
			const outcome = await send({ method: 'POST', path, body, schema: documentListSchema() });
			if (!outcome.ok) return outcome.failure;
			for (const { id } of missing) this.created.add(id);
			return undefined;
		});
		return await this.queue;
	}
}
