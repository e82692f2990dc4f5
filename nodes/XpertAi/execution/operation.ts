import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
} from 'n8n-workflow';
import type { ZodTypeAny } from 'zod';

import type { AnswerCheck } from '../transport/answer';
import type { ApiRequest } from '../transport/request';
import type { Field, FieldValues } from './fields';
import type { StatusHints } from './hints';
import type { NamedId } from './ids';
import type { Item } from './item';
import type { Simplification } from './outputs';

/** What every operation tells the editor. */
interface OperationInfo {
	value: string;
	name: string;
	action: string;
	description: string;
	/** What n8n's own AI must know to build with it, where the description does not say it. */
	builderHint?: string;
	/** Its number in the contract, or that it is an Xpert server's own. */
	endpoint: `E${number}` | 'extension';
}

/** The JSON body of an operation: its fields in the editor and the schema both ways of giving it must meet. */
export interface JsonBody {
	/** Fields shown for "Body: Fields"; a field's name is the body's key unless `compose` says otherwise. */
	fields: Field[];
	/** Optional fields of the body that stand in Options. */
	options?: INodeProperties[];
	/** What the body must look like; real servers check almost nothing. */
	schema: ZodTypeAny;
	/** Turns the field values into the body; without it the values are the body. */
	compose?: (values: FieldValues) => unknown;
	/** The fields that places of a composed body come from, by their names, e.g. `assistant.id` from `assistantId`. */
	sources?: Record<string, string>;
	/** Places of the body that hold ids of records, e.g. `where.xpertId`; what is none is refused, messages name them. */
	ids?: string[];
	/** The bodies it is sent as, one after another, where servers had better get less at a time. */
	split?: (body: unknown) => unknown[];
	/** What the JSON field starts with, as an example of the body. */
	example: string;
	/** Whether the contract does not show this body, so that JSON mode takes anything. */
	notShown?: boolean;
}

/** A file of the item, sent as multipart form, with text parts beside it; or a JSON body, as the contract has it. */
export interface FileBody {
	/** Fields of the text parts; a field's name is the part's. */
	parts: Field[];
	schema: ZodTypeAny;
	/** The parts that hold ids of records; what is none is refused. */
	ids?: string[];
}

/** A list endpoint that takes `limit` and `offset`. */
export interface Paging {
	/** Key of the results in the answer; without it the answer itself is the list. */
	resultsKey?: string;
}

/** What becomes of an operation that has looked first: an answer in place of its own, or the ids its path wants. */
export interface Decision {
	answer?: unknown;
	found?: Record<string, string>;
}

/** A read that comes before an operation, for servers that carry out whatever they are asked. */
export interface LookFirst {
	method: 'GET' | 'POST';
	/** With ids of the operation's own path. */
	path: string;
	/** Options that say what to look for, or what to decide. */
	options: Field[];
	/** What to ask for, by the item's options. */
	body?: (item: Item) => unknown;
	/** What is wrong with an answer that nothing can be decided by. */
	checkAnswer: (answer: unknown, ids: NamedId[]) => ReturnType<AnswerCheck>;
	/** @throws NodeOperationError where the operation must not go on */
	decide: (answer: unknown, item: Item) => Decision;
}

/** The names of the ids in a path that have a field; `{name!}` is found by looking first. */
type IdsIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
	?
			| (Name extends `${string}!` ? never : Name extends `${infer Listed}*` ? Listed : Name)
			| IdsIn<Rest>
	: never;

/** The field of each id in a path: an id that no field is named after is a type error. */
type PathIds<Path extends string> = [IdsIn<Path>] extends [never]
	? { ids?: Record<string, Field> }
	: { ids: Record<IdsIn<Path>, Field> };

/** An operation that is one request an item: plain data, run by one loop. */
export type DeclaredOperation<Path extends string = string> = OperationInfo &
	PathIds<Path> & {
		method: ApiRequest['method'];
		/** Path below the API root; `{name}` stands for the parameter of that name, `{name*}` for a list of ids, in as many requests as it needs, `{name!}` for what looking first found. */
		path: Path;
		body?: JsonBody | FileBody;
		/** What is read and decided before anything is sent. */
		lookFirst?: LookFirst;
		/** The body of every request of what only reads, though its route takes changes. */
		fixedBody?: IDataObject;
		paging?: Paging;
		/**
		 * Turns the answer (for lists, the array of results) into the JSON of output items; without it an
		 * object is one item and an array one item for each element.
		 *
		 * @param asked what the request asked for: its body, or the ids where the path lists some
		 */
		shape?: (answer: unknown, asked: unknown) => IDataObject[];
		/** How long to wait for the answer when Timeout is not set. */
		timeoutSeconds?: number;
		/** Whether the same request may arrive twice without harm, so that it is sent again when its answer is lost. */
		repeatable?: boolean;
		/**
		 * What is wrong with an answer that is not the one recorded; lists need a list in any case.
		 *
		 * @param ids those in the path
		 */
		checkAnswer?: (answer: unknown, ids: NamedId[]) => ReturnType<AnswerCheck>;
		/** How to go on after a status that has a meaning of its own here. */
		statusHints?: StatusHints;
		/** What the user should know of an answer, in a hint. */
		remark?: (answer: unknown) => string | undefined;
		/** What Simplify keeps; an operation without it has no Simplify switch. */
		simplify?: Simplification;
	};

/** Declares an operation, holding its path against the fields of its ids. */
export function declare<const Path extends string>(
	operation: DeclaredOperation<Path>,
): DeclaredOperation {
	return operation;
}

/** What an operation with code of its own is given. */
export interface Execution {
	context: IExecuteFunctions;
	/** The input items, which read the operation's parameters and send its requests, each with its own credential. */
	items: Item[];
}

/** An operation that needs code of its own: bulk submission, and run and wait. */
export interface CodedOperation extends OperationInfo {
	fields: Field[];
	/** The request its work comes down to, for whoever holds the node against a server; `body` is what it may send. */
	request: { method: 'GET' | 'POST'; path: string; body?: ZodTypeAny };
	/** Runs over all input items; every output item carries its `pairedItem`. */
	execute: (execution: Execution) => Promise<INodeExecutionData[]>;
}

export type Operation = DeclaredOperation | CodedOperation;

/** A group of operations, as the editor's Resource list shows it. */
export interface Resource {
	value: string;
	name: string;
	operations: Operation[];
}

/** Whether an operation brings code of its own. */
export function isCoded(operation: Operation): operation is CodedOperation {
	return 'execute' in operation;
}

/** Whether an operation changes nothing, so that its items may go side by side. */
export function onlyReads({ method, repeatable = false, fixedBody }: DeclaredOperation): boolean {
	const changes = (method === 'PUT' && !fixedBody) || method === 'PATCH';
	return repeatable && !changes;
}

/** Whether a body is a file. */
export function isFileBody(body: JsonBody | FileBody): body is FileBody {
	return 'parts' in body;
}
