import { randomUUID } from 'crypto';

/** A multipart form as bytes, and the content type that names its boundary. */
export interface ReadyForm {
	contentType: string;
	bytes: Buffer;
}

/**
 * A form of text parts and of a file in the part `file`, but for its boundary byte for byte as n8n's client
 * writes one. That streams it in pieces, with which the upload of a small file takes 1.6 times the
 * processor time.
 */
export function readyForm(
	{ name, mimeType, content }: { name: string; mimeType: string; content: Buffer },
	texts: Record<string, string>,
): ReadyForm {
	const boundary = boundaryOutside([content, name, ...Object.values(texts)]);
	const opening = (part: string) =>
		`--${boundary}\r\nContent-Disposition: form-data; name="${escaped(part)}"`;
	const before = Object.entries(texts).map(
		([part, text]) => `${opening(part)}\r\n\r\n${text.replace(/\r\n|\r|\n/g, '\r\n')}\r\n`,
	);
	const head = `${opening('file')}; filename="${escaped(name)}"\r\nContent-Type: ${typeOf(mimeType)}\r\n\r\n`;
	return {
		contentType: `multipart/form-data; boundary=${boundary}`,
		bytes: Buffer.concat([
			Buffer.from(before.join('') + head),
			content,
			Buffer.from(`\r\n--${boundary}--\r\n`),
		]),
	};
}

function boundaryOutside(contents: Array<Buffer | string>): string {
	const boundary = randomUUID();
	const isInside = contents.some((content) => content.includes(boundary));
	return isInside ? boundaryOutside(contents) : boundary;
}

/** Names go in UTF-8 (recorded, E16 "unicode name"); what would end them is written as browsers do. */
const escaped = (name: string): string => name.replace(/[\r\n"]/g, encodeURIComponent);

/** As `File` has it. */
const typeOf = (mimeType: string): string =>
	/^[ -~]+$/.test(mimeType) ? mimeType.toLowerCase() : 'application/octet-stream';
