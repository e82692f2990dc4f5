import { extname } from 'node:path';
import type { Content } from './contents';
import type { Context } from './context';
import type { FileContext, StoredFile } from './entities';
import { notFound, notNull } from './errors';
import { toldOf } from './fileUnderstanding';
import { textAt } from './processing/loader';
import { asObject, type Loose } from './values';

/** A file given to a run: what the model is told of it, or why it cannot be, and where it is. */
interface GivenFile {
	told: string;
	unreadable?: string;
	name: string;
	url: string;
}

/** A file as an assistant sees it that opens it: its text, or why it has none. */
export type OpenedFile = { name: string } & ({ text: string } | { reason: string });

/**
 * The files given to a run. A file is named by `fileId` (a file context's id) or by `id` (an uploaded file's); a
 * file context's id as `id` is taken for a new file, which the database refuses (`runs` "files: {id: its id}").
 */
export async function filesGiven(context: Context, files: unknown[]): Promise<GivenFile[]> {
	return await Promise.all(files.map(async (file) => await given(context, asObject(file))));
}

/** Opens files as an assistant does with its tools: the model itself is told no more of a file than a summary. */
export async function opened(files: GivenFile[]): Promise<OpenedFile[]> {
	return await Promise.all(
		files.map(async ({ name, url }) => ({ name, ...(await textOf(name, url)) })),
	);
}

async function textOf(name: string, url: string): Promise<{ text: string } | { reason: string }> {
	try {
		return { text: await textAt(url, extname(name).slice(1).toLowerCase()) };
	} catch (error) {
		return { reason: error instanceof Error ? error.message : String(error) };
	}
}

async function given({ store }: Context, { id, fileId }: Loose): Promise<GivenFile> {
	const contexts = [...store.contexts.values()];
	if (fileId !== undefined) {
		const found = contexts.find((one) => one.id === fileId);
		if (found === undefined) throw notFound();
		return await inContext(found);
	}
	const file = store.files.get(String(id));
	if (file === undefined) throw notNull('storage_file', 'file');
	const found = store.contexts.get(file.id);
	if (found) return await inContext(found);
	const told = plain(file, store.contents.at(String(file.file)));
	return { told, name: file.originalName, url: file.url };
}

const inContext = async (file: FileContext): Promise<GivenFile> => ({
	...(await toldOf(file)),
	name: String(file.originalName),
	url: String(file.url),
});

const plain = ({ originalName }: StoredFile, content: Content | undefined): string =>
	`Attachment File: ${originalName}\n${content?.head.toString('utf8') ?? ''}\n`;
