import type { Content } from './contents';
import type { Context } from './context';
import { insertInto, notNull } from './databaseErrors';
import type { FileContext, StoredFile } from './entities';
import { notFound } from './errors';
import { asObject } from './values';

const ADVICE =
	'Do not assume the summary is exhaustive. Use parsed_file_search/parsed_file_read when the user asks about parsed file contents. If workspacePath is present and sandbox_read_file is available, use it to read the original file by that path; use sandbox_shell only when command execution is necessary. If pageImages are present, use parsed_file_page_images for the complete or page-specific image list, then use a view-image tool on the listed image path or URL when visual layout, charts, screenshots, tables, or OCR are needed. Cite page/sheet/slide/path anchors when available.';

/**
 * What the model reads of the files given to a run. A file is named by `fileId` (a file context's id) or by
 * `id` (an uploaded file's); a file context's id as `id` is taken for a new file, which the database refuses
 * (`runs` "files: {id: its id}").
 */
export function attachmentsOf(context: Context, files: unknown[]): string {
	return files.map((file) => attachment(context, asObject(file))).join('');
}

function attachment({ store }: Context, { id, fileId }: { id?: unknown; fileId?: unknown }) {
	const contexts = [...store.contexts.values()];
	if (fileId !== undefined) {
		const found = contexts.find((one) => one.id === fileId);
		if (found === undefined) throw notFound();
		return understood(found);
	}
	const file = store.files.get(String(id));
	if (file === undefined) {
		throw notNull(insertInto('storage_file', { id }), 'storage_file', 'file');
	}
	const found = store.contexts.get(file.id);
	return found ? understood(found) : plain(file, store.contents.at(String(file.file)));
}

const plain = ({ originalName }: StoredFile, content: Content | undefined): string =>
	`Attachment File: ${originalName}\n${content?.head.toString('utf8') ?? ''}\n`;

function understood(file: FileContext): string {
	const { id, storageFileId, originalName, status, capabilities, summary } = file;
	return `Attachment File: ${String(originalName)}
<file_understanding>
fileId: ${id}
storageFileId: ${storageFileId}
status: ${String(status)}
capabilities: ${[capabilities].flat().join(', ')}
summary: ${String(summary ?? '')}
availableAnchors: ${String(originalName)}
${ADVICE}
</file_understanding>`;
}
