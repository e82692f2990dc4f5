import chunk from 'lodash/chunk';
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
import type { Send } from '../transport/request';
import { answerFor, readSimplify, simplified } from './answers';
import { jsonText } from './badInput';
import type { InputSource } from './badInput';
import { idsInBody } from './hints';
import type { NamedId } from './hints';
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
		const { simplify, shape = answerItems } = operation;
		const simplification = simplify && readSimplify(reader) ? simplify : undefined;
		const answers = await answersFor(reader, send, operation);
		const results = answers.flatMap(shape);
		return pairedItems(simplification ? simplified(simplification, results) : results, itemIndex);
	});
}

/** The answers of an item's requests; the pages of a list are one answer. */
async function answersFor(
	reader: ItemReader,
	send: Send,
	operation: DeclaredOperation,
): Promise<unknown[]> {
	const { method, paging, repeatable, statusHints } = operation;
	const paths = readPaths(reader, operation.path);
	const timeoutMs = readTimeoutMs(reader, operation.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS);
	const flawIn = paging ? answerWithList(paging.resultsKey) : operation.flawIn;
	const body = operation.body && readBody(reader, operation.body);
	const source = bodySource(reader, operation.body);
	const answers: unknown[] = [];
	for (const { path, ids } of paths) {
		const request = async (sent: unknown) => {
			const text = sent === undefined ? undefined : jsonText(sent, source);
			const inBody = idsInBody(sent, operation.body?.ids ?? [], source);
			const meaning = { statusHints, ids: [...ids, ...inBody], body: { value: sent, source } };
			const options = { method, path, body: text, timeoutMs, flawIn };
			return await answerFor({ ...reader, meaning }, send, options, repeatable);
		};
		answers.push(paging ? await readList(reader, paging, body, request) : await request(body));
	}
	return answers;
}

/** How messages name the parts of a body: as they were read. */
function bodySource(reader: ItemReader, jsonBody: JsonBody | undefined): InputSource {
	const { fields, labels } = isJsonMode(reader) ? {} : (jsonBody ?? {});
	return { node: reader.context.getNode(), itemIndex: reader.itemIndex, fields, labels };
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

/** Ids in one address: servers take addresses of a few kilobytes only. */
const IDS_PER_REQUEST = 50;

/** The one id that callers may choose: a thread's may be any text (E13). */
const CHOSEN_ID = 'threadId';

/** A path and the ids in it. */
interface ReadPath {
	path: string;
	ids: NamedId[];
}

/** The path of the request, or of several where it lists more ids than an address can hold. */
function readPaths(reader: ItemReader, template: string): ReadPath[] {
	let paths: Array<{ values: Record<string, string>; ids: NamedId[] }> = [{ values: {}, ids: [] }];
	for (const [, name = '', list] of template.matchAll(/\{(\w+)(\*?)\}/g)) {
		const displayName = DISPLAY_NAMES[name as keyof typeof DISPLAY_NAMES];
		const groups = list
			? chunk(readIds(reader, name, displayName), IDS_PER_REQUEST)
			: [[readId(reader, name, displayName)]];
		const subject = `"${displayName}"`;
		paths = paths.flatMap(({ values, ids }) =>
			groups.map((group) => ({
				values: { ...values, [name]: group.join(',') },
				ids: [...ids, ...group.map((id) => ({ subject, id, isAnyText: name === CHOSEN_ID }))],
			})),
		);
	}
	return paths.map(({ values, ids }) => ({ path: buildPath(template, values), ids }));
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
