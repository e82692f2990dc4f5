import attempt from 'lodash/attempt';
import isUndefined from 'lodash/isUndefined';
import omitBy from 'lodash/omitBy';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
} from 'n8n-workflow';

import { toNodeApiError, type Failure } from '../transport/failure';
import type { Connection } from '../transport/request';
import { issueMessage, type Refuse } from './inputIssues';
import { idsInPath, timeLimitOf, wordsFor, type HintContext } from './hints';
import { operationError, type ItemError } from './outputs';

/** The output of an item, and its errors, which name it if there are several. */
export class ItemOutput {
	/**
	 * @param fields the parameters of the operation, with their display names and defaults
	 * @param connection sends the requests of the item
	 */
	constructor(
		readonly context: IExecuteFunctions,
		readonly index: number,
		protected readonly fields: INodeProperties[],
		protected readonly connection: Connection,
	) {}

	/** Suffix of messages that names the item, if there are several. */
	get suffix(): string {
		return this.context.getInputData().length > 1 ? ` [item ${this.index}]` : '';
	}

	/** Throws: a value cannot be sent. */
	readonly refuse: Refuse = (flaw) => {
		const { fix = 'Correct the value, or the expression or column it comes from.' } = flaw;
		const description = `Nothing was sent for this item. ${fix}`;
		throw this.operationError(`${issueMessage(flaw)}${this.suffix}`, description);
	};

	/** An error of the node for this item. */
	operationError(message: string, description?: string): NodeOperationError {
		return operationError(this.context.getNode(), message, { itemIndex: this.index, description });
	}

	/** The error for a failed request of this item. */
	apiError(failure: Failure, hintContext: HintContext = {}): NodeApiError {
		// The expression of a field that is hidden may be broken.
		const valueOf = (name: string) =>
			attempt(() => this.context.getNodeParameter(name, this.index, ''));
		const own = idsInPath(failure.path, this.fields, valueOf);
		const words = wordsFor(failure, {
			...hintContext,
			ids: [...own, ...(hintContext.ids ?? [])],
			timeLimit: timeLimitOf(this.fields, valueOf('operation')),
		});
		const node = this.context.getNode();
		return toNodeApiError(failure, { ...words, node, itemIndex: this.index });
	}

	/** Converts anything thrown for this item to an error that n8n shows. */
	asError(caught: unknown): ItemError {
		if (caught instanceof NodeApiError || caught instanceof NodeOperationError) {
			caught.context.itemIndex ??= this.index;
			return caught;
		}
		const cause = caught instanceof Error ? caught : new Error(String(caught));
		return new NodeOperationError(this.context.getNode(), cause, { itemIndex: this.index });
	}

	/** An output item paired with this item. */
	output(json: IDataObject): INodeExecutionData {
		return { json, pairedItem: { item: this.index } };
	}

	/**
	 * The output item for a failure. If On Error says so, n8n moves it to the error output and adds the fields of the
	 * input item.
	 *
	 * @param facts further details
	 */
	failed(error: ItemError, facts: IDataObject = {}): INodeExecutionData {
		const { message, description, node } = error;
		const details = omitBy(facts, isUndefined);
		if (description) details.description = description;
		if (error instanceof NodeApiError) {
			if (error.httpCode) details.httpCode = error.httpCode;
			const { method, path, requestId } = (error.context.data ?? {}) as Partial<Failure>;
			if (path) details.request = `${method} ${path}`;
			if (requestId) details.requestId = requestId;
		}
		const item = this.output({ error: message, details });
		// Hosts before n8n 2.39 know a failed item by an `error` on it, and drop the rest of its JSON. One that is not
		// enumerable is seen when items are sorted and is lost in the copy that is output, so the JSON stays whole.
		if (node?.onError !== 'continueErrorOutput') return item;
		return Object.defineProperty(item, 'error', { value: error, enumerable: false });
	}
}
