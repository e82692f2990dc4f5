/** A file to upload, with its content in memory or as a stream. */
export interface UploadFile {
	name: string;
	mimeType: string;
	content: Buffer | StreamedContent;
}

/** The path of the request that uploads a file (E16). */
export const UPLOAD_PATH = '/v1/file';

/** How many files are uploaded in parallel. In measurements, a higher number was not faster. */
export const UPLOADS_AT_ONCE = 5;

/** A file that is sent piece by piece, to save memory. */
interface StreamedContent {
	/** The size in bytes. It must be known before the upload starts. */
	size: number;
	open: () => AsyncIterable<Uint8Array>;
}

/**
 * Builds a multipart form. The file comes last, so that the server reads all other fields before the file.
 *
 * @param parts all fields except the file, by name; values that are not strings are sent as JSON
 */
export function multipartBody(
	{ name, mimeType: type, content }: UploadFile,
	parts: Record<string, unknown>,
): FormData {
	const form = new FormData();
	for (const [part, value] of Object.entries(parts))
		form.append(part, typeof value === 'string' ? value : JSON.stringify(value));
	// With a file name as third argument, `append` would copy the file. The copy of a `StreamedFile` would be empty.
	form.append(
		'file',
		Buffer.isBuffer(content)
			? new File([content], name, { type })
			: new StreamedFile(name, type, content),
	);
	return form;
}

/** A file that streams its content to n8n's request helper. */
class StreamedFile extends File {
	private pieces?: AsyncIterator<Uint8Array>;

	constructor(
		name: string,
		type: string,
		private readonly content: StreamedContent,
	) {
		super([], name, { type });
		Object.defineProperty(this, 'size', { value: content.size });
	}

	override stream(): ReturnType<File['stream']> {
		const pieces = this.content.open()[Symbol.asyncIterator]();
		this.pieces = pieces;
		return ReadableStream.from({ [Symbol.asyncIterator]: () => pieces });
	}

	/** Closes the content. Does not wait for slow storage. */
	close(): void {
		this.pieces?.return?.().catch(() => undefined);
	}
}

/** Closes the files of a form. n8n's request helper leaves partly read files open. */
export function closeFiles(form: FormData): void {
	form.forEach((part) => {
		if (part instanceof StreamedFile) part.close();
	});
}
