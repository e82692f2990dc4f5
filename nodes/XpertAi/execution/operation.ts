import { groupBy, isEmpty, map, memoize, partition, pick, sortBy } from 'lodash';
import type {
	IDataObject,
	IDisplayOptions,
	INodeExecutionData,
	INodeProperties,
} from 'n8n-workflow';
import type { ZodTypeAny } from 'zod';

import { listAnswer, recordWith, type AnswerSchema } from '../transport/answer';
import type { ApiRequest } from '../transport/request';
import {
	type FieldValues,
	additionalFieldsJson,
	atOnceOption,
	binaryFieldName,
	choiceField,
	displayedIf,
	isContainer,
	limit,
	optionsField,
	returnAll,
	simplifyFields,
	timeoutOption,
} from './fields';
import type { StatusHints } from './apiError';
import type { Item } from './item';

/**
 * The number of an endpoint in the contract (the specification of the API), or `beyond` for an endpoint that is not in
 * the contract.
 */
type Endpoint = `E${number}` | 'beyond';

/** The keys that Simplify keeps, or a function that simplifies a result. */
type Simplification = string[] | ((result: IDataObject) => IDataObject);

/** The properties that every operation declares. */
interface OperationInfo {
	value: string;
	name: string;
	/** The name in n8n's nodes panel. Default: name and resource, e.g. `Get assistant`. */
	action?: string;
	/** The endpoint of the main request. The tables in the documentation are generated from this. */
	endpoint: Endpoint;
	/** The endpoint that is used instead on servers that have only the endpoints of the contract. */
	fallback?: Endpoint;
	description: string;
	/** What n8n's AI workflow builder must know in addition to the description. */
	builderHint?: string;
	/** The condition for showing the operation. Default: it is always shown. */
	displayOptions?: IDisplayOptions;
}

/** The request body of an operation: a JSON object, a JSON list or a form. */
export interface OperationBody {
	/** Whether the body is a multipart form: a file of the item, and the fields as text parts. */
	isForm?: true;
	/** The fields of the body. Their names are the keys of the body, unless `compose` maps them. */
	fields: INodeProperties[];
	/** The schema of the body. The node checks the body because servers check almost nothing. */
	schema: ZodTypeAny;
	/** Makes the body from the field values. Default: the values are the body. */
	compose?: (values: FieldValues) => unknown;
	/** Maps paths in the result of `compose` to field names, e.g. `assistant.id` to `assistantId`. */
	fieldByPath?: Record<string, string>;
	/** Splits a list that is too long for servers into the bodies of several requests. */
	split?: (body: unknown) => unknown[];
	/** Paths of the body that only the node sets. Additional Fields (JSON) is rejected if it names one of them. */
	reserved?: string[];
}

/** Values for the placeholders of a path, by name. */
export type PathValues = Record<string, string>;

/** The schema of an answer, or a function that makes it from the values of the request's path. */
export type AnswerForm = AnswerSchema | ((asked: PathValues) => AnswerSchema);

/**
 * The result of a precheck. If it has the key `answer`, the main request is not sent, and this answer is output.
 * `found` has the values for the placeholders `{name!}` of the path.
 */
export interface PrecheckResult {
	answer?: unknown;
	found?: Record<string, string>;
}

/**
 * Runs before the main request of an item: checks what the server does not check, or finds IDs for the path.
 *
 * @throws NodeApiError or NodeOperationError if the main request must not be sent
 */
export type Precheck = (item: Item, path: PathValues, timeoutMs: number) => Promise<PrecheckResult>;

/**
 * Sends the main request of an item.
 *
 * @param further fields to add to the body
 * @param isRepeatable whether sending the request twice does no harm; default: `repeatable` of the operation
 * @returns the parsed answer
 */
export type SendRequest = (further?: IDataObject, isRepeatable?: boolean) => Promise<unknown>;

type Method = ApiRequest['method'];

/** The declaration of an operation with one request per item. */
interface Declaration extends OperationInfo {
	/** A field for each ID in the path that the user gives. Each field is named after its placeholder. */
	ids?: INodeProperties[];
	/**
	 * Method, and path below the API root. The placeholder `{name}` stands for the value of the parameter `name`,
	 * `{name*}` for a list of IDs, and `{name!}` for an ID that `precheck` finds. A list that is too long for one URL
	 * is split into several requests.
	 */
	route: `${Method} /${string}`;
	/**
	 * Set if the endpoint lists results by `limit` and `offset`. `resultsKey` is the key of the results in the answer;
	 * without a key, the answer itself is the list of results.
	 */
	paging?: { resultsKey?: string };
	/** The schema of the answer, or the keys that must have a value in it. Default: the list that `paging` describes. */
	answer?: string[] | AnswerForm;
	body?: OperationBody;
	precheck?: Precheck;
	/** Options of this operation, in addition to the general ones such as Timeout. */
	options?: INodeProperties[];
	/** The constant body of an operation that only reads, through a route that can also change records. */
	fixedBody?: IDataObject;
	/**
	 * Converts the answer to the JSON of the output items. With `paging`, the answer is the array of all results.
	 * Default: `deletedItem` for DELETE, otherwise `answerItems`.
	 *
	 * @param asked the body of the request, or the values of its path if it has no body; undefined if the answer comes
	 * from `precheck`
	 */
	shape?: (answer: unknown, asked: unknown) => IDataObject[];
	/** The default of the option Timeout, in seconds. */
	timeoutSeconds?: number;
	/**
	 * Whether sending the request twice does no harm. If so, it is also sent again when the server may have processed
	 * it, e.g. after a timeout. Default: true for GET and with `paging`.
	 */
	repeatable?: boolean;
	/** Sends the main request in a special way by calling `send`, e.g. with an ID that the node makes. */
	sendBody?: (item: Item, send: SendRequest) => Promise<unknown>;
	/** Hints for HTTP statuses that have a special meaning in this operation. */
	statusHints?: StatusHints;
	/** Returns a hint about the answer, if there is one. n8n shows hints beside the output. */
	answerHint?: (answer: unknown) => string | undefined;
	/** How Simplify shortens a result. An operation without this property has no Simplify switch. */
	simplify?: Simplification;
}

/**
 * Completes a declaration: splits the route into method and path, and sets the defaults of `repeatable` and `answer`.
 */
export function declare(declaration: Declaration) {
	const { route, paging, answer = listAnswer(paging?.resultsKey) } = declaration;
	const [method, path] = route.split(' ') as [Method, string];
	return {
		method,
		path,
		repeatable: method === 'GET' || paging !== undefined,
		...declaration,
		answer: Array.isArray(answer) ? recordWith(...answer) : answer,
	};
}

/** An operation with one request per item, as plain data. `runDeclared` runs such operations. */
export type DeclaredOperation = ReturnType<typeof declare>;

/** What an operation gets to run: the context of the execution and the input items. */
export interface Execution {
	context: Item['context'];
	/** The input items; each reads its own parameters and sends with its own credential. */
	items: Item[];
}

/** An operation with code of its own, e.g. Document: Submit. */
export interface CodedOperation extends OperationInfo {
	fields: INodeProperties[];
	/** Runs the operation for all items. Every output item has a `pairedItem`. */
	execute: (execution: Execution) => Promise<INodeExecutionData[]>;
}

export type Operation = DeclaredOperation | CodedOperation;

/** A group of operations: one entry of the Resource list in the editor. */
export interface Resource {
	value: string;
	name: string;
	operations: Operation[];
}

/** Whether an operation has code of its own; if not, it is a declaration. */
export const isCoded = (operation: Operation): operation is CodedOperation =>
	'execute' in operation;

/** Simplifies a result. A result that has none of the keys to keep is returned unchanged. */
export function simplified(simplification: Simplification, result: IDataObject): IDataObject {
	if (typeof simplification === 'function') return simplification(result);
	const kept = pick(result, simplification);
	return isEmpty(kept) ? result : kept;
}

/**
 * Whether an operation changes nothing, so that several items can run at once. Repeatable requests count as reads,
 * except PATCH, and PUT without a fixed body.
 */
export function onlyReads({ method, repeatable, fixedBody }: DeclaredOperation): boolean {
	const changes = (method === 'PUT' && !fixedBody) || method === 'PATCH';
	return repeatable && !changes;
}

/**
 * All parameters of the node: first the Resource and Operation lists, then the parameters of all operations.
 *
 * @param defaultResource the resource that a new node starts with
 */
export function nodeProperties(resources: Resource[], defaultResource: string): INodeProperties[] {
	const choices = Object.fromEntries(resources.map(({ value, name }) => [value, name]));
	const further = { noDataExpression: true, default: defaultResource };
	return [
		choiceField('resource', 'Resource', undefined, choices, further),
		...resources.map(operationList),
		...resources.flatMap(resourceFields),
	];
}

/**
 * The expression for the text below the node's name on the canvas: operation and resource by their display names, e.g.
 * `Get Many: Conversation`. Expressions cannot read display names, so this expression contains all of them.
 */
export function nodeSubtitle(resources: Resource[]): string {
	const names = resources.flatMap(({ value, name, operations }) =>
		operations.map((one) => [`${value}.${one.value}`, `${one.name}: ${name}`]),
	);
	const chosen = '$parameter["resource"] + "." + $parameter["operation"]';
	return `={{ (${JSON.stringify(Object.fromEntries(names))})[${chosen}] }}`;
}

/** The Operation list of a resource. Its default is the first operation. */
function operationList({ value: resource, operations }: Resource): INodeProperties {
	const choices = operations.map(({ value, builderHint: propertyHint, ...info }) => [
		value,
		{
			...pick(info, ['name', 'action', 'description', 'displayOptions']),
			builderHint: propertyHint && { propertyHint },
		},
	]);
	return choiceField('operation', 'Operation', undefined, Object.fromEntries(choices), {
		noDataExpression: true,
		displayOptions: { show: { resource: [resource] } },
	});
}

/**
 * The parameters of a resource. The parameters of each operation keep their order. n8n sends the description of the
 * node to every browser, so fields that are equal in several operations are merged to shorten it.
 */
function resourceFields({ value, operations }: Resource): INodeProperties[] {
	const all = operations.flatMap((operation) =>
		operationFields(operation).map((field, at) => ({ field, at, operation: operation.value })),
	);
	const merged = Object.values(groupBy(all, ({ field }) => JSON.stringify(field)));
	return sortBy(merged, (same) => Math.max(...map(same, 'at'))).flatMap((same) => {
		const show = { resource: [value], operation: map(same, 'operation') };
		return displayedIf({ show }, map(same, 'field').slice(0, 1));
	});
}

/** The parameters of an operation, without Resource and Operation. Memoized. */
export const operationFields = memoize((operation: Operation): INodeProperties[] =>
	isCoded(operation) ? operation.fields : declaredFields(operation),
);

/**
 * The parameters of a declared operation. The single fields come first, then grouping collections, Simplify and
 * Options.
 */
function declaredFields(operation: DeclaredOperation): INodeProperties[] {
	const { body, ids = [], paging, timeoutSeconds } = operation;
	const [optional, fields] = partition(body?.fields, { name: 'options' });
	const [groups, single] = partition(fields, isContainer);
	const options = [
		...optional.flatMap((field) => field.options as INodeProperties[]),
		// A body that can be split is a list, and a list has no fields to add.
		...(body && !body.split ? [additionalFieldsJson] : []),
		...(operation.options ?? []),
		...(onlyReads(operation) ? [] : [atOnceOption, timeoutOption(timeoutSeconds)]),
	];
	return [
		...ids,
		...(body?.isForm ? [binaryFieldName('the file to upload')] : []),
		...single,
		...(paging ? [returnAll, limit] : []),
		...groups,
		...(operation.simplify ? simplifyFields : []),
		...(options.length > 0 ? [optionsField(options)] : []),
	];
}
