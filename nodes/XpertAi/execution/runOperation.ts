import { chunk, compact, find, findLast, isEqual, map } from 'lodash';
import {
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeProperties,
	NodeOperationError,
} from 'n8n-workflow';
import { z } from 'zod';

import { isJsonObject } from '../payloads/json';
import { positiveInteger } from '../payloads/zodHelpers';
import type { AnswerSchema } from '../transport/answerSchemas';
import { buildPath, MAX_IDS_PER_URL } from '../transport/api';
import { loggingProgress } from '../transport/clock';
import { multipartBody, type UploadFile } from '../transport/multipart';
import { connectionsOf } from '../transport/request';
import { chosenBinaryField, readUploadFile } from './binary';
import { concurrencyOf, flatMapItems } from './concurrency';
import { DEFAULT_TIMEOUT_SECONDS, type FieldValues } from './fieldBuilders';
import { throwIfPartMissing } from './identityFields';
import type { FieldNaming } from './issueText';
import { Item } from './item';
import {
	type DeclaredOperation,
	type Execution,
	isCoded,
	onlyReads,
	type Operation,
	type Resource,
	type SendRequest,
	simplified,
} from './operation';
import { operationFields } from './nodeProperties';
import { rawOrSelectedOutput, readOutputFormat, replyOrThrow, toItemJson } from './outputs';
import { addHints } from './n8nExecution';
import { collectResults } from './paging';
import { bodyOf } from './requestBody';

/**
 * Runs a declared operation for all items.
 *
 * @returns the output items, each paired with its input item
 * @throws the first error of an item, if `mayContinue` is false
 * @throws NodeOperationError if the option "Requests at Once" is invalid
 */
export async function runDeclared(
	operation: DeclaredOperation,
	{ context, items }: Execution,
): Promise<INodeExecutionData[]> {
	const { simplify, answersHint } = operation;
	const { toOutput = operation.method === 'DELETE' ? deletionOutput : answerItems } = operation;
	const allAnswers: unknown[] = [];
	const work = async (item: Item) => {
		const format = simplify && readOutputFormat(item);
		const answers = await answersFor(item, operation);
		if (answersHint) allAnswers.push(...map(answers, 'answer'));
		const results = answers.flatMap(({ answer, asked }) => toOutput(answer, asked));
		if (!simplify || !format) return results;
		return results.map((raw) => {
			const simplifiedOf = () => simplified(simplify, raw);
			return format.simplify
				? simplifiedOf()
				: rawOrSelectedOutput(format, item, raw, simplifiedOf);
		});
	};
	const concurrency = onlyReads(operation) ? READS_AT_ONCE : concurrencyOf(items);
	const output = await flatMapItems(items, work, concurrency);
	addHints(context, compact([answersHint?.(allAnswers)]));
	return output;
}

/** The default output of an answer: one item for each element of an array, otherwise one item. */
export const answerItems = (answer: unknown): IDataObject[] =>
	(Array.isArray(answer) ? answer : [answer]).map(toItemJson);

/** The output of a delete operation. Some answers do not contain `affected`, although the record was deleted. */
export function deletionOutput(answer: unknown): IDataObject[] {
	return [{ deleted: !(isJsonObject(answer) && answer.affected === 0) }];
}

const READS_AT_ONCE = 5;

interface OperationAnswer {
	/** The parsed answer, or all pages of a list, or the answer of `precheck`. */
	answer: unknown;
	/** The request body, or the path values of a request without a body; undefined if `precheck` gave the answer. */
	asked?: unknown;
}

/**
 * Sends the requests of an item, one after the other.
 *
 * @returns one answer for each pair of a path and a body, but only one for a path that `precheck` answers
 */
async function answersFor(item: Item, operation: DeclaredOperation): Promise<OperationAnswer[]> {
	const { onEmptyList, precheck, selectingFieldOptions = {} } = operation;
	const { defaultTimeoutSeconds: initialTimeout = DEFAULT_TIMEOUT_SECONDS } = operation;
	const allPathValues = pathValuesOf(item, operation);
	for (const [name, options] of Object.entries(selectingFieldOptions))
		throwIfPartMissing(item, name, options);
	const timeoutMs = item.setting('options.timeout', timeoutSecondsSchema, initialTimeout) * 1000;
	// Checks all bodies before the first request, so that an item with an invalid body sends nothing.
	const { bodies, fieldNaming } = bodiesAndFieldNaming(item, operation);
	const file = operation.body?.isForm
		? await readUploadFile(item, chosenBinaryField(item))
		: undefined;
	const answers: OperationAnswer[] = [];
	for (const values of allPathValues) {
		const checked = await precheck?.(item, values, timeoutMs);
		if (checked && 'answer' in checked) {
			answers.push({ answer: checked.answer });
			continue;
		}
		const path = buildPath(operation.path, { ...values, ...checked?.pathValues });
		const schema =
			typeof operation.answerSchema === 'function'
				? operation.answerSchema(values)
				: operation.answerSchema;
		for (const body of bodies) {
			const request = { path, schema, timeoutMs, body, fieldNaming, file };
			const send = requestSender(item, operation, request);
			const sendAll = operation.paging ? collectListResults : operation.sendMainRequest;
			const answer = await (sendAll ? sendAll(item, send) : send());
			if (onEmptyList && isEqual(answer, [])) await onEmptyList(item, values, timeoutMs);
			answers.push({ answer, asked: body.value ?? values });
		}
	}
	return answers;
}

/** The main request of an item. */
interface MainRequest {
	path: string;
	schema: AnswerSchema;
	timeoutMs: number;
	body: RequestBody;
	/** How error messages name the parts of the body. */
	fieldNaming: FieldNaming;
	/** The file of a form. */
	file?: UploadFile;
}

/** Returns a function that sends the main request of an item. */
function requestSender(
	item: Item,
	{ method, repeatable, statusAdvice }: DeclaredOperation,
	{ path, schema, timeoutMs, body: { value, text }, fieldNaming, file }: MainRequest,
): SendRequest {
	return async (further, options = { repeatable }) => {
		const json = further
			? item.toJsonText({ ...(value as object), ...further }, fieldNaming)
			: text;
		const body = file ? () => multipartBody(file, value as FieldValues) : json;
		const request = { method, path, body, timeoutMs, schema, ...options };
		return await item.call(request, { statusAdvice }, json);
	};
}

interface RequestBody {
	value: unknown;
	/** The JSON text of `value`; undefined if there is no body. */
	text?: string;
}

/** Returns the bodies of the requests of an item, and how messages name their fields. */
function bodiesAndFieldNaming(item: Item, { body, fixedBody, paging }: DeclaredOperation) {
	const { value: whole, fieldNaming = {} } = body
		? bodyOf(item, body, paging && PAGE_FIELDS)
		: { value: fixedBody };
	const bodies = (body?.split?.(whole) ?? [whole]).map(
		(value): RequestBody => ({
			value,
			text: value === undefined ? undefined : item.toJsonText(value, fieldNaming),
		}),
	);
	return { bodies, fieldNaming };
}

/** Body fields that the node sets for each page of a list. */
const PAGE_FIELDS = ['limit', 'offset'];

/** The maximum duration of a Node.js timer, in seconds. */
const MAX_TIMEOUT_SECONDS = 2_147_483;

/** The schema of a timeout in seconds, within the limits of the HTTP client and of Node.js timers. */
export const timeoutSecondsSchema = z.number().positive().min(0.001).max(MAX_TIMEOUT_SECONDS);

/** The path values of each request. A long list of IDs needs several requests. */
function pathValuesOf(item: Item, { path: template }: DeclaredOperation) {
	let paths: Array<Record<string, string>> = [{}];
	for (const [, name = '', list] of template.matchAll(/\{(\w+)(\*?)\}/g)) {
		const groups = list ? chunk(item.ids(name), MAX_IDS_PER_URL) : [[item.filledText(name)]];
		paths = paths.flatMap((values) =>
			groups.map((group) => ({ ...values, [name]: group.join(',') })),
		);
	}
	return paths;
}

/** Fetches the pages of a list. The parameters Return All and Limit set the number of results. */
async function collectListResults(
	item: Item,
	ask: (page: IDataObject) => Promise<unknown>,
): Promise<unknown[]> {
	const all = item.setting('returnAll', z.boolean());
	const wanted = all ? Infinity : item.setting('limit', positiveInteger);
	return await collectResults(async (page) => (await ask(page)) as unknown[], wanted);
}

/**
 * Runs the selected operation for all input items.
 *
 * @returns the output items; in an agent's tool, one item with the message if the operation fails
 * @throws the error of the operation (see `replyOrThrow`)
 */
export async function execute(
	n8nContext: IExecuteFunctions,
	catalogue: Resource[],
): Promise<INodeExecutionData[]> {
	// Caches the node, because n8n's `getNode` copies the whole node at each call.
	const node = n8nContext.getNode();
	const context = Object.create(n8nContext, {
		getNode: { value: () => node },
	}) as IExecuteFunctions;
	const connections = await connectionsOf(n8nContext);
	const itemsWith = (fields: INodeProperties[]) =>
		connections.map((connection, index) => new Item(context, index, fields, connection));
	let items: Item[] | undefined;
	try {
		const operation = chosenOperation(context, catalogue);
		items = itemsWith(operationFields(operation));
		if (!isCoded(operation)) return await runDeclared(operation, { context, items });
		const progress = (minutes: number) => findLast(items, 'progress')?.progress?.(minutes);
		return await loggingProgress(operation.execute({ context, items }), progress, context);
	} catch (caught) {
		// `items` is undefined if the selected operation does not exist.
		const [first] = items ?? itemsWith([]);
		return replyOrThrow(caught, context, first);
	}
}

function chosenOperation(context: IExecuteFunctions, catalogue: Resource[]): Operation {
	const resource = context.getNodeParameter('resource', 0, '') as string;
	const name = context.getNodeParameter('operation', 0, '') as string;
	const operation = find(find(catalogue, { value: resource })?.operations, { value: name });
	if (operation) return operation;
	const message = `The node has no operation "${name}" for "${resource}"`;
	const description = 'Choose Resource and Operation from their lists.';
	throw new NodeOperationError(context.getNode(), message, { description });
}
