import compact from 'lodash/compact';
import uniq from 'lodash/uniq';
import uniqBy from 'lodash/uniqBy';

import { canonicalKey } from '../payloads/common';
import { derivedId } from '../payloads/derivedId';
import type { DocumentRecord } from '../payloads/document';
import type { Failure } from '../transport/failure';
import { documentList } from './answeredRecords';
import type { MemoryRoutes } from './memory';

/**
 * The rows of a path such as `Dept/Sales`, outermost first. Documents and other folders have them as parent (recorded,
 * `folder-moves`). Their IDs are the same in every run and for every source.
 */
function folderRows(knowledgebaseId: string, folder: string) {
	const owner = derivedId(knowledgebaseId, 'folders');
	const names = folderNames(folder);
	const idAt = (depth: number) => derivedId(owner, names.slice(0, depth + 1).join('/'));
	return names.map((name, depth) => {
		const parent = depth > 0 && { parent: { id: idAt(depth - 1) } };
		return { id: idAt(depth), name, sourceType: 'folder', ...parent };
	});
}

/** The names in a path; `.` and `..` are none. */
function folderNames(folder: string): string[] {
	return folder
		.split('/')
		.map(canonicalKey)
		.filter((name) => !['', '.', '..'].includes(name));
}

/**
 * Gives a document the row of its folder as parent, because Xpert AI servers ignore `folder` itself. An empty
 * `folder` takes the document out of its folder. Without `folder`, or with a `parent` of its own, the document is
 * unchanged.
 */
export function inFolder(record: DocumentRecord, knowledgebaseId: string): DocumentRecord {
	const { folder, parent } = record;
	if (folder === undefined || parent !== undefined) return record;
	const path = folderNames(folder ?? '').join('/');
	const row = folderRows(knowledgebaseId, path).at(-1);
	return { ...record, folder: path, parent: row ? { id: row.id } : null };
}

/** The folders of a knowledgebase in one run. Each is created before the first document in it. */
export class Folders {
	private readonly created = new Set<string>();
	private queue: Promise<unknown> = Promise.resolve();

	constructor(
		private readonly knowledgebaseId: string,
		private readonly routes: Pick<MemoryRoutes, 'send' | 'storePath'>,
	) {}

	/**
	 * Creates the folders of documents, each once per run. The server refuses a document whose folder does not exist
	 * (recorded, `folder-moves`).
	 *
	 * @returns why they could not be created
	 */
	async createFor(records: DocumentRecord[]): Promise<Failure | undefined> {
		const folders = uniq(compact(records.map(({ folder }) => folder)));
		const rows = folders.flatMap((folder) => folderRows(this.knowledgebaseId, folder));
		// Concurrent requests would create the same folder twice.
		const creation = this.queue.then(async () => {
			const missing = uniqBy(rows, 'id').filter(({ id }) => !this.created.has(id));
			if (missing.length === 0) return undefined;
			const { send, storePath: path } = this.routes;
			// Existing folders stay as they are (recorded, `folder-moves`).
			const body = JSON.stringify(missing);
			const outcome = await send({ method: 'POST', path, body, schema: documentList });
			if (!outcome.ok) return outcome.failure;
			for (const { id } of missing) this.created.add(id);
			return undefined;
		});
		this.queue = creation;
		return await creation;
	}
}
