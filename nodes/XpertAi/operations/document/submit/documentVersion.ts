import { convertToType } from '../../../execution/fieldSchemas';
import {
	isGiven,
	type ItemParameterReader,
	valueOrMissing,
} from '../../../execution/identityFields';
import { MissingPart } from '../../../payloads/identity';
import { missingValueOrObjectText } from '../../../payloads/missingValues';

/** The setting with the version of the document of an item. */
export const VERSION_PARAMETER = 'documentSettings.documentVersion';

/** The setting with the name of the field that holds the version, for JSON and files of records. */
export const VERSION_FIELD_PARAMETER = 'documentSettings.documentVersionField';

/**
 * Converts a value to a document version. Only numbers, dates and non-blank texts are versions.
 *
 * @returns undefined for any other value, and for a text that stands for a missing value, e.g. `null`
 */
export function asVersion(value: unknown): string | undefined {
	const text = typeof value === 'boolean' ? undefined : convertToType('string', value);
	if (typeof text !== 'string' || text.trim() === '') return undefined;
	return missingValueOrObjectText(text.trim()) === undefined ? text.trim() : undefined;
}

/**
 * Reads the version of a document.
 *
 * @returns undefined if the field is empty, if a part of its expression is missing, or if the value is true, false or a
 * text that stands for a missing value, e.g. `null`
 * @throws NodeOperationError if the value is not valid, e.g. a number that is too large to be exact
 */
export function readVersion(item: ItemParameterReader, name: string): string | undefined {
	const value = valueOrMissing(item, name, {});
	if (value instanceof MissingPart || typeof value === 'boolean') return undefined;
	return asVersion(item.asText(name, value));
}

/** Whether the user filled in the field for the version. */
export const wantsVersion = isGiven;
