/** A file to upload, with its content in memory or as a stream. */
export interface UploadFile {
	name: string;
	mimeType: string;
	content: Buffer | FileStream;
}

/** How many files are uploaded at once; more at once are not faster (measured). */
export const UPLOADS_AT_ONCE = 5;

/** Content that is read while it is sent, so that no file has to fit into memory. */
interface FileStream {
	/** The size in bytes, which the request announces before the content. */
	size: number;
	open: () => AsyncIterable<Uint8Array>;
}

/**
 * Builds a multipart form for E12 and E16. The file is the part `file` and comes last, so that servers that stream the
 * form know the other parts before the file.
 *
 * @param parts the other parts by name; a value that is not text is sent as JSON text
 */
export function multipartBody(
	{ name, mimeType: type, content }: UploadFile,
	parts: Record<string, unknown>,
): FormData {
	const form = new FormData();
	for (const [part, value] of Object.entries(parts))
		form.append(part, typeof value === 'string' ? value : JSON.stringify(value));
	// `append` gets no file name as third argument: it would then copy the file, and the copy has no streamed content.
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

	/**
	 * Closes the content. Does not wait until it is closed: slow storage must not delay the end of a stopped execution.
	 */
	close(): void {
		this.pieces?.return?.().catch(() => undefined);
	}
}

/** Closes the files of a form after sending. n8n's helper closes only files that it has read to their end. */
export function closeFiles(form: FormData): void {
	form.forEach((part) => {
		if (part instanceof StreamedFile) part.close();
	});
}
