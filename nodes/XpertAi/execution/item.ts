import attempt from 'lodash/attempt';
import isEmpty from 'lodash/isEmpty';
import isUndefined from 'lodash/isUndefined';
import mapValues from 'lodash/mapValues';
import omitBy from 'lodash/omitBy';
import uniq from 'lodash/uniq';
import { NodeApiError, NodeOperationError, isExpression } from 'n8n-workflow';
import type {
	IBinaryData,
	IDataObject,
	IExecuteFunctions,
	IGetNodeParameterOptions,
	INodeExecutionData,
	INodeProperties,
	NodeParameterValueType,
} from 'n8n-workflow';
import { z, type AnyZodObject, type ZodTypeAny } from 'zod';

import { LONE_SURROGATE_DEMAND, idList, hasLoneSurrogate } from '../payloads/common';
import { CREDENTIAL_NAME } from '../transport/api';
import { toNodeApiError, type Failure } from '../transport/failure';
import type { Connection, Send } from '../transport/request';
import { withoutSecrets } from '../transport/sanitize';
import { callOrThrow, type RepeatableCall } from './callOrThrow';
import { checked, fieldLookup, flawMessage, jsonOf, quoted } from './badInput';
import type { Naming, Refuse } from './badInput';
import { hintFor, idsInBody, idsInPath, type HintContext } from './hints';
import { BODY_MODE, JSON_BODY, type FieldValues } from './fields';
import { chosenId, idFlaw, splitList, type NamedId } from './ids';
import { mimeTypeOf } from './mimeTypes';
import { markAsFailed, operationError, type ItemError } from './outputs';
import { fixedExpression, givenFor, isNothing } from './rawParameters';
import { readSettings, fieldSchema, fieldValues, jsonValue, typedValue } from './values';

/** Names of binary fields, none empty. */
const nameList = z.array(z.string().trim().min(1));

const booleanSchema = z.boolean();

/** A binary field of an item, and its name. */
export interface BinaryField {
	property: string;
	binary: IBinaryData;
	/** Display name of the parameter that names it. */
	parameter: string;
}

/**
 * An input item with the parameters of the operation. Reads them by type, makes the item's errors and pairs its output.
 * All methods that read throw NodeOperationError naming the parameter, the item and the requirement.
 */
export class Item {
	/**
	 * @param fields the parameters of the operation, with their display names and defaults
	 * @param connection sends the requests of the item; its secrets are removed from all errors
	 */
	constructor(
		readonly context: IExecuteFunctions,
		readonly index: number,
		private readonly fields: INodeProperties[],
		private readonly connection: Connection,
	) {}

	private get input(): INodeExecutionData | undefined {
		return this.context.getInputData()[this.index];
	}

	/** The JSON of the item. */
	get json(): IDataObject {
		return this.input?.json ?? {};
	}

	/** Sends a request with the credential of this item. */
	get send(): Send {
		return this.connection.send;
	}

	/** Stands for the server and the token of this item. */
	get account(): string {
		return this.connection.account;
	}

	/** The ID of the credential in n8n. */
	get credentialId(): string {
		return this.context.getNode().credentials?.[CREDENTIAL_NAME]?.id ?? '';
	}

	/**
	 * For operations that send all items together: refuses an item with another credential than the first.
	 *
	 * @param first the item whose credential is used
	 */
	checkSameCredential(first: Item): void {
		if (this.connection === first.connection) return;
		throw this.operationError(
			`The credential gives another server or token for this item than for item ${first.index}${this.suffix}`,
			'Nothing was sent for this item. This operation sends all items together, with one credential. Put it into a loop, or into a sub-workflow that runs once for each credential.',
		);
	}

	/** Suffix of messages that names the item, if there are several. */
	get suffix(): string {
		return this.context.getInputData().length > 1 ? ` [item ${this.index}]` : '';
	}

	/** Whether the body is given as JSON. */
	get isJsonBody(): boolean {
		return this.parameter(BODY_MODE, 'fields') === 'json';
	}

	/**
	 * Reads a parameter. All parameters are read here.
	 *
	 * @throws NodeOperationError if it is Fixed but contains an expression, or if it is required and its expression is
	 * empty
	 */
	parameter(name: string, fallback?: NodeParameterValueType, extractValue = false): unknown {
		const node = this.context.getNode();
		const flaw = fixedExpression(node, name, this.fields);
		if (flaw) return this.refuse(flaw);
		const options = extractValue ? { extractValue } : undefined;
		const value = this.resolved(name, fallback, options);
		if (isNothing(value) && this.isRequired(name)) this.refuseIfExpression(name);
		return value;
	}

	/** A text; numbers, booleans and dates from an expression are converted. */
	text(name: string, fallback = ''): string {
		const text = typedValue('string', this.parameter(name, fallback) ?? fallback);
		return typeof text === 'string' ? text : this.refuseField(name, 'must be text', text);
	}

	/** A text that is not empty. */
	filledText(name: string): string {
		const text = this.text(name);
		if (text === '') this.refuseIfExpression(name);
		return text.trim() === '' ? this.refuseField(name, 'must not be empty') : text;
	}

	/** A record ID from a text or a resource locator, trimmed. */
	id(name: string): string {
		const id = chosenId(this.parameter(name, '', true));
		if (isNothing(id)) return this.refuseField(name, 'must not be empty');
		if (typeof id !== 'string') return this.refuseField(name, 'must be text', id);
		this.checkId({ name, subject: `"${this.labelOf(name)}"`, id });
		return id;
	}

	/** At least one ID, from a text with commas or a list. */
	ids(name: string): string[] {
		const raw = this.parameter(name, '');
		const parameter = this.labelOf(name);
		const ids = this.check(idList, typeof raw === 'string' ? splitList(raw).map(chosenId) : raw, {
			parameter,
		});
		for (const id of ids) this.checkId({ name, subject: `"${parameter}"`, id });
		return ids;
	}

	/** Refuses a text that cannot be a record ID. */
	checkId(named: NamedId): void {
		const flaw = idFlaw(named);
		if (flaw) this.refuse(flaw);
	}

	/** Refuses invalid IDs at these paths of a body; a path is written `where.xpertId`. */
	checkIds(body: unknown, paths: string[], naming: Naming): void {
		for (const named of idsInBody(body, paths, naming)) this.checkId(named);
	}

	/** A boolean; text from an expression is converted. */
	boolean(name: string, initial?: boolean): boolean {
		return this.setting(name, booleanSchema, initial);
	}

	/** A number, a boolean or one of some values, with the default and the maximum of the field. */
	setting<Schema extends ZodTypeAny>(
		name: string,
		schema: Schema,
		initial = this.fieldOf(name)?.default,
	): z.output<Schema> {
		const field = this.fieldOf(name);
		const raw = this.parameter(name, initial) ?? initial;
		const form = field ? fieldSchema(field).pipe(schema) : schema;
		return this.check(form, raw, { parameter: this.labelOf(name) }) as z.output<Schema>;
	}

	/** Settings such as `options`, by a schema with the names of the parameters (see `readSettings`). */
	settings<Schema extends AnyZodObject>(schema: Schema): z.output<Schema> {
		const read = (name: string, initial: NodeParameterValueType) => this.parameter(name, initial);
		return readSettings(schema, this.fields, read, this.refuse);
	}

	/** The values of some fields of the operation, by name (see `fieldValues`). */
	values(fields: INodeProperties[]): FieldValues {
		const raw = fields.map(({ name }) => [name, this.parameter(name)] as const);
		return fieldValues(this.refuse, fields, Object.fromEntries(raw));
	}

	/** Parses a value that may be JSON text. */
	parsed(displayName: string, raw: unknown): unknown {
		return this.check(jsonValue, raw, { parameter: displayName });
	}

	/** The JSON body, given as text or by an expression. */
	jsonBody<Schema extends ZodTypeAny>(schema: Schema): z.output<Schema> {
		const name = this.isJsonBody ? JSON_BODY : 'jsonBody';
		const parameter = this.labelOf(name);
		const json = this.parsed(parameter, this.parameter(name));
		if (json === undefined) return this.refuseField(name, 'must not be empty');
		return this.check(schema, json, { parameter });
	}

	/** Whether the item has a file. */
	get hasFile(): boolean {
		return !isEmpty(this.input?.binary);
	}

	/** The binary field that a parameter names. */
	binary(name = 'binaryPropertyName'): BinaryField {
		return this.binaryNamed(this.text(name, 'data').trim(), name);
	}

	/**
	 * The binary fields that a parameter names, as text with commas or as a list; may be empty. Repeated names count
	 * once.
	 */
	binaries(name: string): BinaryField[] {
		const value = typedValue('string', this.parameter(name, '') ?? '');
		const names = typeof value === 'string' ? splitList(value) : value;
		const properties = this.check(nameList, names, { parameter: this.labelOf(name) });
		return uniq(properties).map((property) => this.binaryNamed(property, name));
	}

	private binaryNamed(property: string, name: string): BinaryField {
		const fields = this.input?.binary ?? {};
		const binary = Object.hasOwn(fields, property) ? fields[property] : undefined;
		if (binary) {
			const mimeType = binary.mimeType || mimeTypeOf(binary.fileName);
			return { property, binary: { ...binary, mimeType }, parameter: this.labelOf(name) };
		}
		const found = Object.keys(fields);
		const available = found.length > 0 ? `has only ${found.join(', ')}` : 'has no binary field';
		return this.refuseField(name, `names ${quoted(property)}, but the item ${available}`);
	}

	/** Checks a value against its schema. */
	check<Schema extends ZodTypeAny>(
		schema: Schema,
		value: unknown,
		naming: Naming,
	): z.output<Schema> {
		return checked(this.refuse, schema, value, naming);
	}

	/** The JSON text of a value to send. */
	jsonText(value: unknown, naming: Naming): string {
		return jsonOf(this.refuse, value, naming);
	}

	/** Refuses a text with a lone surrogate, which would change when it is sent. */
	checkWhole(text: string, parameter: string): void {
		if (hasLoneSurrogate(text)) this.refuse({ subject: parameter, demand: LONE_SURROGATE_DEMAND });
	}

	/** Throws: a value cannot be sent. */
	readonly refuse: Refuse = (flaw) => {
		const { cure = 'Correct the value, or the expression or column it comes from.' } = flaw;
		const description = `Nothing was sent for this item. ${cure}`;
		throw this.operationError(`${flawMessage(flaw)}${this.suffix}`, description);
	};

	/** Throws: the value of a parameter cannot be sent. */
	private refuseField(name: string, demand: string, value?: unknown): never {
		return this.refuse({ subject: `"${this.labelOf(name)}"`, demand, value });
	}

	/** An error of the node for this item. */
	operationError(message: string, description?: string): NodeOperationError {
		const options = { itemIndex: this.index, description: this.redacted(description) };
		return operationError(this.context.getNode(), this.redacted(message), options);
	}

	/** The error for a failed request of this item. */
	apiError(failure: Failure, hintContext: HintContext = {}): NodeApiError {
		// The expression of a field that is hidden may be broken.
		const valueOf = (name: string) => attempt(() => this.resolved(name, ''));
		const own = idsInPath(failure.path, this.fields, valueOf);
		const hint = hintFor(failure, { ...hintContext, ids: [...own, ...(hintContext.ids ?? [])] });
		const safe = { ...failure, reason: this.redacted(failure.reason) };
		return toNodeApiError(safe, { node: this.context.getNode(), itemIndex: this.index, hint });
	}

	/** Sends a request of this item. @throws NodeApiError if it fails */
	async call<Answer>(request: RepeatableCall<Answer>, hints?: HintContext): Promise<Answer> {
		const toError = (failure: Failure) => this.apiError(failure, hints);
		return await callOrThrow(this.context, this.send, request, { toError });
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

	/** The input item as it came. */
	passedOn(): INodeExecutionData {
		return { ...this.input, ...this.output(this.json) };
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
			const requestId = (error.context.data as IDataObject | undefined)?.requestId;
			if (requestId) details.requestId = requestId;
		}
		const safe = mapValues(details, (fact) => this.redacted(fact));
		const item = this.output({ error: message, details: safe });
		return node?.onError === 'continueErrorOutput' ? markAsFailed(item, error) : item;
	}

	/** The display name of a parameter; a nested one is written `options.timeout`. */
	labelOf(name: string): string {
		return this.fieldOf(name)?.displayName ?? name;
	}

	/** Removes secrets from a text; returns anything else unchanged. */
	private redacted<Value>(value: Value): Value | (Value & string) {
		return typeof value === 'string'
			? (withoutSecrets(value, this.connection.secrets) as Value & string)
			: value;
	}

	/** Whether the operation has a parameter of this name. */
	has(name: string): boolean {
		return this.fieldOf(name) !== undefined;
	}

	/** Resolves a parameter. n8n throws if a value is too deep for the call stack. */
	resolved(
		name: string,
		fallback?: NodeParameterValueType | object,
		options?: IGetNodeParameterOptions,
	): unknown {
		try {
			return this.context.getNodeParameter(name, this.index, fallback, options);
		} catch (caught) {
			if (!/call stack/i.test(String(caught))) throw this.asError(caught);
			return this.refuseField(name, 'is nested too deeply');
		}
	}

	/** Whether a parameter is required in every case. */
	private isRequired(name: string): boolean {
		const fields = this.fields.filter((field) => field.name === name);
		return fields.length > 0 && fields.every(({ required }) => required);
	}

	/** Refuses a parameter whose expression is empty for this item. */
	refuseIfExpression(name: string): void {
		if (isExpression(givenFor(this.context.getNode(), name)))
			this.refuseField(name, 'is empty: its expression gave nothing for this item');
	}

	private fieldOf(name: string): INodeProperties | undefined {
		return fieldLookup(this.fields)(name);
	}
}
