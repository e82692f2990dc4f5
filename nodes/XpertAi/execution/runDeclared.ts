import type { INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';

import type {
	DeclaredOperation,
	JsonBody,
	OperationContext,
	Paging,
} from '../operations/operation';
import { DEFAULT_LIMIT, DEFAULT_TIMEOUT_SECONDS, DISPLAY_NAMES } from '../operations/shared/fields';
import { answerItems, answerWithList, isJsonObject, listIn } from '../transport/answer';
import { buildPath } from '../transport/request';
import { answerFor, readSimplify, simplified } from './answers';
import { jsonText } from './badInput';
import { forEachItem, pairedItems } from './items';
import { collectPages } from './paging';
import { isJsonMode, readBody } from './readBody';
import { readId, readIds, readNumber, readSwitch } from './readFields';
import type { ItemReader } from './readFields';

/** Runs an operation that is one request an item (or, for lists, one a page). */
export async function runDeclared(
	operation: DeclaredOperation,
	{ context, send }: OperationContext,
): Promise<INodeExecutionData[]> {
	return await forEachItem(context, async (itemIndex) => {
		const reader: ItemReader = { context, itemIndex };
		const path = readPath(reader, operation.path);
		const timeoutMs = readTimeoutMs(reader, operation.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS);
		const { method, paging, repeatable, simplify } = operation;
		const simplification = simplify && readSimplify(reader) ? simplify : undefined;
		const flawIn = paging ? answerWithList(paging.resultsKey) : operation.flawIn;
		const request = async (body: unknown) => {
			const text = body === undefined ? undefined : sentText(reader, operation.body, body);
			return await answerFor(
				reader,
				send,
				{ method, path, body: text, timeoutMs, flawIn },
				repeatable,
			);
		};
		const body = operation.body && readBody(reader, operation.body);
		const answer = paging ? await readList(reader, paging, body, request) : await request(body);
		const results = (operation.shape ?? answerItems)(answer);
		return pairedItems(simplification ? simplified(simplification, results) : results, itemIndex);
	});
}

/** The JSON text of a body, whose parts are named as they were read. */
function sentText(reader: ItemReader, jsonBody: JsonBody | undefined, body: unknown): string {
	const source = { node: reader.context.getNode(), itemIndex: reader.itemIndex };
	const { fields, labels } = isJsonMode(reader) ? {} : (jsonBody ?? {});
	return jsonText(body, { ...source, fields, labels });
}

/** What a timer of Node.js can wait, in seconds. */
const LONGEST_TIMEOUT_SECONDS = 2_147_483;

/** A time limit in seconds that the HTTP client can keep. */
export const timeoutSeconds = z.number().positive().min(0.001).max(LONGEST_TIMEOUT_SECONDS);

/** Seconds of the option Timeout as milliseconds. */
export function readTimeoutMs(reader: ItemReader, defaultSeconds: number): number {
	const { timeout } = DISPLAY_NAMES;
	return readNumber(reader, 'options.timeout', timeout, timeoutSeconds, defaultSeconds) * 1000;
}

function readPath(reader: ItemReader, template: string): string {
	const ids = [...template.matchAll(/\{(\w+)(\*?)\}/g)].map(([, name = '', list]) => {
		const displayName = DISPLAY_NAMES[name as keyof typeof DISPLAY_NAMES];
		return [name, list ? readIds(reader, name, displayName) : readId(reader, name, displayName)];
	});
	return buildPath(template, Object.fromEntries(ids) as Record<string, string>);
}

/** Page by page from fields; a JSON body is sent once, as it is. */
async function readList(
	reader: ItemReader,
	paging: Paging,
	body: unknown,
	request: (body: unknown) => Promise<unknown>,
): Promise<unknown[]> {
	const listOf = (answer: unknown) => listIn(answer, paging.resultsKey) as unknown[];
	if (isJsonMode(reader)) return listOf(await request(body));
	const wanted = readSwitch(reader, 'returnAll', 'Return All', false)
		? Infinity
		: readNumber(reader, 'limit', 'Limit', z.number().int().min(1), DEFAULT_LIMIT);
	const filters = isJsonObject(body) ? body : {};
	return await collectPages(async (page) => listOf(await request({ ...filters, ...page })), wanted);
}
