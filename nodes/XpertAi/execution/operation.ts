import type {
	IDataObject,
	IDisplayOptions,
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
} from 'n8n-workflow';
import type { ZodTypeAny } from 'zod';

import type { AnswerSchema } from '../transport/answer';
import type { ApiRequest } from '../transport/request';
import type { FieldValues } from './fields';
import type { StatusHints } from './hints';
import type { Item } from './item';
import type { Simplification } from './outputs';

/** The number of an endpoint in the contract, the API's specification; or that it has none for the operation. */
export type Endpoint = `E${number}` | 'beyond';

/** What every operation says of itself. */
interface OperationInfo {
	value: string;
	name: string;
	action: string;
	/** The endpoint of its main request; the tables of the documentation are made of it. */
	endpoint: Endpoint;
	/** The endpoint for servers that know only the contract. */
	fallback?: Endpoint;
	description: string;
	/** What n8n's AI builder must know beyond the description. */
	builderHint?: string;
	/** Where it is offered, if not everywhere. */
	displayOptions?: IDisplayOptions;
}

/** The body of an operation: a JSON object or list, or a form. */
export interface OperationBody {
	/** Whether it is a form with a file of the item, and with the fields as text parts. */
	isForm?: true;
	/** Named after the keys of the body unless `compose` maps them. */
	fields: INodeProperties[];
	/** Optional fields of the body in Options. */
	options?: INodeProperties[];
	/** The schema of the body; real servers check almost nothing. */
	schema: ZodTypeAny;
	/** Maps the field values to the body; without it the values are the body. */
	compose?: (values: FieldValues) => unknown;
	/** Maps paths of a composed body to field names, e.g. `assistant.id` to `assistantId`. */
	fieldByPath?: Record<string, string>;
	/** Paths of record IDs in the body, e.g. `where.xpertId`. Invalid IDs are refused, and messages name them. */
	ids?: string[];
	/** Splits a list that is too large for servers into several. */
	split?: (body: unknown) => unknown[];
	/** Paths of the body that the node fills in itself, which Additional Fields (JSON) must not name. */
	reserved?: string[];
}

/** The values for the placeholders of a path. */
export type PathValues = Record<string, string>;

/** What is read of an answer, or what makes it of the values in the path. */
export type AnswerForm = AnswerSchema | ((asked: PathValues) => AnswerSchema);

/** What a precheck found: an answer instead of the request, or the IDs that the path needs. */
export interface PrecheckResult {
	answer?: unknown;
	found?: Record<string, string>;
}

/** A request that is sent before the operation, for checks that the server does not make. */
export interface Precheck {
	method: 'GET' | 'POST';
	/** Path with IDs of the operation's path. */
	path: string;
	/** Options for this request and its decision. */
	options: INodeProperties[];
	/** The body of the request. */
	body?: (item: Item) => unknown;
	/** What its answer must be to allow a decision. */
	answer: AnswerForm;
	/** @throws NodeOperationError if the operation must not continue */
	evaluate: (answer: unknown, item: Item) => PrecheckResult;
}

/**
 * Sends the request of an item.
 *
 * @param further fields to add to its body
 * @param isRepeatable whether it may be sent again; by default as the operation says
 */
export type SendRequest = (further?: IDataObject, isRepeatable?: boolean) => Promise<unknown>;

/** An operation with one request per item: plain data, run by one loop. */
export type DeclaredOperation = Declaration &
	(
		| {
				/** A list with `limit` and `offset`; `resultsKey` is the key of the results, without it the answer is the list. */
				paging: { resultsKey?: string };
				answer?: undefined;
		  }
		| { paging?: undefined; answer: AnswerForm }
	);

interface Declaration extends OperationInfo {
	/** A field for each ID in the path, named as there. */
	ids?: INodeProperties[];
	method: ApiRequest['method'];
	/**
	 * Path below the API root. `{name}` is the value of that parameter; `{name*}` a list of IDs, split into several
	 * requests if it is too long; `{name!}` is found by `precheck`.
	 */
	path: string;
	body?: OperationBody;
	/** A request before the operation, to decide what to do. */
	precheck?: Precheck;
	/** The body of every request of a read-only operation whose route also changes. */
	fixedBody?: IDataObject;
	/**
	 * Converts the answer (for lists, the array of results) to the JSON of output items. Default: one item for an
	 * object, one for each element of an array.
	 *
	 * @param asked what the request asked for: its body, or the values of its path
	 */
	shape?: (answer: unknown, asked: unknown) => IDataObject[];
	/** Timeout without the option. */
	timeoutSeconds?: number;
	/** Whether the request may take effect twice, so that it is sent again if the answer is lost. */
	repeatable?: boolean;
	/** Sends the request in another way, e.g. with an ID of its own. */
	sendBody?: (item: Item, send: SendRequest) => Promise<unknown>;
	/** Hints for statuses with a special meaning. */
	statusHints?: StatusHints;
	/** A hint about the answer, for the user. */
	answerHint?: (answer: unknown) => string | undefined;
	/** What Simplify keeps; without it there is no Simplify switch. */
	simplify?: Simplification;
}

/** Declares an operation. */
export function declare(operation: DeclaredOperation): DeclaredOperation {
	return operation;
}

/** The input of an operation with its own code. */
export interface Execution {
	context: IExecuteFunctions;
	/** The input items; each reads its parameters and sends with its own credential. */
	items: Item[];
}

/** An operation with its own code: Submit, Disable and Enable, and runs. */
export interface CodedOperation extends OperationInfo {
	fields: INodeProperties[];
	/** Runs for all items; every output item has a `pairedItem`. */
	execute: (execution: Execution) => Promise<INodeExecutionData[]>;
}

export type Operation = DeclaredOperation | CodedOperation;

/** A group of operations, an entry of the editor's Resource list. */
export interface Resource {
	value: string;
	name: string;
	operations: Operation[];
}

/** Whether an operation has its own code. */
export function isCoded(operation: Operation): operation is CodedOperation {
	return 'execute' in operation;
}

/** Whether an operation changes nothing, so that items may run at once. */
export function onlyReads({ method, repeatable = false, fixedBody }: DeclaredOperation): boolean {
	const changes = (method === 'PUT' && !fixedBody) || method === 'PATCH';
	return repeatable && !changes;
}
