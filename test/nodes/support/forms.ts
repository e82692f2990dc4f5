/** What a server would read off a multipart body. */
export async function readBack(body: FormData): Promise<Array<[string, File | string]>> {
	const sent = new Response(body);
	const received = await new Response(await sent.arrayBuffer(), {
		headers: { 'content-type': sent.headers.get('content-type') ?? '' },
	}).formData();
	return [...received.entries()];
}
