import type { IExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow';

import { forEachConcurrently } from '../../nodes/XpertAi/execution/eachItem';
import { platformWork } from '../platform/Platform';
import { createEngine } from '../support/engine';
import type { Load, Ready, Task } from './contender';

/** n8n's own helper in its own engine, with ready bodies: as fast as a node on this platform can be. */
export async function helper({ target, concurrency }: Task) {
	const engine = await createEngine('platform', target.credential);
	return ({ bodies, documents }: Load): Ready => {
		const items = documents.map((json) => ({ json: json as never }));
		return async () => {
			platformWork.run = async (context) => {
				let sum = 0;
				const send = async (body: Buffer) => {
					const confirmed = await stored(context, target.url, body);
					sum += confirmed;
				};
				await forEachConcurrently(bodies, concurrency, send, () => true);
				return sum;
			};
			const [output] = await engine.run({}, items);
			return Number(output?.json.done);
		};
	};
}

/** Sends with the same options as every request of ours, and counts what the answer confirms. */
async function stored(context: IExecuteFunctions, url: string, body: Buffer): Promise<number> {
	const options: IHttpRequestOptions = {
		method: 'POST',
		url,
		headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
		body,
		encoding: 'text',
		timeout: 300_000,
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		disableFollowRedirect: true,
		sendCredentialsOnCrossOriginRedirect: false,
	};
	const response = (await context.helpers.httpRequestWithAuthentication.call(
		context,
		'xpertAiApi',
		options,
	)) as { body: string };
	const answer: unknown = JSON.parse(response.body);
	return Array.isArray(answer) ? answer.length : 0;
}
