/** So much is held of a file where contents are not kept. */
const HEAD_LENGTH = 64 * 1024;

/** The first bytes of a stream: all of them, or more than `limit` of them when there are more. */
export async function upTo(chunks: AsyncIterator<Buffer>, limit: number): Promise<Buffer> {
	const read: Buffer[] = [];
	let length = 0;
	while (length <= limit) {
		const { done, value } = await chunks.next();
		if (done) break;
		read.push(value);
		length += value.length;
	}
	return Buffer.concat(read);
}

export interface Content {
	size: number;
	/** All of its bytes, or the first 64 kB of a file that is not kept. */
	head: Buffer;
}

/** The bytes of the uploaded files by their paths. */
export class Contents extends Map<string, Content> {
	constructor(private readonly keep = true) {
		super();
	}

	at(path: string): Content | undefined {
		return this.get(path);
	}

	/** Reads an upload to its end. */
	async receive(upload: AsyncIterable<Buffer>): Promise<Content> {
		const chunks = upload[Symbol.asyncIterator]();
		const begun = await upTo(chunks, this.keep ? Infinity : HEAD_LENGTH);
		let size = begun.length;
		for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
			size += next.value.length;
		}
		return { size, head: this.keep ? begun : Buffer.from(begun.subarray(0, HEAD_LENGTH)) };
	}
}
