/** A text in fewer bytes. n8n's rules allow no module for that; Node has the streams of the web. */
export async function deflated(text: string): Promise<Buffer> {
	return await through(Buffer.from(text), new CompressionStream('deflate-raw'));
}

/** What `deflated` was given; nothing where these are other bytes. */
export async function inflated(bytes: Buffer): Promise<string | undefined> {
	try {
		return (await through(bytes, new DecompressionStream('deflate-raw'))).toString();
	} catch {
		return undefined;
	}
}

async function through(
	bytes: Buffer,
	stream: CompressionStream | DecompressionStream,
): Promise<Buffer> {
	const passed = new Blob([new Uint8Array(bytes)]).stream().pipeThrough(stream);
	return Buffer.from(await new Response(passed).arrayBuffer());
}
