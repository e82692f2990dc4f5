/** A file to upload: its content in memory, or a way to read it piece by piece. */
export interface UploadFile {
	name: string;
	mimeType: string;
	content: Buffer | FileStream;
}

/** Uploads at once; more are no faster (service behaviour, measured). */
export const UPLOADS_AT_ONCE = 5;

/** Content that is read while it is sent, so that a file of any size takes no memory. */
export interface FileStream {
	/** Bytes in all; the request announces them. */
	size: number;
	open: () => AsyncIterable<Uint8Array>;
}

/**
 * A multipart form with the one part `file` that E12 and E16 take, and text parts beside it.
 * Objects among the parts are sent as JSON text. The file comes last, so that servers that stream know the
 * other parts before it.
 */
export function multipartBody(
	{ name, mimeType: type, content }: UploadFile,
	parts: Record<string, unknown>,
): FormData {
	const form = new FormData();
	for (const [part, value] of Object.entries(parts))
		form.append(part, typeof value === 'string' ? value : JSON.stringify(value));
	// A name beside the file would make the form copy it, and with it read the stream.
	form.append(
		'file',
		Buffer.isBuffer(content)
			? new File([content], name, { type })
			: new StreamedFile(name, type, content),
	);
	return form;
}

/** A file whose content n8n's request helper takes from a stream. */
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
		return new ReadableStream({
			pull: async (controller) => {
				const { done, value } = await pieces.next();
				if (done) controller.close();
				else controller.enqueue(new Uint8Array(value));
			},
			cancel: async () => {
				await pieces.return?.();
			},
		});
	}

	/** Waits for nothing: storage that has stalled must not keep a stopped execution. */
	close(): void {
		for (const pieces of this.openIterators) pieces.return?.().catch(() => undefined);
	}
}

/**
 * Closes the files of a form that was sent, whole or not: n8n's helper leaves a file it has not read to
 * its end open.
 */
export function closeFiles(form: FormData): void {
	form.forEach((part) => {
		if (part instanceof StreamedFile) part.close();
	});
}
