/** A file to upload, with its content in memory or as a stream. */
export interface UploadFile {
	name: string;
	mimeType: string;
	content: Buffer | FileStream;
}

/** How many files are uploaded in parallel. A higher number was not faster (measured). */
export const UPLOADS_AT_ONCE = 5;

/** A file that is read while the node sends it, so that the whole file need not fit into memory. */
interface FileStream {
	/** The size in bytes. The request states this size before the content. */
	size: number;
	open: () => AsyncIterable<Uint8Array>;
}

/**
 * Builds a multipart form (E12, E16). The part `file` comes last, so that the server reads the other parts first.
 *
 * @param parts the other parts by name; a value that is not a string is sent as JSON
 */
export function multipartBody(
	{ name, mimeType: type, content }: UploadFile,
	parts: Record<string, unknown>,
): FormData {
	const form = new FormData();
	for (const [part, value] of Object.entries(parts))
		form.append(part, typeof value === 'string' ? value : JSON.stringify(value));
	// With a file name as third argument, `append` would copy the file. The copy would not have the streamed content.
	form.append(
		'file',
		Buffer.isBuffer(content)
			? new File([content], name, { type })
			: new StreamedFile(name, type, content),
	);
	return form;
}

/** A file whose content n8n's request helper reads as a stream. */
class StreamedFile extends File {
	private pieces?: AsyncIterator<Uint8Array>;

	constructor(
		name: string,
		type: string,
		private readonly content: FileStream,
	) {
		super([], name, { type });
		Object.defineProperty(this, 'size', { value: content.size });
	}

	override stream(): ReturnType<File['stream']> {
		const pieces = this.content.open()[Symbol.asyncIterator]();
		this.pieces = pieces;
		return ReadableStream.from({ [Symbol.asyncIterator]: () => pieces });
	}

	/** Closes the content without waiting: slow storage must not delay a stopped execution. */
	close(): void {
		this.pieces?.return?.().catch(() => undefined);
	}
}

/** Closes the files of a form. n8n's request helper closes only files that it has read to the end. */
export function closeFiles(form: FormData): void {
	form.forEach((part) => {
		if (part instanceof StreamedFile) part.close();
	});
}
