import type { MultipartBody } from '../../../nodes/XpertAi/transport/multipart';

/** What a server would read off a multipart body. */
export async function readBack(body: MultipartBody): Promise<Array<[string, File | string]>> {
	const sent =
		body instanceof FormData
			? new Response(body)
			: new Response(body.bytes, { headers: { 'content-type': body.contentType } });
	const received = await new Response(await sent.arrayBuffer(), {
		headers: { 'content-type': sent.headers.get('content-type') ?? '' },
	}).formData();
	return [...received.entries()];
}
