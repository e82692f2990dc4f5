/** A file to upload, with its content in memory or as a stream. */
export interface UploadFile {
	name: string;
	mimeType: string;
	content: Buffer | FileStream;
}

/** Concurrent uploads; more are no faster (measured). */
export const UPLOADS_AT_ONCE = 5;

/** Content that is read while it is sent, so that files of any size need no memory. */
export interface FileStream {
	/** Total bytes; the request announces them. */
	size: number;
	open: () => AsyncIterable<Uint8Array>;
}

/**
 * A multipart form with the part `file` that E12 and E16 take, and text parts. Objects are sent as JSON text. The
 * file comes last, so that streaming servers have the other parts before it.
 */
export function multipartBody(
	{ name, mimeType: type, content }: UploadFile,
	parts: Record<string, unknown>,
): FormData {
	const form = new FormData();
	for (const [part, value] of Object.entries(parts))
		form.append(part, typeof value === 'string' ? value : JSON.stringify(value));
	// With a separate file name, the form would copy the file, and read its stream for that.
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
	private readonly openIterators: Array<AsyncIterator<Uint8Array>> = [];

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
		this.openIterators.push(pieces);
		return ReadableStream.from({ [Symbol.asyncIterator]: () => pieces });
	}

	/** Does not wait: stalled storage must not delay a stopped execution. */
	close(): void {
		for (const pieces of this.openIterators) pieces.return?.().catch(() => undefined);
	}
}

/** Closes the files of a form after sending: n8n's helper leaves files open that it has not read to the end. */
export function closeFiles(form: FormData): void {
	form.forEach((part) => {
		if (part instanceof StreamedFile) part.close();
	});
}
