import chunk from 'lodash/chunk';
import type { INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';

import { anyJson } from '../payloads/common';
import { answerWithList, isJsonObject, listIn } from '../transport/answer';
import { multipartBody } from '../transport/multipart';
import { IDS_PER_ADDRESS, buildPath } from '../transport/api';
import type { ApiRequest } from '../transport/request';
import { answerFor } from './answers';
import type { Naming } from './badInput';
import { uploadFile } from './binary';
import { forEachItem } from './eachItem';
import { DEFAULT_TIMEOUT_SECONDS, fieldCollection, optionsField } from './fields';
import type { Field } from './fields';
import { idsInBody } from './hints';
import type { StatusHints } from './hints';
import { namedId } from './ids';
import type { NamedId } from './ids';
import type { Item } from './item';
import { isFileBody, onlyReads } from './operation';
import type {
	Decision,
	DeclaredOperation,
	Execution,
	FileBody,
	JsonBody,
	LookFirst,
	Paging,
} from './operation';
import { tellUser, answerItems, simplified } from './outputs';
import { collectPages } from './paging';

/**
 * Runs an operation that is one request an item (or, for lists, one a page).
 *
 * @returns the output, each item paired with the one it came of
 * @throws NodeApiError or NodeOperationError with Stop, for the first item that came to nothing
 */
export async function runDeclared(
	operation: DeclaredOperation,
	{ context, items }: Execution,
): Promise<INodeExecutionData[]> {
	const { simplify, shape = answerItems, remark } = operation;
	const remarks = new Set<string>();
	const work = async (item: Item) => {
		const simplification = simplify && item.switch('simplify') ? simplify : undefined;
		const answers = await answersFor(item, operation);
		for (const { answer } of answers) {
			const said = remark?.(answer);
			if (said !== undefined) remarks.add(said);
		}
		const results = answers.flatMap(({ answer, asked }) => shape(answer, asked));
		return simplification ? simplified(simplification, results) : results;
	};
	const atOnceNow = onlyReads(operation) ? READS_AT_ONCE : atOnceOf(items);
	const output = await forEachItem(items, work, atOnceNow);
	tellUser(context, [...remarks]);
	return output;
}

/** Items of an operation that only reads, at once. */
const READS_AT_ONCE = 5;

const atOnce = z.number().int().min(1);

/**
 * How many items are worked on at once, which the first one says.
 *
 * @throws NodeOperationError naming the option and what it must be
 */
export function atOnceOf([first]: Item[]): number {
	return first?.number('options.concurrency', atOnce) ?? 1;
}

/** An answer and what it was asked for: the body, or the ids where the path lists some. */
interface Answered {
	answer: unknown;
	asked: unknown;
}

/** The answers of an item's requests; the pages of a list are one answer. */
async function answersFor(item: Item, operation: DeclaredOperation): Promise<Answered[]> {
	const { method, paging, repeatable, lookFirst } = operation;
	const paths = pathsOf(item, operation);
	const timeoutMs = timeoutOf(item, operation) * 1000;
	const check = paging ? answerWithList(paging.resultsKey) : operation.checkAnswer;
	const { parts, naming, toSend, ids: places, statusHints } = await bodyOf(item, operation);
	const answers: Answered[] = [];
	// What cannot be sent is refused before anything is looked at.
	if (lookFirst) for (const part of parts) toSend(part);
	for (const { values, ids, listed } of paths) {
		const looked = lookFirst && (await look(lookFirst, item, { values, ids, timeoutMs }));
		if (looked && 'answer' in looked) {
			answers.push({ answer: looked.answer, asked: undefined });
			continue;
		}
		const path = buildPath(operation.path, { ...values, ...looked?.found });
		const checkAnswer = (answer: unknown) => check?.(answer, ids);
		for (const part of parts) {
			const request = async (sent: unknown) => {
				const inBody = idsInBody(sent, places, naming);
				const meaning = { statusHints, ids: [...ids, ...inBody], body: { value: sent, naming } };
				const options = { method, path, body: toSend(sent), timeoutMs, checkAnswer };
				const circumstances = { itemIndex: item.index, repeatable, meaning };
				return await answerFor(item.context, item.send, options, circumstances);
			};
			const answer = await (paging ? listOf(item, paging, part, request) : request(part));
			answers.push({ answer, asked: listed ?? part });
		}
	}
	return answers;
}

/** How long to wait for an answer, in seconds; what only reads has no option for it. */
function timeoutOf(item: Item, operation: DeclaredOperation): number {
	const { timeoutSeconds: own = DEFAULT_TIMEOUT_SECONDS } = operation;
	return onlyReads(operation) ? own : item.number('options.timeout', timeoutSeconds);
}

/** Reads what an operation looks at first, and decides by it. */
async function look(
	{ method, path: template, body, checkAnswer, decide }: LookFirst,
	item: Item,
	{ values, ids, timeoutMs }: ReadPath & { timeoutMs: number },
): Promise<Decision> {
	const request = {
		method,
		path: buildPath(template, values),
		body: body && item.jsonText(body(item), {}),
		timeoutMs,
		checkAnswer: (answer: unknown) => checkAnswer(answer, ids),
	};
	const circumstances = { itemIndex: item.index, repeatable: true, meaning: { ids } };
	return decide(await answerFor(item.context, item.send, request, circumstances), item);
}

/** The body of an item, read and checked. */
interface ReadBody {
	/** The bodies it is sent as, one after another. */
	parts: unknown[];
	naming: Naming;
	toSend: (part: unknown) => ApiRequest['body'];
	/** Places that hold ids of records. */
	ids: string[];
	statusHints?: StatusHints;
}

async function bodyOf(
	item: Item,
	{ body, fixedBody, statusHints }: DeclaredOperation,
): Promise<ReadBody> {
	if (!body) {
		const toSend = () => fixedBody && JSON.stringify(fixedBody);
		return { parts: [fixedBody], naming: {}, toSend, ids: [], statusHints };
	}
	if (isFileBody(body)) return await fileBodyOf(item, body, statusHints);
	const value = jsonBodyOf(item, body);
	const naming = item.isJsonBody ? {} : { fields: fieldsInBody(body), sources: body.sources };
	return {
		parts: body.split?.(value) ?? [value],
		naming,
		toSend: (part) => item.jsonText(part, naming),
		ids: body.ids ?? [],
		statusHints,
	};
}

/** The fields of a body with Options, where some of them stand in there. */
function fieldsInBody({ fields, options }: JsonBody): Field[] {
	return options ? [...fields, optionsField(options)] : fields;
}

/**
 * The JSON body of an item, from its fields or from its JSON; that may hold the ids of whatever server it is for.
 *
 * @throws NodeOperationError naming the parameter, the item and what is expected
 */
export function jsonBodyOf(item: Item, body: JsonBody): unknown {
	const { sources, schema, ids = [], notShown, compose = (values) => values } = body;
	if (item.isJsonBody) return item.jsonBody(notShown ? anyJson : schema);
	const fields = fieldsInBody(body);
	const naming = { fields, sources };
	const values = item.values(fields);
	const along = body.options && isJsonObject(values.options) ? values.options : undefined;
	const checked: unknown = item.check(schema, compose(along ?? values), naming);
	item.checkIds(checked, ids, naming);
	return checked;
}

const FILE_WANTED = 'Xpert AI servers take a file, not JSON. Set "Body" in Options to Fields.';

/** A file of the item with its text parts as a form; or the JSON body, as the contract has it. */
async function fileBodyOf(
	item: Item,
	{ parts, schema, ids = [] }: FileBody,
	statusHints?: StatusHints,
): Promise<ReadBody> {
	if (item.isJsonBody) {
		const value = item.jsonBody(anyJson);
		const toSend = (part: unknown) => item.jsonText(part, {});
		return { parts: [value], naming: {}, toSend, ids: [], statusHints: { 500: FILE_WANTED } };
	}
	const fields = [fieldCollection('additionalFields', parts)];
	const texts = z.record(z.unknown()).parse(item.check(schema, item.values(fields), { fields }));
	item.checkIds(texts, ids, { fields });
	// The parts are sent as JSON text each; one that has none is named here.
	item.jsonText(texts, { fields });
	const form = multipartBody(await uploadFile(item, item.binary()), texts);
	return { parts: [texts], naming: { fields }, toSend: () => form, ids: [], statusHints };
}

/** What a timer of Node.js can wait, in seconds. */
const LONGEST_TIMEOUT_SECONDS = 2_147_483;

/** A time limit in seconds that the HTTP client can keep. */
export const timeoutSeconds = z.number().positive().min(0.001).max(LONGEST_TIMEOUT_SECONDS);

/** The ids of a path, and by their names what stands for them. */
interface ReadPath {
	values: Record<string, string>;
	ids: NamedId[];
	/** The ids of the list in it, if there is one. */
	listed?: string[];
}

/** The ids of the request's path, or of several where it lists more than an address can hold. */
function pathsOf(item: Item, { path: template }: DeclaredOperation): ReadPath[] {
	let paths: ReadPath[] = [{ values: {}, ids: [] }];
	for (const [, name = '', list] of template.matchAll(/\{(\w+)(\*?)\}/g)) {
		const groups = list ? chunk(item.ids(name), IDS_PER_ADDRESS) : [[item.id(name)]];
		const subject = `"${item.labelOf(name)}"`;
		paths = paths.flatMap(({ values, ids, listed }) =>
			groups.map((group) => ({
				values: { ...values, [name]: group.join(',') },
				ids: [...ids, ...group.map((id) => namedId(name, subject, id))],
				listed: list ? group : listed,
			})),
		);
	}
	return paths;
}

const wholeLimit = z.number().int().min(1);

/** Page by page from fields; a JSON body is sent once, as it is. */
async function listOf(
	item: Item,
	{ resultsKey }: Paging,
	body: unknown,
	request: (body: unknown) => Promise<unknown>,
): Promise<unknown[]> {
	const results = (answer: unknown) => listIn(answer, resultsKey) as unknown[];
	if (item.isJsonBody) return results(await request(body));
	const wanted = item.switch('returnAll') ? Infinity : item.number('limit', wholeLimit);
	const filters = isJsonObject(body) ? body : {};
	return await collectPages(
		async (page) => results(await request({ ...filters, ...page })),
		wanted,
	);
}
