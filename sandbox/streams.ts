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
