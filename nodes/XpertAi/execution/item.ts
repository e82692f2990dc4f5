import { attempt, has, isEmpty, isString, isUndefined, omitBy, pickBy, truncate } from 'lodash';
import {
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeProperties,
	NodeApiError,
	NodeOperationError,
} from 'n8n-workflow';

import type { RetryableRequest } from '../transport/call';
import type { Failure } from '../transport/failure';
import type { Connection } from '../transport/request';
import {
	type AdviceContext,
	apiError,
	callOrThrow,
	type ItemError,
	type NamedId,
} from './apiError';
import { type ExpressionScope, fieldByError } from './expressions';
import { idFromInput } from './fieldSchemas';
import { isIdField } from './fieldBuilders';
import { fieldLabel } from './issueText';
import { resolveParameter } from './parameters';
import { ParameterReader } from './parameterReader';
import { redactIds, runDetailsIn } from './runDetails';

/** An input item. Reads the parameters of the operation, sends requests, and creates outputs and errors. */
export class Item extends ParameterReader {
	/** Returns a progress message for n8n's log. Long operations set this function. */
	progress?: (minutes: number) => string;
	/** Where the expressions of this item are evaluated. */
	readonly expressionScope: ExpressionScope;

	/**
	 * @param fields the parameters of the operation
	 * @param connection sends the requests of the item
	 */
	constructor(
		readonly context: IExecuteFunctions,
		override readonly index: number,
		fields: INodeProperties[],
		readonly connection: Connection,
	) {
		const node = context.getNode();
		const place: ExpressionScope = { context, index, node };
		const resolve: ParameterReader['readWithoutChecks'] = (name, initial) =>
			resolveParameter(place, name, initial);
		const suffix = context.getInputData().length > 1 ? ` [item ${index}]` : '';
		super(node, fields, resolve, 'Nothing was sent for this item.', index, suffix);
		this.expressionScope = place;
	}

	/**
	 * Removes the values of expressions from the cache, because they can be large. Call this when the parameters of the
	 * item are no longer needed. Keeps IDs, because a later error may name them.
	 */
	forgetValues(): void {
		const { expressionScope: place } = this;
		for (const path of place.cachedValues?.keys() ?? []) {
			// The expression of a resource locator is below its key `value`.
			const field = this.fieldOf(path.replace(/\.value$/, ''));
			if (!field || !isIdField(field)) place.cachedValues?.delete(path);
		}
		if (place.cachedValues?.size === 0) place.cachedValues = undefined;
	}

	/**
	 * Returns the error for a failed request of this item. An error with status 403 or 404 can name ID parameters whose
	 * values occur in the request.
	 *
	 * @param body the request body as JSON text
	 */
	apiError(
		failure: Failure,
		{ ids = [], ...context }: AdviceContext = {},
		body = '',
	): NodeApiError {
		return apiError(failure, {
			...context,
			// `idsIn` splits the text at each quote, so the quote separates the path from the body.
			ids: [...this.idsIn(`${failure.path}"${body}`), ...ids],
			timeLimitOption: this.timeLimitOption,
			node: this.node,
			itemIndex: this.index,
		});
	}

	/** The name of the option that limits the time of a request (see `AdviceContext`); undefined if there is none. */
	private get timeLimitOption(): string | undefined {
		const operation = String(this.node.parameters.operation);
		const isShown = (name: string) => {
			const field = this.fieldOf(name);
			if (!field) return false;
			return field.displayOptions?.show?.['/operation']?.includes(operation) ?? true;
		};
		const limits = ['options.timeout', 'tuning.timeout', 'options.deadlineMinutes'];
		const shown = limits.find(isShown);
		return shown && `"${this.labelOf(shown)}" under ${this.labelOf(shown.replace(/\..*/, ''))}`;
	}

	/**
	 * Finds the ID parameters whose values occur in a request. The last parameter comes first, because its record is the
	 * most likely to be missing.
	 *
	 * @param request the path and the body of the request
	 */
	private idsIn(request: string): NamedId[] {
		const parts = request.split(/[/"?]/);
		return idFieldPaths(this.fields).flatMap((path) => {
			// A hidden field can contain a broken expression, so errors are ignored.
			const id = idFromInput(attempt(() => this.readWithoutChecks(path.join('.'), '')));
			const forms = typeof id === 'string' ? [id, encodeURIComponent(id.toWellFormed())] : [];
			const isSent = id !== '' && forms.some((form) => parts.includes(form));
			return isSent ? [{ label: fieldLabel(path, { fields: this.fields }), id: String(id) }] : [];
		});
	}

	/** Converts a caught value to an n8n error. Adds the index of this item if the error has no item index. */
	asError(caught: unknown): ItemError {
		if (caught instanceof NodeApiError || caught instanceof NodeOperationError) {
			caught.context.itemIndex ??= this.index;
			return caught;
		}
		const cause = caught instanceof Error ? caught : new Error(String(caught));
		const field = fieldByError.get(cause);
		// n8n tells the field of an expression only in the folded details of its error.
		if (field === undefined)
			return new NodeOperationError(this.node, cause, { itemIndex: this.index });
		const { description } = cause as { description?: unknown };
		// With a `descriptionKey`, the editor has a text of its own.
		const hasOwnText = isString(description) || has(cause, 'context.descriptionKey');
		return new NodeOperationError(this.node, cause, {
			itemIndex: this.index,
			message: `${fieldLabel(field.split('.'), { fields: this.fields })} cannot be evaluated: ${cause.message}${this.suffix}`,
			...(!hasOwnText && { description: `${this.unsent} ${FAILED_EXPRESSION_ADVICE}` }),
		});
	}

	/** Adds the index of this item to the message of an error that stops the workflow, if there are several items. */
	addIndexToMessage(error: ItemError): ItemError {
		if (!error.message.endsWith(this.suffix)) error.message += this.suffix;
		return error;
	}

	/** Creates an output item that is paired with this input item. */
	output(json: IDataObject): INodeExecutionData {
		return { json, pairedItem: { item: this.index } };
	}

	/**
	 * Creates the output item for a failure. If an assistant run failed, the field `error` of the item has no IDs,
	 * because a chat or a webhook may show it to visitors. The field `details` then has the whole message.
	 *
	 * @param facts more details for the output item
	 */
	failureOutput(error: ItemError, facts: IDataObject = {}): INodeExecutionData {
		const { message, description, context } = error;
		const { method, path, requestId } = (context.data ?? {}) as Partial<Failure>;
		const httpCode = error instanceof NodeApiError && error.httpCode;
		const request = path && `${method} ${path}`;
		const run = runDetailsIn(error);
		const shown = 'status' in run ? redactIds(message) : message;
		const whole = shown !== message && message;
		const known = pickBy({ message: whole, description, httpCode, request, requestId });
		const details = { ...run, ...omitBy(facts, isUndefined), ...known };
		const item = this.output({ error: shown, details });
		// n8n before version 2.39 sends the item to the error output only if `item.error` is set.
		// With an enumerable `item.error`, n8n removes `details` from the output.
		if (this.node.onError !== 'continueErrorOutput') return item;
		return Object.defineProperty(item, 'error', { value: error, enumerable: false });
	}

	/** The input item from n8n, with JSON and binary fields. */
	get input(): INodeExecutionData {
		return this.context.getInputData()[this.index] as INodeExecutionData;
	}

	override get emptyItemAdvice(): string | undefined {
		const { json, binary } = this.input;
		return isEmpty(json) && isEmpty(binary) ? EMPTY_ITEM_ADVICE : undefined;
	}

	override get fieldsInWords(): string {
		const names = Object.keys(this.input.json).map((name) => truncate(name, { length: 40 }));
		if (names.length === 0) return '';
		return `The item has ${names.slice(0, MAX_FIELDS_IN_ERROR).join(', ')}${names.length > MAX_FIELDS_IN_ERROR ? ', …' : ''}. `;
	}

	/**
	 * Checks that this item and the first item have the same credential data.
	 *
	 * @throws NodeOperationError if the credential data differs
	 */
	checkSameCredential(first: Item): void {
		if (this.connection === first.connection) return;
		throw this.operationError(
			`The credential gives another server or token for this item than for item ${first.index}${this.suffix}`,
			'This operation sends all items together, with one credential. Put it into a loop, or into a sub-workflow for each credential.',
		);
	}

	/**
	 * Sends a request of this item, with retries.
	 *
	 * @param body the body as JSON text; for a form, its fields as JSON text. An error can name the ID parameters whose
	 * values occur in it.
	 * @returns the parsed answer
	 * @throws NodeApiError if the request fails
	 */
	async call<Answer>(
		request: RetryableRequest<Answer>,
		advice?: AdviceContext,
		body = typeof request.body === 'string' ? request.body : undefined,
	): Promise<Answer> {
		const toError = (failure: Failure) => this.apiError(failure, advice, body);
		return (await callOrThrow(this.context, this.connection.send, request, toError)).answer;
	}
}

const FAILED_EXPRESSION_ADVICE =
	'Correct the expression, or leave items that it cannot take out before, with a Filter node.';

/** The maximum number of fields of an item that an error names. */
const MAX_FIELDS_IN_ERROR = 5;

/** If the node before has "Always Output Data" and no output, n8n runs this node with one empty item. */
const EMPTY_ITEM_ADVICE =
	'The item itself is empty: the node before found nothing and has "Always Output Data" switched on, or is a manual trigger. Look at the output of that node, and have it give the data, or no item.';

/** The paths of the ID fields, also of those in collections, last field first. */
const idFieldPaths = (fields: INodeProperties[]): string[][] =>
	fields
		.flatMap((field) => {
			if (isIdField(field)) return [[field.name]];
			if (field.type !== 'collection') return [];
			const inside = (field.options as INodeProperties[]).filter(isIdField);
			return inside.map(({ name }) => [field.name, name]);
		})
		.reverse();
