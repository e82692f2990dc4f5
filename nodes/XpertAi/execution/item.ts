import { attempt, isUndefined, omitBy, pick, pickBy } from 'lodash';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
} from 'n8n-workflow';

import type { Call } from '../transport/call';
import type { Failure } from '../transport/failure';
import type { Connection } from '../transport/request';
import { isIdField } from './fields';
import { type HintContext, type ItemError, type NamedId, apiError, callOrThrow } from './apiError';
import { Reader, chosenId } from './userInput';

/**
 * An input item: reads the parameters of the operation, sends requests, and creates outputs and errors. If there are
 * several items, messages about parameters name the item.
 */
export class Item extends Reader {
	/**
	 * Set by operations that take long: describes the state of this item's work for n8n's log, `minutes` after its
	 * start.
	 */
	progress?: (minutes: number) => string;

	/**
	 * @param fields the parameters of the operation, with their display names and defaults
	 * @param connection sends the requests of the item
	 */
	constructor(
		readonly context: IExecuteFunctions,
		override readonly index: number,
		fields: INodeProperties[],
		readonly connection: Connection,
	) {
		// n8n's validation is skipped: it would search all fields of the node for each value, and the node checks
		// values itself.
		const resolve: Reader['resolve'] = (name, initial) =>
			context.getNodeParameter(name, index, initial, { skipValidation: true });
		const suffix = context.getInputData().length > 1 ? ` [item ${index}]` : '';
		super(context.getNode(), fields, resolve, 'Nothing was sent for this item.', index, suffix);
	}

	/**
	 * The error for a failed request of this item.
	 *
	 * @param body the JSON of the request: the error names those IDs in it that come from parameters
	 */
	apiError(failure: Failure, { ids = [], ...hints }: HintContext = {}, body = ''): NodeApiError {
		return apiError(failure, {
			...hints,
			ids: [...this.idsIn(`${failure.path}"${body}`), ...ids],
			node: this.node,
			itemIndex: this.index,
		});
	}

	/**
	 * The IDs in a request that come from fields of the operation. They are in reverse order of the fields, because the
	 * record of the last field is the most likely one to be missing.
	 *
	 * @param request the path and the body of the request
	 */
	private idsIn(request: string): NamedId[] {
		const parts = request.split(/[/"?]/);
		const own = this.fields.filter(isIdField).reverse();
		return own.flatMap(({ name, displayName }) => {
			// Errors in expressions are ignored: a field that the panel hides may still have a broken expression.
			const id = chosenId(attempt(() => this.resolve(name, '')));
			const forms = typeof id === 'string' ? [id, encodeURIComponent(id.toWellFormed())] : [];
			const isSent = id !== '' && forms.some((form) => parts.includes(form));
			return isSent ? [{ field: `"${displayName}"`, id: String(id) }] : [];
		});
	}

	/**
	 * Converts a caught value to an n8n error about this item. An n8n error is returned itself, and gets the item's
	 * index if it has no index.
	 */
	asError(caught: unknown): ItemError {
		if (caught instanceof NodeApiError || caught instanceof NodeOperationError) {
			caught.context.itemIndex ??= this.index;
			return caught;
		}
		const cause = caught instanceof Error ? caught : new Error(String(caught));
		return new NodeOperationError(this.node, cause, { itemIndex: this.index });
	}

	/** An output item paired with this item. */
	output(json: IDataObject): INodeExecutionData {
		return { json, pairedItem: { item: this.index } };
	}

	/**
	 * The output item for a failure. If On Error is "Continue (using error output)", n8n moves this item to the error
	 * output and adds the fields of the input item.
	 *
	 * @param facts further details to output
	 */
	failed(error: ItemError, facts: IDataObject = {}): INodeExecutionData {
		const { message, description, context } = error;
		const { method, path, requestId } = (context.data ?? {}) as Partial<Failure>;
		const httpCode = error instanceof NodeApiError && error.httpCode;
		const request = path && `${method} ${path}`;
		const known = pickBy({ description, httpCode, request, requestId });
		const details = { ...runFacts(error), ...omitBy(facts, isUndefined), ...known };
		const item = this.output({ error: message, details });
		// Before version 2.39, n8n recognizes a failed item by its `error`, and then reduces the JSON of an item that
		// still has `error` to the message. In between, n8n copies the item. The copy lacks an `error` that is not
		// enumerable, so its JSON stays whole.
		if (this.node.onError !== 'continueErrorOutput') return item;
		return Object.defineProperty(item, 'error', { value: error, enumerable: false });
	}

	/** The input item itself, with its JSON and its binary fields. */
	get input(): INodeExecutionData {
		return this.context.getInputData()[this.index] as INodeExecutionData;
	}

	/**
	 * Throws if the credential of this item differs from that of the first item. For operations that send all items
	 * together, with the credential of the first item.
	 *
	 * @throws NodeOperationError
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
	 * @returns the parsed answer
	 * @throws NodeApiError if the request fails
	 */
	async call<Answer>(request: Call<Answer>, hints?: HintContext): Promise<Answer> {
		const body = typeof request.body === 'string' ? request.body : undefined;
		const toError = (failure: Failure) => this.apiError(failure, hints, body);
		return (await callOrThrow(this.context, this.connection.send, request, toError)).answer;
	}
}

/**
 * What the error of a run tells about the run: the IDs by which a user can look the run up, its status and, as
 * `unverified`, an answer that could not be checked against the thread. Empty for other errors.
 */
export function runFacts({ context }: ItemError): IDataObject {
	const { verdict: status, ...facts } = (context.data ?? {}) as IDataObject;
	const shown = pick(facts, ['threadId', 'conversationId', 'runId', 'unverified']);
	return omitBy({ ...shown, status }, isUndefined);
}
