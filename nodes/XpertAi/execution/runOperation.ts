import chunk from 'lodash/chunk';
import compact from 'lodash/compact';
import type { INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';

import { listAnswer, type AnswerSchema } from '../transport/answer';
import { multipartBody } from '../transport/multipart';
import { IDS_PER_ADDRESS, buildPath } from '../transport/api';
import { rawOutput, readAnswerOutput } from './outputFor';
import type { Naming } from './inputIssues';
import { readUploadFile } from './binary';
import { completeBody } from './body';
import { forEachItem } from './eachItem';
import { DEFAULT_TIMEOUT_SECONDS, optionsField, type FieldValues } from './fields';
import { idsInBody } from './hints';
import type { Item } from './item';
import { onlyReads } from './operation';
import type {
	AnswerForm,
	DeclaredOperation,
	Execution,
	OperationBody,
	PathValues,
	Precheck,
	PrecheckResult,
	SendRequest,
} from './operation';
import { addHints, answerItems, simplified } from './outputs';
import { collectPages } from './paging';

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
	const { simplify, shape = answerItems, answerHint } = operation;
	const hints = new Set<string | undefined>();
	const work = async (item: Item) => {
		const output = simplify && readAnswerOutput(item);
		const answers = await answersFor(item, operation);
		for (const { answer } of answers) hints.add(answerHint?.(answer));
		const results = answers.flatMap(({ answer, asked }) => shape(answer, asked));
		if (!simplify || !output) return results;
		if (output.simplify) return results.map((json) => simplified(simplify, json));
		return results.map((json) => rawOutput(output, json));
	};
	const concurrency = onlyReads(operation) ? READS_AT_ONCE : atOnceOf(items);
	const output = await forEachItem(items, work, concurrency);
	addHints(context, compact([...hints]));
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
	const { method, paging, repeatable = false, precheck, body, sendBody, statusHints } = operation;
	const paths = pathsOf(item, operation);
	const { timeoutSeconds: initialTimeout = DEFAULT_TIMEOUT_SECONDS } = operation;
	const timeoutMs = item.setting('options.timeout', timeoutSeconds, initialTimeout) * 1000;
	// All bodies are checked before anything is sent.
	const bodies = await bodiesOf(item, operation);
	const answers: Array<{ answer: unknown; asked?: unknown }> = [];
	for (const values of paths) {
		const checked = precheck && (await runPrecheck(precheck, item, values, timeoutMs));
		if (checked && 'answer' in checked) {
			answers.push({ answer: checked.answer });
			continue;
		}
		const path = buildPath(operation.path, { ...values, ...checked?.found });
		const schema = paging ? listAnswer(paging.resultsKey) : schemaOf(operation.answer, values);
		for (const { value, naming, content } of bodies) {
			const ids = idsInBody(value, body?.ids ?? [], naming);
			const ask: SendRequest = async (further, isRepeatable = repeatable) => {
				const sent = further
					? item.jsonText({ ...(value as object), ...further }, naming)
					: content;
				const request = { method, path, body: sent, timeoutMs, schema, repeatable: isRepeatable };
				return await item.call(request, { statusHints, ids });
			};
			const send = paging ? pagesOf : sendBody;
			answers.push({ answer: await (send ? send(item, ask) : ask()), asked: value ?? values });
		}
	}
	return answers;
}

/** Sends the request of a precheck and evaluates its answer. */
async function runPrecheck(
	{ method, path: template, body, answer: form, evaluate }: Precheck,
	item: Item,
	values: PathValues,
	timeoutMs: number,
): Promise<PrecheckResult> {
	const answer = await item.call({
		method,
		path: buildPath(template, values),
		schema: schemaOf(form, values),
		body: body && item.jsonText(body(item), {}),
		timeoutMs,
		repeatable: true,
	});
	return evaluate(answer, item);
}

const schemaOf = (form: AnswerForm, values: PathValues): AnswerSchema =>
	typeof form === 'function' ? form(values) : form;

/** The bodies to send, one after another, and what is sent of each. A list sends each page with other fields. */
async function bodiesOf(
	item: Item,
	{ body, fixedBody, paging }: DeclaredOperation,
): Promise<Array<{ value?: unknown; naming: Naming; content?: string | (() => FormData) }>> {
	const own = body && bodyOf(item, body, paging && PAGE_FIELDS);
	const { value, naming } = own ?? { value: fixedBody, naming: {} };
	if (paging || value === undefined) return [{ value, naming }];
	const values = body?.split?.(value) ?? [value];
	const texts = values.map((one) => ({ value: one, naming, content: item.jsonText(one, naming) }));
	if (!body?.isForm) return texts;
	// Each part is sent as text; a part that has none was refused.
	const file = await readUploadFile(item, item.binary());
	return [{ value, naming, content: () => multipartBody(file, value as FieldValues) }];
}

/** Fields of a list's body that the node sets for each page. */
const PAGE_FIELDS = ['limit', 'offset'];

/**
 * Reads the body of an item from its fields.
 *
 * @param reserved paths that the node fills in itself
 * @throws NodeOperationError naming the parameter, the item and the requirement
 */
export function bodyOf(item: Item, body: OperationBody, reserved = body.reserved) {
	const { fieldByPath, schema, ids, options, compose = (values) => values } = body;
	const fields = options ? [...body.fields, optionsField(options)] : body.fields;
	const value = compose(item.values(fields));
	return completeBody(item, { value, schema, naming: { fields, fieldByPath }, ids, reserved });
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

/** Fetches as many results of a list as the item wants. */
async function pagesOf(item: Item, ask: SendRequest): Promise<unknown[]> {
	const wanted = item.boolean('returnAll') ? Infinity : item.setting('limit', wholeNumber);
	return await collectPages(async (page) => (await ask(page)) as unknown[], wanted);
}
