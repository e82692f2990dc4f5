import isEmpty from 'lodash/isEmpty';
import mapValues from 'lodash/mapValues';
import memoize from 'lodash/memoize';
import uniq from 'lodash/uniq';
import { NodeApiError, NodeOperationError, isExpression } from 'n8n-workflow';
import type {
	IBinaryData,
	IDataObject,
	IExecuteFunctions,
	IGetNodeParameterOptions,
	INodeExecutionData,
	NodeParameterValueType,
} from 'n8n-workflow';
import { z } from 'zod';
import type { AnyZodObject, ZodEnum, ZodNumber, ZodTypeAny } from 'zod';

import { NO_LONE_SURROGATE, idList, hasLoneSurrogate } from '../payloads/common';
import type { Connection } from '../transport/connections';
import { toNodeApiError } from '../transport/failure';
import type { Failure } from '../transport/failure';
import type { Send } from '../transport/request';
import { withoutSecrets } from '../transport/sanitize';
import { checked, fieldsOf, flawMessage, jsonOf, quoted } from './badInput';
import type { Flaw, Naming } from './badInput';
import { hintFor, idsInBody, idsInPath } from './hints';
import type { RequestMeaning } from './hints';
import { BODY_MODE, JSON_BODY } from './fields';
import type { Field, FieldValues } from './fields';
import { chosenId, idFlaw, namedId, splitIds } from './ids';
import type { NamedId } from './ids';
import { mimeTypeOf } from './mimeTypes';
import { operationError, failedItem } from './outputs';
import type { ItemError } from './outputs';
import { fixedExpression, givenFor, isNothing } from './rawParameters';
import {
	readSettings,
	atMost,
	fieldValues,
	fromText,
	isoText,
	parsedJson,
	typedValue,
} from './values';

/** Names of fields; servers and n8n know none that is empty. */
const nameList = z.array(z.string().trim().min(1));

const yesOrNo = z.boolean();

/** A number that is one, made once of each schema and kept as long as that is. */
const finite = memoize((schema: ZodNumber) => schema.finite());
finite.cache = new WeakMap();

/** A binary field of an item, by its name. */
export interface BinaryField {
	property: string;
	binary: IBinaryData;
	/** Display name of the parameter that names it. */
	parameter: string;
}

/**
 * An input item and the parameters that the operation has for it: reads them by their types, says what is
 * wrong with them in the names of the operation's own fields, makes the item's errors and pairs its
 * output. All that reads throws NodeOperationError naming the parameter, the item and what is expected.
 */
export class Item {
	/**
	 * @param fields the parameters of the operation; their display names and defaults are used
	 * @param connection sends its requests; no error of the item may hold its secrets, also where it quotes a success
	 */
	constructor(
		readonly context: IExecuteFunctions,
		readonly index: number,
		private readonly fields: Field[],
		private readonly connection: Connection,
	) {}

	/** The columns of the item. */
	get json(): IDataObject {
		return this.context.getInputData()[this.index]?.json ?? {};
	}

	/** Sends a request with the credential of this item. */
	get send(): Send {
		return this.connection.send;
	}

	/**
	 * Makes sure that an operation which sends all items together sends this one where it belongs.
	 *
	 * @param first the item whose credential is used
	 */
	checkSameCredential(first: Item): void {
		if (this.connection === first.connection) return;
		throw this.operationError(
			`The credential gives another server or token for this item than for item ${first.index}${this.place}`,
			'Nothing was sent for this item. This operation sends all items together, with one credential. Put it into a loop, or into a sub-workflow that runs once for each credential.',
		);
	}

	/** Which of several items it is, as the end of a message. */
	get place(): string {
		return this.context.getInputData().length > 1 ? ` [item ${this.index}]` : '';
	}

	/** Whether its body is given as JSON. */
	get isJsonBody(): boolean {
		return this.parameter(BODY_MODE, 'fields') === 'json';
	}

	/**
	 * A parameter as n8n gives it: the one place that reads any.
	 *
	 * @throws NodeOperationError when it is Fixed and holds an expression, or when its expression gives nothing that is required
	 */
	parameter(name: string, otherwise?: NodeParameterValueType, extractValue = false): unknown {
		const node = this.context.getNode();
		const flaw = fixedExpression(node, name, this.fields);
		if (flaw) return this.refuse(flaw);
		const options = extractValue ? { extractValue } : undefined;
		const value = this.resolved(name, otherwise, options);
		if (isNothing(value) && this.isRequired(name)) this.refuseIfExpression(name);
		return value;
	}

	/** A text; numbers, switches and dates that an expression gave become what they say. */
	text(name: string, otherwise = ''): string {
		const text = isoText(this.parameter(name, otherwise) ?? otherwise);
		return typeof text === 'object'
			? this.refuse({ subject: `"${this.labelOf(name)}"`, demand: 'must be text', value: text })
			: String(text);
	}

	/** A text that is not left empty. */
	filledText(name: string): string {
		const text = this.text(name);
		if (text === '') this.refuseIfExpression(name);
		return text.trim() === ''
			? this.refuse({ subject: `"${this.labelOf(name)}"`, demand: 'must not be empty' })
			: text;
	}

	/** The id of a record, given as text or through a resource locator, without surrounding blanks. */
	id(name: string): string {
		const id = chosenId(this.parameter(name, '', true));
		const subject = `"${this.labelOf(name)}"`;
		if (isNothing(id)) return this.refuse({ subject, demand: 'must not be empty' });
		if (typeof id !== 'string') return this.refuse({ subject, demand: 'must be text', value: id });
		this.checkId(namedId(name, subject, id));
		return id;
	}

	/** Several ids, given as text with commas or, by an expression, as a list; at least one. */
	ids(name: string): string[] {
		const raw = this.parameter(name, '');
		const parameter = this.labelOf(name);
		const ids = this.check(idList, typeof raw === 'string' ? splitIds(raw).map(chosenId) : raw, {
			parameter,
		});
		for (const id of ids) this.checkId(namedId(name, `"${parameter}"`, id));
		return ids;
	}

	/** Makes sure that a text may be sent as the id of a record. */
	checkId(named: NamedId): void {
		const flaw = idFlaw(named);
		if (flaw) this.refuse(flaw);
	}

	/** Makes sure that the ids at places of a body may be sent; a place is written `where.xpertId`. */
	checkIds(body: unknown, places: string[], naming: Naming): void {
		for (const named of idsInBody(body, places, naming)) this.checkId(named);
	}

	/** A number; the default and the most it may be are the field's own. */
	number(name: string, schema: ZodNumber): number {
		const raw = this.parameter(name, Number(this.defaultOf(name)));
		const parameter = this.labelOf(name);
		const value = this.check(finite(schema), fromText('number', raw), { parameter });
		const field = this.fieldOf(name);
		return field ? atMost((flaw) => this.refuse(flaw), field, value) : value;
	}

	/**
	 * A switch. Text that an expression gave becomes what it says; an expression that gives nothing leaves
	 * it as it is by default, which is the field's own.
	 */
	switch(name: string, initial = this.defaultOf(name) === true): boolean {
		const value = fromText('boolean', this.parameter(name, initial) ?? initial);
		return this.check(yesOrNo, value, { parameter: this.labelOf(name) });
	}

	/** One of a few values; the default is the field's own. */
	choice<Values extends [string, ...string[]]>(
		name: string,
		schema: ZodEnum<Values>,
	): Values[number] {
		const raw = this.parameter(name, String(this.defaultOf(name)));
		const known = schema.options.find((value) => value === raw);
		return known ?? this.check(schema, raw, { parameter: this.labelOf(name) });
	}

	/** Parameters that say how it is worked on, such as `options`, by a schema with their names (see `readSettings`). */
	settings<Schema extends AnyZodObject>(schema: Schema): z.output<Schema> {
		const read = (name: string, initial: NodeParameterValueType) => this.parameter(name, initial);
		return readSettings(schema, this.fields, read, (flaw) => this.refuse(flaw));
	}

	/** The values of some of the operation's fields, by name (see `fieldValues`). */
	values(fields: Field[]): FieldValues {
		const raw = fields.map(({ name }) => [name, this.parameter(name)] as const);
		return fieldValues((flaw) => this.refuse(flaw), fields, Object.fromEntries(raw));
	}

	/** A value that may be JSON text, as the value it says. */
	parsed(displayName: string, raw: unknown): unknown {
		return parsedJson((flaw) => this.refuse(flaw), displayName, raw);
	}

	/** The JSON it gives as its body, as text or from an expression. */
	jsonBody<Schema extends ZodTypeAny>(schema: Schema): z.output<Schema> {
		const name = this.isJsonBody ? JSON_BODY : 'jsonBody';
		const parameter = this.labelOf(name);
		const json = this.parsed(parameter, this.parameter(name));
		if (json === undefined)
			return this.refuse({ subject: `"${parameter}"`, demand: 'must not be empty' });
		return this.check(schema, json, { parameter });
	}

	/** Whether it holds a file. */
	get hasFile(): boolean {
		return !isEmpty(this.context.getInputData()[this.index]?.binary);
	}

	/** The binary field that a parameter names. */
	binary(name = 'binaryPropertyName'): BinaryField {
		return this.binaryNamed(this.text(name, 'data').trim(), name);
	}

	/**
	 * The binary fields that a parameter names, as text with commas or, by an expression, as a list; none
	 * where it is empty. A field that is named twice counts once.
	 */
	binaries(name: string): BinaryField[] {
		const given = typedValue('string', this.parameter(name, '') ?? '');
		const names = typeof given === 'string' ? splitIds(given) : given;
		const properties = this.check(nameList, names, { parameter: this.labelOf(name) });
		return uniq(properties).map((property) => this.binaryNamed(property, name));
	}

	private binaryNamed(property: string, name: string): BinaryField {
		const parameter = this.labelOf(name);
		const fields = this.context.getInputData()[this.index]?.binary ?? {};
		const binary = Object.hasOwn(fields, property) ? fields[property] : undefined;
		if (binary) {
			const mimeType = binary.mimeType || mimeTypeOf(binary.fileName);
			return { property, binary: { ...binary, mimeType }, parameter };
		}
		const found = Object.keys(fields);
		const offer = found.length > 0 ? `has only ${found.join(', ')}` : 'has no binary field';
		const demand = `names ${quoted(property)}, but the item ${offer}`;
		return this.refuse({ subject: `"${parameter}"`, demand });
	}

	/** A value that meets its schema. */
	check<Schema extends ZodTypeAny>(
		schema: Schema,
		value: unknown,
		naming: Naming,
	): z.output<Schema> {
		const result = checked(schema, value, naming);
		return 'flaw' in result ? this.refuse(result.flaw) : result.value;
	}

	/** The JSON text of a value that is sent. */
	jsonText(value: unknown, naming: Naming): string {
		const result = jsonOf(value, naming);
		return 'flaw' in result ? this.refuse(result.flaw) : result.text;
	}

	/** Makes sure that a text, sent as a file or used as a key, stays what it is: half a character does not. */
	checkWhole(text: string, parameter: string): void {
		if (hasLoneSurrogate(text)) this.refuse({ subject: parameter, demand: NO_LONE_SURROGATE });
	}

	/** Ends the reading of the item: a value of its parameters cannot be sent. */
	refuse(flaw: Flaw): never {
		throw this.refusal(flaw);
	}

	/** The error of a value that cannot be sent. */
	refusal(flaw: Flaw): NodeOperationError {
		const { cure = 'Correct the value, or the expression or column it comes from.' } = flaw;
		const description = `Nothing was sent for this item. ${cure}`;
		return this.operationError(`${flawMessage(flaw)}${this.place}`, description);
	}

	/** An error of ours for the item. */
	operationError(message: string, description?: string): NodeOperationError {
		const options = { itemIndex: this.index, description: this.hidden(description) };
		return operationError(this.context.getNode(), this.hidden(message), options);
	}

	/** The error of a request that was made for the item. */
	apiError(failure: Failure, meaning: RequestMeaning = {}): NodeApiError {
		const own = idsInPath(failure.path, this.fields, (name) => this.parameter(name, ''));
		const hint = hintFor(failure, { ...meaning, ids: [...own, ...(meaning.ids ?? [])] });
		const said = { ...failure, reason: this.hidden(failure.reason) };
		return toNodeApiError(said, { node: this.context.getNode(), itemIndex: this.index, hint });
	}

	/** What was thrown for the item, as n8n shows it; anything unforeseen becomes a NodeOperationError. */
	asError(caught: unknown): ItemError {
		if (caught instanceof NodeApiError || caught instanceof NodeOperationError) {
			caught.context.itemIndex ??= this.index;
			return caught;
		}
		const cause = caught instanceof Error ? caught : new Error(String(caught));
		return new NodeOperationError(this.context.getNode(), cause, { itemIndex: this.index });
	}

	/** Output of the item. */
	output(json: IDataObject): INodeExecutionData {
		return { json, pairedItem: { item: this.index } };
	}

	/**
	 * The output that stands for it when it failed.
	 *
	 * @param facts what else is known of it
	 */
	failed(error: ItemError, facts?: IDataObject): INodeExecutionData {
		return failedItem(
			error,
			this.index,
			mapValues(facts, (fact) => this.hidden(fact)),
		);
	}

	/** The name of a parameter as the user sees it; an option is written `options.timeout`. */
	labelOf(name: string): string {
		return this.fieldOf(name)?.displayName ?? name;
	}

	/** A text without secrets; anything else as it is. */
	private hidden<Said>(said: Said): Said | (Said & string) {
		return typeof said === 'string'
			? (withoutSecrets(said, this.connection.secrets) as Said & string)
			: said;
	}

	/** Whether its operation has a parameter of this name. */
	has(name: string): boolean {
		return this.fieldOf(name) !== undefined;
	}

	/** A parameter as n8n resolves it, which takes no value that is nested too deeply for the call stack. */
	resolved(
		name: string,
		otherwise?: NodeParameterValueType | object,
		options?: IGetNodeParameterOptions,
	): unknown {
		try {
			return this.context.getNodeParameter(name, this.index, otherwise, options);
		} catch (caught) {
			if (!/call stack/i.test(String(caught))) throw this.asError(caught);
			return this.refuse({ subject: `"${this.labelOf(name)}"`, demand: 'is nested too deeply' });
		}
	}

	/** Whether a parameter is required whatever else is chosen. */
	private isRequired(name: string): boolean {
		const fields = this.fields.filter((field) => field.name === name);
		return fields.length > 0 && fields.every(({ required }) => required);
	}

	/** Says of an expression that it gave nothing; what was left empty is another matter. */
	refuseIfExpression(name: string): void {
		const demand = 'is empty: its expression gave nothing for this item';
		if (isExpression(givenFor(this.context.getNode(), name)))
			this.refuse({ subject: `"${this.labelOf(name)}"`, demand });
	}

	private defaultOf(name: string): unknown {
		return this.fieldOf(name)?.default;
	}

	private fieldOf(name: string): Field | undefined {
		return fieldsOf(this.fields)(name);
	}
}
