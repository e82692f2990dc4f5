import chunk from 'lodash/chunk';
import compact from 'lodash/compact';
import type { INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';

import { anyJson } from '../payloads/common';
import { isJsonObject, listAnswer } from '../transport/answer';
import type { AnswerSchema } from '../transport/answer';
import type { Failure } from '../transport/failure';
import { multipartBody } from '../transport/multipart';
import { IDS_PER_ADDRESS, buildPath } from '../transport/api';
import { rawOutput, readAnswerOutput } from './audience';
import type { Naming } from './badInput';
import { readUploadFile } from './binary';
import { forEachItem } from './eachItem';
import { DEFAULT_TIMEOUT_SECONDS, fieldCollection, optionsField } from './fields';
import { idsInBody } from './hints';
import type { Item } from './item';
import { isFileBody, onlyReads } from './operation';
import type {
	AnswerForm,
	DeclaredOperation,
	Execution,
	FileBody,
	JsonBody,
	PathValues,
	Precheck,
	PrecheckResult,
} from './operation';
import { addHints, answerItems, simplified } from './outputs';
import { collectPages } from './paging';
import { callOrThrow } from './callOrThrow';

/**
 * Runs an operation with one request per item, or one per page of a list.
 *
 * @returns the output, paired with the items
 * @throws NodeApiError or NodeOperationError of the first failed item when On Error is "Stop Workflow"
 */
export async function runDeclared(
	operation: DeclaredOperation,
	{ context, items }: Execution,
): Promise<INodeExecutionData[]> {
	const { simplify, shape = answerItems, remark } = operation;
	const remarks = new Set<string | undefined>();
	const work = async (item: Item) => {
		const output = simplify && readAnswerOutput(item);
		const answers = await answersFor(item, operation);
		for (const { answer } of answers) remarks.add(remark?.(answer));
		const results = answers.flatMap(({ answer, asked }) => shape(answer, asked));
		if (!simplify || !output) return results;
		if (output.simplify) return results.map((json) => simplified(simplify, json));
		return results.map((json) => rawOutput(output, json));
	};
	const concurrency = onlyReads(operation) ? READS_AT_ONCE : atOnceOf(items);
	const output = await forEachItem(items, work, concurrency);
	addHints(context, compact([...remarks]));
	return output;
}

/** How many items of a read-only operation run at once. */
const READS_AT_ONCE = 5;

const wholeNumber = z.number().int().min(1);

/**
 * How many items run at once, by the option of the first item.
 *
 * @throws NodeOperationError naming the option and the allowed values
 */
export function atOnceOf([first]: Item[]): number {
	return first?.setting('options.concurrency', wholeNumber) ?? 1;
}

/**
 * The answers to the requests of an item, each with what was asked for: the body, or the values of the path. All pages
 * of a list count as one answer.
 */
async function answersFor(item: Item, operation: DeclaredOperation) {
	const { method, paging, repeatable, precheck, body, statusHints } = operation;
	const { sendBody = async (_, one, ask) => await ask(one) } = operation;
	const paths = pathsOf(item, operation);
	const { timeoutSeconds: initialTimeout = DEFAULT_TIMEOUT_SECONDS } = operation;
	const timeoutMs = item.setting('options.timeout', timeoutSeconds, initialTimeout) * 1000;
	const { bodies, naming, form } = await bodyOf(item, operation);
	const toSend = (one: unknown) => form ?? (one === undefined ? one : item.jsonText(one, naming));
	// Refuse an invalid body before anything is sent.
	for (const one of bodies) toSend(one);
	const hints = body && isFileBody(body) && !form ? JSON_FOR_FILE_HINTS : statusHints;
	const answers: Array<{ answer: unknown; asked: unknown }> = [];
	for (const values of paths) {
		const checked = precheck && (await runPrecheck(precheck, item, values, timeoutMs));
		if (checked && 'answer' in checked) {
			answers.push({ answer: checked.answer, asked: undefined });
			continue;
		}
		const path = buildPath(operation.path, { ...values, ...checked?.found });
		const schema = paging ? listAnswer(paging.resultsKey) : schemaOf(operation.answer, values);
		for (const one of bodies) {
			const ask = async (sent: unknown, isRepeatable = repeatable ?? false) => {
				const request = {
					method,
					path,
					body: toSend(sent),
					timeoutMs,
					schema,
					repeatable: isRepeatable,
				};
				const toError = (failure: Failure) => {
					const ids = idsInBody(sent, body?.ids ?? [], naming);
					return item.apiError(failure, { statusHints: hints, ids });
				};
				return await callOrThrow(item.context, item.send, request, { toError });
			};
			const answer = await (paging ? listOf(item, one, ask) : sendBody(item, one, ask));
			answers.push({ answer, asked: one ?? values });
		}
	}
	return answers;
}

const JSON_FOR_FILE_HINTS = {
	500: 'Xpert AI servers take a file, not JSON. Remove "JSON Body" from Options.',
};

/** Sends the request of a precheck and evaluates its answer. */
async function runPrecheck(
	{ method, path: template, body, answer: form, evaluate }: Precheck,
	item: Item,
	values: PathValues,
	timeoutMs: number,
): Promise<PrecheckResult> {
	const request = {
		method,
		path: buildPath(template, values),
		schema: schemaOf(form, values),
		body: body && item.jsonText(body(item), {}),
		timeoutMs,
		repeatable: true,
	};
	const toError = (failure: Failure) => item.apiError(failure);
	const answer = await callOrThrow(item.context, item.send, request, { toError });
	return evaluate(answer, item);
}

const schemaOf = (form: AnswerForm, values: PathValues): AnswerSchema =>
	typeof form === 'function' ? form(values) : form;

/** The body of an item, read and checked. */
interface ReadBody {
	/** The bodies to send, one after another. */
	bodies: unknown[];
	naming: Naming;
	/** Makes what is sent in place of JSON. */
	form?: () => FormData;
}

async function bodyOf(item: Item, { body, fixedBody }: DeclaredOperation): Promise<ReadBody> {
	if (!body) return { bodies: [fixedBody], naming: {} };
	if (isFileBody(body)) return await fileBodyOf(item, body);
	const { value, naming } = jsonBodyOf(item, body);
	return { bodies: body.split?.(value) ?? [value], naming };
}

/**
 * Reads the JSON body of an item from its fields or from its JSON. JSON may contain IDs of any form.
 *
 * @throws NodeOperationError naming the parameter, the item and the requirement
 */
export function jsonBodyOf(item: Item, body: JsonBody): { value: unknown; naming: Naming } {
	const { fieldByPath, schema, ids = [], notShown, options, compose = (values) => values } = body;
	if (item.isJsonBody) return { value: item.jsonBody(notShown ? anyJson : schema), naming: {} };
	const fields = options ? [...body.fields, optionsField(options)] : body.fields;
	const naming: Naming = { fields, fieldByPath };
	const value: unknown = item.check(schema, compose(item.values(fields)), naming);
	item.checkIds(value, ids, naming);
	return { value, naming };
}

/** The body of an upload: a form with the file and its text parts; or the JSON body of the contract. */
async function fileBodyOf(item: Item, { parts, schema, ids = [] }: FileBody): Promise<ReadBody> {
	if (item.isJsonBody) return { bodies: [item.jsonBody(anyJson)], naming: {} };
	const naming = { fields: [fieldCollection('additionalFields', parts)] };
	const texts = item.check(schema, item.values(naming.fields), naming);
	item.checkIds(texts, ids, naming);
	// Each part is sent as JSON text; this refuses a part that has none.
	item.jsonText(texts, naming);
	const file = await readUploadFile(item, item.binary());
	return { bodies: [texts], naming, form: () => multipartBody(file, texts) };
}

/** Longest timer of Node.js, in seconds. */
const MAX_TIMEOUT_SECONDS = 2_147_483;

/** A timeout in seconds that the HTTP client supports. */
export const timeoutSeconds = z.number().positive().min(0.001).max(MAX_TIMEOUT_SECONDS);

/** The values for a path; several sets if a list of IDs is too long for one address. */
function pathsOf(item: Item, { path: template }: DeclaredOperation): PathValues[] {
	let paths: PathValues[] = [{}];
	for (const [, name = '', list] of template.matchAll(/\{(\w+)(\*?)\}/g)) {
		const groups = list ? chunk(item.ids(name), IDS_PER_ADDRESS) : [[item.id(name)]];
		paths = paths.flatMap((values) =>
			groups.map((group) => ({ ...values, [name]: group.join(',') })),
		);
	}
	return paths;
}

/** Fetches all pages for fields; sends a JSON body once, unchanged. */
async function listOf(
	item: Item,
	body: unknown,
	ask: (body: unknown) => Promise<unknown>,
): Promise<unknown[]> {
	const results = async (asked: unknown) => (await ask(asked)) as unknown[];
	if (item.isJsonBody) return await results(body);
	const wanted = item.boolean('returnAll') ? Infinity : item.setting('limit', wholeNumber);
	const filters = isJsonObject(body) ? body : {};
	return await collectPages(async (page) => await results({ ...filters, ...page }), wanted);
}
