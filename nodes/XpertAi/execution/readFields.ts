import omitBy from 'lodash/omitBy';
import { NodeOperationError, jsonParse, validateFieldType } from 'n8n-workflow';
import type { IExecuteFunctions, INodeProperties, INodePropertyCollection } from 'n8n-workflow';
import { z } from 'zod';
import type { ZodNumber } from 'zod';

import type { FieldValues } from '../operations/operation';
import { idList } from '../payloads/common';
import { isContainer } from '../operations/shared/fields';
import { isJsonObject } from '../transport/answer';
import { badInput, checkInput } from './badInput';
import { chosenId, isEncodable } from './ids';

/** The item whose parameters are read. */
export interface ItemReader {
	context: IExecuteFunctions;
	itemIndex: number;
}

/**
 * Reads fields of the editor into plain values by name. Collections that only group fields are laid
 * flat, other groups become objects (or lists of objects), JSON fields are parsed, and numbers and
 * switches that an expression gave as text become what they say. Fields left empty are left out.
 *
 * @throws NodeOperationError when JSON does not parse
 */
export function readFields(reader: ItemReader, fields: INodeProperties[]): FieldValues {
	const raw = Object.fromEntries(
		fields.map(({ name }) => [
			name,
			reader.context.getNodeParameter(name, reader.itemIndex, undefined) as unknown,
		]),
	);
	return omitBy(readGroup(reader, fields, raw), isEmptyText);
}

function isEmptyText(value: unknown): boolean {
	return value === '';
}

/**
 * Reads an id of a record, given as text or through a resource locator.
 *
 * @returns the id without surrounding blanks
 * @throws NodeOperationError when it is empty or could not stand in a path
 */
export function readId(reader: ItemReader, name: string, displayName: string): string {
	const raw: unknown = reader.context.getNodeParameter(name, reader.itemIndex, '', {
		extractValue: true,
	});
	const id = chosenId(raw);
	const source = { node: reader.context.getNode(), itemIndex: reader.itemIndex };
	if (id === undefined || id === null || id === '')
		throw badInput(source, `"${displayName}"`, 'must not be empty');
	if (typeof id !== 'string') throw badInput(source, `"${displayName}"`, 'must be text', id);
	if (id === '.' || id === '..' || !isEncodable(id)) {
		throw badInput(source, `"${displayName}"`, 'must be an ID', id);
	}
	return id;
}

/**
 * Reads several ids, given as text with commas or, by an expression, as a list.
 *
 * @returns the ids
 * @throws NodeOperationError when there is none
 */
export function readIds(
	{ context, itemIndex }: ItemReader,
	name: string,
	displayName: string,
): string[] {
	const raw: unknown = context.getNodeParameter(name, itemIndex, '');
	const source = { node: context.getNode(), itemIndex, parameter: displayName };
	const ids = checkInput(idList, typeof raw === 'string' ? splitIds(raw) : raw, source);
	const bad = ids.find((id) => !isEncodable(id));
	if (bad !== undefined) throw badInput(source, `"${displayName}"`, 'must be IDs', bad);
	return ids;
}

/** The ids in a text with commas. */
export function splitIds(text: string): string[] {
	return text
		.split(',')
		.map((id) => id.trim())
		.filter(Boolean);
}

/**
 * Reads a text parameter; numbers, switches and dates that an expression gave become what they say.
 *
 * @throws NodeOperationError when it is a list or an object
 */
export function readText(
	{ context, itemIndex }: ItemReader,
	name: string,
	displayName: string,
	defaultValue = '',
): string {
	const raw: unknown = context.getNodeParameter(name, itemIndex, defaultValue);
	const text = isoText(raw ?? defaultValue);
	const source = { node: context.getNode(), itemIndex };
	if (typeof text === 'object') throw badInput(source, `"${displayName}"`, 'must be text', text);
	return String(text);
}

/**
 * Reads a number parameter and checks it.
 *
 * @throws NodeOperationError naming the parameter and what it must be
 */
export function readNumber(
	{ context, itemIndex }: ItemReader,
	name: string,
	displayName: string,
	schema: ZodNumber,
	defaultValue: number,
): number {
	const raw: unknown = context.getNodeParameter(name, itemIndex, defaultValue);
	const source = { node: context.getNode(), itemIndex, parameter: displayName };
	return checkInput(schema.finite(), fromText('number', raw), source);
}

/**
 * Reads a switch. Text that an expression gave becomes what it says; an expression that gives nothing
 * leaves the switch as it is by default.
 *
 * @throws NodeOperationError naming the parameter when the value says neither on nor off
 */
export function readSwitch(
	{ context, itemIndex }: ItemReader,
	name: string,
	displayName: string,
	defaultValue: boolean,
): boolean {
	const raw: unknown = context.getNodeParameter(name, itemIndex, defaultValue);
	const source = { node: context.getNode(), itemIndex, parameter: displayName };
	return checkInput(z.boolean(), fromText('boolean', raw ?? defaultValue), source);
}

/**
 * Parses a JSON parameter, which may be text or, from an expression, a value already.
 *
 * @throws NodeOperationError when the text is no JSON
 */
export function readJson(reader: ItemReader, displayName: string, raw: unknown): unknown {
	if (typeof raw !== 'string') return raw ?? undefined;
	if (raw.trim() === '') return undefined;
	try {
		return jsonParse<unknown>(raw);
	} catch (error) {
		const node = reader.context.getNode();
		const why = error instanceof Error ? error.message : 'not JSON';
		const source = { node, itemIndex: reader.itemIndex };
		throw new NodeOperationError(
			node,
			badInput(source, `"${displayName}"`, `must be JSON (${why})`, raw),
		);
	}
}

type Entry = NonNullable<INodeProperties['options']>[number];

function readGroup(reader: ItemReader, entries: Entry[], raw: unknown): FieldValues {
	const values: FieldValues = {};
	if (!isJsonObject(raw)) return values;
	for (const entry of entries) {
		if (!('type' in entry) || !Object.hasOwn(raw, entry.name)) continue;
		const value = readValue(reader, entry, raw[entry.name]);
		if (isContainer(entry)) Object.assign(values, value);
		else if (value !== undefined) values[entry.name] = value;
	}
	return values;
}

function readValue(reader: ItemReader, field: INodeProperties, raw: unknown): unknown {
	if (raw === undefined || raw === null) return raw ?? undefined;
	switch (field.type) {
		case 'json':
			return readJson(reader, field.displayName, raw);
		case 'number':
		case 'boolean':
			return typedValue(field.type, raw);
		case 'string':
			return field.typeOptions?.multipleValues ? raw : typedValue('string', raw);
		case 'dateTime':
			return raw === '' ? undefined : isoText(raw);
		case 'multiOptions': {
			const source = { node: reader.context.getNode(), itemIndex: reader.itemIndex };
			return checkInput(optionList, raw, { ...source, parameter: field.displayName });
		}
		case 'resourceLocator':
			return chosenId(raw) ?? undefined;
		case 'collection':
			return omitBy(readGroup(reader, field.options ?? [], raw), isEmptyText);
		case 'fixedCollection':
			return readFixedCollection(reader, field, raw);
		default:
			return raw;
	}
}

/** A group without entries was not filled in; several groups of one field do not occur here. */
function readFixedCollection(reader: ItemReader, field: INodeProperties, raw: unknown): unknown {
	const group = (field.options ?? []).find(
		(entry): entry is INodePropertyCollection => 'values' in entry,
	);
	const content = isJsonObject(raw) && group ? raw[group.name] : undefined;
	if (!group || content === undefined) return undefined;
	if (Array.isArray(content)) return content.map((entry) => readGroup(reader, group.values, entry));
	return readGroup(reader, group.values, content);
}

/** A value as its field takes it: text that says a number or a switch, and the other way round. */
export function typedValue(type: 'string' | 'number' | 'boolean', raw: unknown): unknown {
	return type === 'string' ? asText(isoText(raw)) : fromText(type, raw);
}

/** A number or a switch that an expression gave as text. */
function fromText(type: 'number' | 'boolean', raw: unknown): unknown {
	if (typeof raw !== 'string' || raw.trim() === '') return raw;
	const parsed = validateFieldType('value', raw, type);
	return parsed.valid ? parsed.newValue : raw;
}

const optionList = z.array(z.string());

function asText(raw: unknown): unknown {
	return typeof raw === 'number' || typeof raw === 'boolean' ? String(raw) : raw;
}

/** A date as ISO 8601 text: an expression may give a Date or luxon's DateTime. Anything else stays. */
export function isoText(raw: unknown): unknown {
	if (raw instanceof Date) return Number.isNaN(raw.getTime()) ? raw : raw.toISOString();
	if (isJsonObject(raw) && typeof raw.toISO === 'function') return (raw.toISO() as unknown) ?? raw;
	return raw;
}
