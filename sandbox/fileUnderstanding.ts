import { createHash, randomUUID } from 'node:crypto';
import { extname } from 'node:path';
import { timestamp } from './clock';
import type { Context } from './context';
import type { FileContext, StoredFile } from './entities';
import { textAt } from './processing/loader';
import type { Loose } from './values';

/** Larger files are read later. */
const PARSED_AT_ONCE = 2 * 1024 * 1024;
const SUMMARY_LENGTH = 500;
const ONE_LINE = /\s+/g;

/** How soon it is known that a file cannot be understood deeply, in milliseconds. */
const DEEP_MS = 100;
const NO_MODEL = 'An enabled Embedding model is required for deep file understanding';

const OF_TEXTS = ['read', 'search'];
const OF_PAGES = [...OF_TEXTS, 'ocr', 'vision', 'page_images'];

const ADVICE =
	'Do not assume the summary is exhaustive. Use parsed_file_search/parsed_file_read when the user asks about parsed file contents. If workspacePath is present and sandbox_read_file is available, use it to read the original file by that path; use sandbox_shell only when command execution is necessary. If pageImages are present, use parsed_file_page_images for the complete or page-specific image list, then use a view-image tool on the listed image path or URL when visual layout, charts, screenshots, tables, or OCR are needed. Cite page/sheet/slide/path anchors when available.';

const isPdf = (name: string): boolean => /\.pdf$/i.test(name);

/** What is known of a file that has not been read. */
const unread = (status: string, error: string | null = null) => ({
	status,
	parseStatus: status,
	error,
	text: '',
	summary: null,
	capabilities: ['preview'],
	parsedAt: null,
});

/** What becomes of a file's text: small texts and PDFs are read at once, the rest later or never (`E12` "fake pdf"). */
export async function understood(context: Context, file: StoredFile, parseMode: string) {
	const [name, type] = [file.originalName, String(file.mimetype)];
	if (parseMode === 'none') return unread('uploaded');
	if (parseMode === 'deep' || file.size > PARSED_AT_ONCE) return unread('parsing');
	if (!isPdf(name) && !/^text\/|json|xml/.test(type))
		return unread('failed', `No reader for ${type}`);
	try {
		const text = await textOf(context, file);
		const more = type === 'text/csv' ? [...OF_TEXTS, 'table_query'] : OF_TEXTS;
		return {
			...unread('ready'),
			text,
			summary: text.replace(ONE_LINE, ' ').trim().slice(0, SUMMARY_LENGTH),
			capabilities: ['preview', ...(isPdf(name) ? OF_PAGES : more)],
			parsedAt: timestamp(context.clock),
		};
	} catch (error) {
		return unread('failed', reasonOf(error));
	}
}

/** A PDF is fetched and read as documents are; of a text there is its beginning. */
async function textOf({ store }: Context, { originalName, url, file }: StoredFile) {
	if (isPdf(originalName)) return await textAt(url, 'pdf');
	return store.contents.at(String(file))?.head.toString('utf8') ?? '';
}

/** A file that is to be understood deeply has failed soon after, where there is no model to do it. */
export async function understandDeeply({ clock, embeddingModel }: Context, file: FileContext) {
	if (file.parseMode !== 'deep' || embeddingModel) return;
	await clock.sleep(DEEP_MS);
	Object.assign(file, unread('failed', NO_MODEL));
}

/** What a model is told of a file: a summary of one that was read, the whole of any other one. */
export async function toldOf(file: FileContext): Promise<{ told: string; unreadable?: string }> {
	const { originalName: name, url } = file;
	const told = (what: string) => `Attachment File: ${String(name)}\n${what}`;
	if (file.status === 'ready') return { told: told(understanding(file)) };
	try {
		const text = await textAt(String(url), extname(String(name)).slice(1).toLowerCase());
		return { told: told(`<file_content>\n${text}\n</file_content>`) };
	} catch (error) {
		return { told: '', unreadable: reasonOf(error) };
	}
}

function understanding(file: FileContext): string {
	const { id, storageFileId, originalName, status, capabilities, summary, url } = file;
	const pages = `${String(url).replace(/\/[^/]*$/, '')}/file-understanding/${id}/${randomUUID()}`;
	const anchors = isPdf(String(originalName))
		? `page 1\npageImages:\n- page 1: ${pages}/pages/page-0001.png`
		: String(originalName);
	return `<file_understanding>
fileId: ${id}
storageFileId: ${storageFileId}
status: ${String(status)}
capabilities: ${[capabilities].flat().join(', ')}
summary: ${String(summary ?? '')}
availableAnchors: ${anchors}
${ADVICE}
</file_understanding>`;
}

/** The one passage that the sandbox keeps of a file, as searching and reading it give it. */
export const passageOf = ({
	id,
	createdAt,
	tenantId,
	organizationId,
	...file
}: FileContext): Loose => ({
	id: file.passageId,
	createdById: null,
	updatedById: null,
	createdAt,
	updatedAt: createdAt,
	tenantId,
	organizationId,
	fileAssetId: id,
	artifactId: file.artifactId,
	orderNo: 0,
	content: file.text,
	tokenCount: Math.ceil(String(file.text).length / 4),
	anchor: { path: file.originalName, chunk: 0 },
	metadata: { artifactKind: 'text' },
});

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

const reasonOf = (error: unknown): string =>
	error instanceof Error ? error.message : String(error);
