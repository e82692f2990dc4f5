import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
} from 'n8n-workflow';
import type { ZodTypeAny } from 'zod';

import type { StatusHints } from '../execution/hints';
import type { AnswerCheck } from '../transport/answer';
import type { Send } from '../transport/request';

/** What every operation tells the editor. */
interface OperationFace {
	value: string;
	name: string;
	action: string;
	description: string;
	/** Its number in the contract, or that it is an Xpert server's own. */
	endpoint: `E${number}` | 'extension';
}

/** Values read from the fields of an item, by the field's name. */
export type FieldValues = Record<string, unknown>;

/** The JSON body of an operation: its fields in the editor and the schema both ways of giving it must meet. */
export interface JsonBody {
	/** Fields shown for "Body: Fields"; a field's name is the body's key unless `compose` says otherwise. */
	fields: INodeProperties[];
	/** What the body must look like; real servers check almost nothing. */
	schema: ZodTypeAny;
	/** Turns the field values into the body; without it the values are the body. */
	compose?: (values: FieldValues) => unknown;
	/** Display names for paths of a composed body that no field is named after, e.g. `assistant.id`. */
	labels?: Record<string, string>;
	/** Places of the body that hold ids of records, e.g. `where.xpertId`; messages name them. */
	ids?: string[];
	/** What the JSON field starts with, as an example of the body. */
	example: string;
	/** Whether the contract does not show this body, so that JSON mode takes anything. */
	notShown?: boolean;
}

/** A list endpoint that takes `limit` and `offset`. */
export interface Paging {
	/** Key of the results in the answer; without it the answer itself is the list. */
	resultsKey?: string;
}

/** An operation that is one request an item: plain data, run by one loop. */
export interface DeclaredOperation extends OperationFace {
	method: 'GET' | 'POST' | 'PUT' | 'DELETE';
	/** Path below the API root; `{name}` stands for the parameter of that name, `{name*}` for a list of ids, in as many requests as it needs. */
	path: string;
	/** Fields that are not part of the body, such as the id in the path. */
	fields?: INodeProperties[];
	body?: JsonBody;
	paging?: Paging;
	/**
	 * Turns the answer (for lists, the array of results) into the JSON of output items; without it an
	 * object is one item and an array one item for each element.
	 */
	shape?: (answer: unknown) => IDataObject[];
	/** How long to wait for the answer when Timeout is not set. */
	timeoutSeconds?: number;
	/** Whether the same request may arrive twice without harm, so that it is sent again when its answer is lost. */
	repeatable?: boolean;
	/** What the answer must be for items to be made of it; lists need a list in any case. */
	flawIn?: AnswerCheck;
	/** How to go on after a status that has a meaning of its own here. */
	statusHints?: StatusHints;
	/** What Simplify keeps; an operation without it has no Simplify switch. */
	simplify?: Simplification;
}

/** The keys Simplify keeps of a result, or what it makes of it. */
export type Simplification = string[] | ((result: IDataObject) => IDataObject);

/** What an operation with code of its own is given. */
export interface OperationContext {
	context: IExecuteFunctions;
	send: Send;
}

/** An operation that needs code of its own: bulk submission, run and wait, uploads. */
export interface CodedOperation extends OperationFace {
	properties: INodeProperties[];
	/** Runs over all input items; every output item carries its `pairedItem`. */
	execute: (operation: OperationContext) => Promise<INodeExecutionData[]>;
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
