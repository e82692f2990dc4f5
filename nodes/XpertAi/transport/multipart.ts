import mapValues from 'lodash/mapValues';

import { readyForm } from './readyForm';
import type { ReadyForm } from './readyForm';

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

/** A multipart form: as bytes, or one whose file is read while it is sent. */
export type MultipartBody = FormData | ReadyForm;

/** From here on, making the bytes of a form saves nothing, and takes memory. */
const READY_BYTES = 2 ** 18;

/**
 * A multipart form with the one part `file` that E12 and E16 take, and text parts beside it.
 * Objects among the parts are sent as JSON text. The file comes last, so that servers that stream know the
 * other parts before it.
 */
export function multipartBody(file: UploadFile, parts: Record<string, unknown>): MultipartBody {
	const texts = mapValues(parts, (value) =>
		typeof value === 'string' ? value : JSON.stringify(value),
	);
	const { name, mimeType, content } = file;
	return Buffer.isBuffer(content) && content.length <= READY_BYTES
		? readyForm({ name, mimeType, content }, texts)
		: formOf(file, texts);
}

function formOf(
	{ name, mimeType: type, content }: UploadFile,
	texts: Record<string, string>,
): FormData {
	const form = new FormData();
	for (const [part, text] of Object.entries(texts)) form.append(part, text);
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
	private readonly reading: Array<AsyncIterator<Uint8Array>> = [];

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
		this.reading.push(pieces);
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
		for (const pieces of this.reading) pieces.return?.().catch(() => undefined);
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
