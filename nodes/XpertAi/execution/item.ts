import isEmpty from 'lodash/isEmpty';
import uniq from 'lodash/uniq';
import { isExpression } from 'n8n-workflow';
import type {
	IBinaryData,
	IDataObject,
	IGetNodeParameterOptions,
	INodeExecutionData,
	INodeProperties,
	NodeParameterValueType,
} from 'n8n-workflow';
import { z, type AnyZodObject, type ZodTypeAny } from 'zod';

import { LONE_SURROGATE_RULE, idList, hasLoneSurrogate } from '../payloads/common';
import { CREDENTIAL_NAME } from '../transport/api';
import type { Call } from '../transport/call';
import type { Failure } from '../transport/failure';
import type { Send } from '../transport/request';
import { callOrThrow } from './callOrThrow';
import { checked, fieldLookup, jsonOf, quoted, type Naming } from './inputIssues';
import type { HintContext } from './hints';
import type { FieldValues } from './fields';
import { chosenId, idIssue, splitList, type NamedId } from './ids';
import { ItemOutput } from './itemOutput';
import { mimeTypeOf } from './mimeTypes';
import { fixedExpression, givenFor, isNothing } from './rawParameters';
import { readSettings, settingSchema, fieldValues } from './values';

const anyValue = z.unknown();
const textValue = z.string();
const booleanValue = z.boolean();

/** Texts, with commas between them or as a list. */
const listValue = z.unknown().transform((raw) => (typeof raw === 'string' ? splitList(raw) : raw));

const idsValue = listValue
	.transform((ids: unknown) => (Array.isArray(ids) ? ids.map(chosenId) : ids))
	.pipe(idList);

/** Names of binary fields, none empty. */
const namesValue = listValue.pipe(z.array(z.string().trim().min(1)));

/** A binary field of an item, and its name. */
export interface BinaryField {
	property: string;
	binary: IBinaryData;
	/** Display name of the parameter that names it. */
	parameter: string;
}

/**
 * An input item, which reads the parameters of the operation by type. All methods that read throw NodeOperationError
 * naming the parameter, the item and the requirement.
 */
export class Item extends ItemOutput {
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

	/** A parameter by a schema, with the default and the maximum of its field; values of other types are converted. */
	setting<Schema extends ZodTypeAny>(
		name: string,
		schema: Schema,
		initial = this.fieldOf(name)?.default,
	): z.output<Schema> {
		const field = this.fieldOf(name);
		const form = field ? settingSchema(field)(schema) : schema;
		const raw = this.parameter(name, initial) ?? initial;
		return this.check(form, raw, { parameter: this.labelOf(name) }) as z.output<Schema>;
	}

	/** A text; numbers, booleans and dates from an expression are converted. */
	text(name: string, fallback = ''): string {
		return this.setting(name, textValue, fallback);
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
		this.checkId({ name, field: `"${this.labelOf(name)}"`, id });
		return id;
	}

	/** At least one ID, from a text with commas or a list. */
	ids(name: string): string[] {
		const ids = this.setting(name, idsValue, '');
		for (const id of ids) this.checkId({ name, field: `"${this.labelOf(name)}"`, id });
		return ids;
	}

	/** Refuses a text that cannot be a record ID. */
	checkId(named: NamedId): void {
		const flaw = idIssue(named);
		if (flaw) this.refuse(flaw);
	}

	/** A boolean; text from an expression is converted. */
	boolean(name: string, initial?: boolean): boolean {
		return this.setting(name, booleanValue, initial);
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

	/** The JSON body, given as text or by an expression. */
	jsonBody<Schema extends ZodTypeAny>(schema: Schema): z.output<Schema> {
		const json = this.setting('jsonBody', anyValue);
		if (json === undefined) return this.refuseField('jsonBody', 'must not be empty');
		return this.check(schema, json, { parameter: this.labelOf('jsonBody') });
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
		return uniq(this.setting(name, namesValue, '')).map((property) =>
			this.binaryNamed(property, name),
		);
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
		if (hasLoneSurrogate(text)) this.refuse({ field: parameter, rule: LONE_SURROGATE_RULE });
	}

	/** Throws: the value of a parameter cannot be sent. */
	refuseField(name: string, rule: string, value?: unknown): never {
		return this.refuse({ field: `"${this.labelOf(name)}"`, rule, value });
	}

	/** Sends a request of this item. @throws NodeApiError if it fails */
	async call<Answer>(request: Call<Answer>, hints?: HintContext): Promise<Answer> {
		const toError = (failure: Failure) => this.apiError(failure, hints);
		return await callOrThrow(this.context, this.send, request, toError);
	}

	/** The input item as it came. */
	passedOn(): INodeExecutionData {
		return { ...this.input, ...this.output(this.json) };
	}

	/** The display name of a parameter; a nested one is written `options.timeout`. */
	labelOf(name: string): string {
		return this.fieldOf(name)?.displayName ?? name;
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
