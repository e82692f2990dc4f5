import type {} from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import type { Contents } from './contents';
import { badRequest } from './errors';
import type { UploadedFile } from './requestLog';

/** A multipart request, read to its end. */
export interface Upload {
	fields: Record<string, string>;
	files: UploadedFile[];
}

/** Reads all parts of a multipart request; undefined for any other request. */
export async function readUpload(
	request: FastifyRequest,
	contents: Contents,
): Promise<Upload | undefined> {
	if (!request.isMultipart()) return undefined;
	const upload: Upload = { fields: {}, files: [] };
	for await (const part of request.parts()) {
		if (part.type === 'field') {
			upload.fields[part.fieldname] = String(part.value);
			continue;
		}
		const content = await contents.receive(part.file);
		const { fieldname: field, filename, mimetype } = part;
		upload.files.push({ field, filename, mimetype, size: content.size, content });
	}
	return upload;
}

/** The one file part `file`; any other file part is refused by its name (`E16` "two files"). */
export function theFile(upload: Upload | undefined): UploadedFile | undefined {
	const files = upload?.files ?? [];
	const unexpected = files.find((file, index) => file.field !== 'file' || index > 0);
	if (unexpected) throw badRequest(`Unexpected field - ${unexpected.field}`);
	return files[0];
}
