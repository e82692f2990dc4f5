import type { IExecuteFunctions, INodeParameters, IHttpRequestOptions } from 'n8n-workflow';

import { submitFields } from '../../nodes/XpertAi/operations/document/submit/fields';
import { platformWork } from '../platform/work';
import { createEngine } from '../support/engine';
import { atOnce } from './atOnce';
import type { Load, Ready, Task } from './contender';
import { byHand } from './mapping';

/** Sends through n8n's own helper, with the same options as every request of ours, and reads the answer. */
export async function sendByHelper(
	context: IExecuteFunctions,
	{ method, url, body }: Pick<IHttpRequestOptions, 'method' | 'url' | 'body'>,
): Promise<unknown> {
	const options: IHttpRequestOptions = {
		method,
		url,
		headers: {
			Accept: 'application/json',
			...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
		},
		...(body === undefined ? {} : { body }),
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
	return JSON.parse(response.body);
}

/** n8n's own helper in its own engine, with ready bodies: as fast as a node on this platform can be. */
export async function helper({ target, concurrency }: Task) {
	const engine = await createEngine('platform', target.credential);
	return ({ bodies, documents }: Load): Ready => {
		const items = documents.map((json) => ({ json: json as never }));
		return async () => {
			platformWork.run = async (context) =>
				await atOnce(concurrency, bodies, async (body) => await stored(context, target.url, body));
			const [output] = await engine.run({}, items);
			return Number(output?.json.done);
		};
	};
}

/** The helper, and before it n8n's own resolution of the mapper's expressions for each item. */
export async function resolving({ target, concurrency }: Task) {
	const mapper = submitFields.find(({ name }) => name === 'documentFields');
	if (!mapper) throw new Error('Submit has no mapper');
	const { displayOptions: _always, ...shown } = mapper;
	platformWork.properties = [shown];
	const engine = await createEngine('platform', target.credential);
	const parameters: INodeParameters = { documentFields: await byHand() };
	return ({ bodies, documents }: Load): Ready => {
		const items = documents.map((json) => ({ json: json as never }));
		return async () => {
			platformWork.run = async (context) => {
				let resolved: unknown;
				for (let item = 0; item < items.length; item += 1)
					resolved = context.getNodeParameter('documentFields.value', item);
				if (!resolved) throw new Error('Nothing was resolved');
				return await atOnce(
					concurrency,
					bodies,
					async (body) => await stored(context, target.url, body),
				);
			};
			const [output] = await engine.run(parameters, items);
			return Number(output?.json.done);
		};
	};
}

async function stored(context: IExecuteFunctions, url: string, body: Buffer): Promise<number> {
	const answer = await sendByHelper(context, { method: 'POST', url, body });
	return Array.isArray(answer) ? answer.length : 0;
}
