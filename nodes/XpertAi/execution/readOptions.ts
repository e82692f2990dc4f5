import type { INodeProperties } from 'n8n-workflow';
import type { ZodNumber } from 'zod';

import { readNumber, readSwitch } from './readFields';
import type { ItemReader } from './readFields';

/**
 * Reads a number out of a collection of options; name and default value are the option's own.
 *
 * @throws NodeOperationError naming the option and what it must be
 */
export function readOption(
	reader: ItemReader,
	collection: INodeProperties,
	name: string,
	schema: ZodNumber,
): number {
	const { displayName, defaultValue } = optionOf(collection, name);
	return readNumber(
		reader,
		`${collection.name}.${name}`,
		displayName,
		schema,
		Number(defaultValue),
	);
}

/**
 * Reads a switch out of a collection of options; name and default value are the option's own.
 *
 * @throws NodeOperationError naming the option when the value says neither on nor off
 */
export function readSwitchOption(
	reader: ItemReader,
	collection: INodeProperties,
	name: string,
): boolean {
	const { displayName, defaultValue } = optionOf(collection, name);
	return readSwitch(reader, `${collection.name}.${name}`, displayName, defaultValue === true);
}

function optionOf(
	collection: INodeProperties,
	name: string,
): { displayName: string; defaultValue: unknown } {
	const option = (collection.options ?? []).find((entry) => entry.name === name);
	return {
		displayName: option && 'displayName' in option ? option.displayName : name,
		defaultValue: option && 'default' in option ? option.default : undefined,
	};
}
