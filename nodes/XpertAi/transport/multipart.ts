/** A file to upload. */
export interface UploadFile {
	name: string;
	mimeType: string;
	content: Buffer;
}

/**
 * A multipart form with the one part `file` that E12 and E16 take, and text parts beside it.
 * Objects among the parts are sent as JSON text.
 */
export function multipartForm(file: UploadFile, parts: Record<string, unknown>): FormData {
	const form = new FormData();
	for (const [name, value] of Object.entries(parts)) {
		form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
	}
	form.append('file', new Blob([file.content], { type: file.mimeType }), file.name);
	return form;
}
