import type { ZodTypeAny, z } from 'zod';

import type { JsonBody } from '../operations/operation';
import { DISPLAY_NAMES } from '../operations/shared/fields';
import { anyJson } from '../payloads/common';
import { badInput, checkInput } from './badInput';
import { readFields, readJson } from './readFields';
import type { ItemReader } from './readFields';

/** Whether the item gives its body as JSON. */
export function isJsonMode({ context, itemIndex }: ItemReader): boolean {
	return context.getNodeParameter('bodyMode', itemIndex, 'fields') === 'json';
}

/**
 * Reads and checks the body of an item, from its fields or from its JSON.
 *
 * @throws NodeOperationError naming the parameter, the item and what is expected
 */
export function readBody(reader: ItemReader, body: JsonBody): unknown {
	if (!isJsonMode(reader)) {
		const source = { node: reader.context.getNode(), itemIndex: reader.itemIndex };
		const values = readFields(reader, body.fields);
		const composed = body.compose ? body.compose(values) : values;
		return checkInput(body.schema, composed, {
			...source,
			fields: body.fields,
			labels: body.labels,
		});
	}
	return readJsonBody(reader, body.notShown ? anyJson : body.schema);
}

/**
 * Reads the JSON an item gives as its body, as text or from an expression.
 *
 * @throws NodeOperationError naming the place in the JSON and what is expected
 */
export function readJsonBody<Schema extends ZodTypeAny>(
	reader: ItemReader,
	schema: Schema,
): z.output<Schema> {
	const parameter = DISPLAY_NAMES.jsonBody;
	const source = { node: reader.context.getNode(), itemIndex: reader.itemIndex, parameter };
	const raw: unknown = reader.context.getNodeParameter('jsonBody', reader.itemIndex, undefined);
	const json = readJson(reader, parameter, raw);
	if (json === undefined) throw badInput(source, `"${parameter}"`, 'must not be empty');
	return checkInput(schema, json, source);
}
