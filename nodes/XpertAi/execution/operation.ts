import { isEmpty, pick } from 'lodash';
import type {
	IDataObject,
	IDisplayOptions,
	INodeExecutionData,
	INodeProperties,
} from 'n8n-workflow';
import type { ZodTypeAny } from 'zod';

import type { IdentityOptions } from '../payloads/identity';
import { type AnswerSchema, listAnswerSchema, recordSchemaWith } from '../transport/answerSchemas';
import type { ApiRequest } from '../transport/request';
import type { FieldValues } from './fieldBuilders';
import type { StatusAdvice } from './apiError';
import type { Item } from './item';

/** The number of an endpoint in the API contract, E1 to E17. `beyond` is an endpoint outside the contract. */
type EndpointNumber = `E${number}` | 'beyond';

/** The keys that Simplify keeps, or a function that simplifies a result. */
type Simplification = string[] | ((result: IDataObject) => IDataObject);

interface OperationInfo {
	value: string;
	name: string;
	/** The name in n8n's nodes panel. Default: name and resource, e.g. `Get assistant`. */
	action?: string;
	/** The endpoint of the main request. A test generates a table in `docs/endpoints.md` from this property. */
	endpoint: EndpointNumber;
	/** Replaces `endpoint` on servers that support only the API contract. */
	fallbackEndpoint?: EndpointNumber;
	description: string;
	/** Additional information for n8n's AI workflow builder. */
	builderHint?: string;
	/** When the editor shows the operation. Default: always. */
	displayOptions?: IDisplayOptions;
}

/** The request body of an operation: a JSON object, a JSON list or a form. */
export interface OperationBody {
	/** Whether the body is a multipart form with a file of the item. */
	isForm?: true;
	/** The fields of the body. By default, the name of a field is its key in the body. */
	fields: INodeProperties[];
	/** The node checks the body with this schema, because servers check almost nothing. */
	schema: ZodTypeAny;
	/** Builds the body from the field values. Default: the values are the body. */
	compose?: (values: FieldValues) => unknown;
	/** Maps body paths to field names for messages, e.g. `assistant.id` to `assistantId`. */
	fieldByPath?: Record<string, string>;
	/** Splits a long list into the bodies of several requests. */
	split?: (body: unknown) => unknown[];
	/** Body paths that the node sets. Additional Fields (JSON) must not contain these paths. */
	reserved?: string[];
}

/** Values for the placeholders of a path, by name. */
export type PathValues = Record<string, string>;

/** The schema of an answer, or a function that creates the schema from the path values. */
type AnswerSchemaSource = AnswerSchema | ((asked: PathValues) => AnswerSchema);

/** The result of a precheck. */
export interface PrecheckResult {
	/** If this key is present, the node outputs its value instead of sending the main request. */
	answer?: unknown;
	/** Values for path placeholders such as `{messageId!}`, by name. */
	pathValues?: Record<string, string>;
}

/**
 * Runs before the main request of an item, e.g. to find IDs for the path.
 *
 * @throws NodeApiError or NodeOperationError if the main request must not be sent
 */
export type Precheck = (item: Item, path: PathValues, timeoutMs: number) => Promise<PrecheckResult>;

/**
 * Sends the main request of an item.
 *
 * @param further values to add to the body
 * @param options `repeatable`: whether the request can safely be sent twice; default: that of the operation
 * @returns the parsed answer
 */
export type SendRequest = (
	further?: IDataObject,
	options?: { repeatable: boolean },
) => Promise<unknown>;

type Method = ApiRequest['method'];

/** The declaration of an operation that `runDeclared` runs. */
interface Declaration extends OperationInfo {
	/** The fields for IDs in the path. Each field has the name of its placeholder. */
	idFields?: INodeProperties[];
	/**
	 * The method, and the path below the API root. The path can contain placeholders:
	 * - `{name}`: the value of the parameter `name`
	 * - `{name*}`: the list of IDs in the parameter `name`, split if it is too long for one URL
	 * - `{name!}`: an ID from `precheck`
	 */
	route: `${Method} /${string}`;
	/** For endpoints with `limit` and `offset`. `resultsKey` is the key of the list in an answer object. */
	paging?: { resultsKey?: string };
	/** The schema of the answer, or the keys that must have a value in the answer. Default: `listAnswerSchema`. */
	answerSchema?: string[] | AnswerSchemaSource;
	body?: OperationBody;
	/**
	 * Optional fields that select records or their owner. If an expression in such a field gives nothing, the item is
	 * rejected.
	 */
	selectingFieldOptions?: Record<string, IdentityOptions>;
	precheck?: Precheck;
	/** Runs if an item gets an empty list, e.g. to throw an error if the record of the list does not exist. */
	onEmptyList?: (...asked: Parameters<Precheck>) => Promise<unknown>;
	/** Options of this operation, in addition to general options such as Timeout. */
	options?: INodeProperties[];
	/** The constant body of a PUT request that only reads. */
	fixedBody?: IDataObject;
	/**
	 * Converts the answer to the JSON of the output items. Default: `deletionOutput` for DELETE, otherwise `answerItems`.
	 *
	 * @param asked the request body, or the path values of a request without a body; undefined if the answer comes from
	 * `precheck`
	 */
	toOutput?: (answer: unknown, asked: unknown) => IDataObject[];
	/** The default of the option Timeout, in seconds. */
	defaultTimeoutSeconds?: number;
	/**
	 * Whether the request can be sent twice without harm, e.g. after a timeout. `onlyReads` also depends on this
	 * property. Default: true for GET or if `paging` is set.
	 */
	repeatable?: boolean;
	/** Sends the main request by calling `send`. Default: one call without arguments. */
	sendMainRequest?: (item: Item, send: SendRequest) => Promise<unknown>;
	/** Advice for HTTP statuses that have a special meaning in this operation. */
	statusAdvice?: StatusAdvice;
	/** Returns a hint about the answers for all items. n8n shows the hint above the output. */
	answersHint?: (answers: unknown[]) => string | undefined;
	/** How to simplify a result. Without this property, the operation has no Simplify switch. */
	simplify?: Simplification;
}

/** Splits the route into method and path, and sets the defaults of `repeatable` and `answerSchema`. */
export function declare(declaration: Declaration) {
	const { route, paging, answerSchema = listAnswerSchema(paging?.resultsKey) } = declaration;
	const [method, path] = route.split(' ') as [Method, string];
	return {
		method,
		path,
		repeatable: method === 'GET' || paging !== undefined,
		...declaration,
		answerSchema: Array.isArray(answerSchema) ? recordSchemaWith(...answerSchema) : answerSchema,
	};
}

/** An operation that `runDeclared` runs. */
export type DeclaredOperation = ReturnType<typeof declare>;

/** The input of an operation: n8n's execution context and the input items. */
export interface Execution {
	context: Item['context'];
	/** The input items, each with its own parameters and credential. */
	items: Item[];
}

/** An operation with its own `execute` function, e.g. Document: Submit. */
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

/** Whether an operation has its own `execute` function. */
export const isCoded = (one: Operation): one is CodedOperation => 'execute' in one;

/** Simplifies a result. A result stays unchanged if it has none of the keys in `simplification`. */
export function simplified(simplification: Simplification, result: IDataObject): IDataObject {
	if (typeof simplification === 'function') return simplification(result);
	const kept = pick(result, simplification);
	return isEmpty(kept) ? result : kept;
}

/**
 * Whether an operation only reads. The node processes the items of such operations in parallel. A repeatable request
 * counts as a read, except PATCH, and PUT without `fixedBody`.
 */
export function onlyReads({ method, repeatable, fixedBody }: DeclaredOperation): boolean {
	const changes = (method === 'PUT' && !fixedBody) || method === 'PATCH';
	return repeatable && !changes;
}
