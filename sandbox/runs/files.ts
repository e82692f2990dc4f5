import { extname } from 'node:path';
import type { Context } from '../context';
import type { FileContext, OpenedFile, StoredFile } from '../entities';
import { notFound, notNull } from '../errors';
import { textsAt } from '../processing/loader';
import { readerOf } from '../processing/readers';
import { asObject, reasonOf, type Loose } from '../values';

const PARSED_AT_ONCE = 2 * 1024 * 1024;
const SUMMARY_LENGTH = 500;

/** A file given to a run: what the model is told of it, or why it cannot be, and where it is. */
interface GivenFile {
	told: string;
	unreadable?: string;
	name: string;
	url: string;
}

const isDocument = (name: string): boolean =>
	readerOf(name, extname(name).slice(1).toLowerCase()) !== undefined;

const textAt = async (url: string, name: string): Promise<string> =>
	(await textsAt(url, name)).join('\n');

const unread = (status: string) => ({ status, summary: null });

/** What becomes of a file's text: small texts and documents are read at once, the rest later or never (`E12` "fake pdf"). */
export async function understood(context: Context, file: StoredFile, parseMode: string) {
	const [name, type] = [file.originalName, String(file.mimetype)];
	if (parseMode === 'none') return unread('uploaded');
	if (parseMode === 'deep' || file.size > PARSED_AT_ONCE) return unread('parsing');
	if (!isDocument(name) && !/^text\/|json|xml/.test(type)) return unread('failed');
	try {
		const text = await textOf(context, file);
		const summary = text.replace(/\s+/g, ' ').trim().slice(0, SUMMARY_LENGTH);
		return { status: 'ready', summary };
	} catch {
		return unread('failed');
	}
}

/** A document is fetched and read as those of knowledgebases are; of a text there is its beginning. */
async function textOf({ store }: Context, { originalName, url, file }: StoredFile) {
	if (isDocument(originalName)) return await textAt(url, originalName);
	return store.contents.at(String(file))?.head.toString('utf8') ?? '';
}

/**
 * The files given to a run. A file is named by `fileId` (a file context's id) or by `id` (an uploaded file's); a
 * file context's id as `id` is taken for a new file, which the database refuses (`runs` "files: {id: its id}").
 */
export async function filesGiven(context: Context, files: unknown[]): Promise<GivenFile[]> {
	return await Promise.all(files.map(async (file) => await given(context, asObject(file))));
}

async function given({ store }: Context, { id, fileId }: Loose): Promise<GivenFile> {
	if (fileId !== undefined) {
		const found = [...store.contexts.values()].find((one) => one.id === fileId);
		if (found === undefined) throw notFound();
		return await inContext(found);
	}
	const file = store.files.get(String(id));
	if (file === undefined) throw notNull('storage_file', 'file');
	const found = store.contexts.get(file.id);
	if (found) return await inContext(found);
	const { originalName: name, url } = file;
	const text = store.contents.at(String(file.file))?.head.toString('utf8') ?? '';
	return { told: `Attachment File: ${name}\n${text}\n`, name, url };
}

const inContext = async (file: FileContext): Promise<GivenFile> => ({
	...(await toldOf(file)),
	name: String(file.originalName),
	url: String(file.url),
});

/** What a model is told of a file: a summary of one that was read, the whole of any other one. */
async function toldOf({ id, originalName, url, ...file }: FileContext) {
	const name = String(originalName);
	const told = (what: string) => ({ told: `Attachment File: ${name}\n${what}` });
	if (file.status === 'ready') {
		const summary = `fileId: ${id}\nsummary: ${String(file.summary)}`;
		return told(`<file_understanding>\n${summary}\n</file_understanding>`);
	}
	try {
		return told(`<file_content>\n${await textAt(String(url), name)}\n</file_content>`);
	} catch (error) {
		return { told: '', unreadable: reasonOf(error) };
	}
}

/** Opens files as an assistant does with its tools: the model itself is told no more of a file than a summary. */
export const opened = async (files: GivenFile[]): Promise<OpenedFile[]> =>
	await Promise.all(
		files.map(async ({ name, url }): Promise<OpenedFile> => {
			try {
				return { name, text: await textAt(url, name) };
			} catch (error) {
				return { name, reason: reasonOf(error) };
			}
		}),
	);
