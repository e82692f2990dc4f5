import assignWith from 'lodash/assignWith';
import isPlainObject from 'lodash/isPlainObject';
import type { INodeProperties, NodeParameterValueType } from 'n8n-workflow';
import type { AnyZodObject, z } from 'zod';

import { checked, fieldNamed } from './badInput';
import type { FieldValues } from './fields';
import { fieldValues } from './values';
import type { Refuse } from './values';

/** Gives a parameter as n8n has it, or what it is where the workflow does not set it. */
type ReadParameter = (name: string, initial: NodeParameterValueType) => unknown;

/**
 * Reads the parameters that say how the node works, such as Options, at one go.
 *
 * @param schema its keys are the names of the parameters; numbers without a limit are `finite`
 * @param fields the node's; what is not set, or given as nothing by an expression, is their default
 * @param refuse is told of the first value that does not meet the schema, by the names of its fields
 * @throws what `refuse` throws
 */
export function readSettings<Schema extends AnyZodObject>(
	schema: Schema,
	fields: INodeProperties[],
	read: ReadParameter,
	refuse: Refuse,
): z.output<Schema> {
	const own = Object.keys(schema.shape).flatMap((name) => fieldNamed(name, fields) ?? []);
	const raw = own.map(({ name, default: initial }) => [name, read(name, initial)] as const);
	const given = fieldValues(refuse, own, Object.fromEntries(raw));
	const values = assignWith(initialValues(own), given, withInitial);
	const result = checked(schema, values, { fields });
	return 'flaw' in result ? refuse(result.flaw) : result.value;
}

/** What fields are by default; one for a record has chosen none. */
function initialValues(entries: NonNullable<INodeProperties['options']>): FieldValues {
	const fields = entries.filter((entry): entry is INodeProperties => 'type' in entry);
	const chosen = fields.filter(({ type }) => type !== 'resourceLocator');
	return Object.fromEntries(chosen.map((field) => [field.name, initialOf(field)]));
}

/** A collection holds what each of its fields is. */
function initialOf({ type, options = [], default: initial }: INodeProperties): unknown {
	return type === 'collection' ? initialValues(options) : initial;
}

/** Of a collection, what is not given is what it is by default. */
function withInitial(initial: unknown, given: unknown): unknown {
	return isPlainObject(given) ? { ...(initial as object), ...(given as object) } : given;
}
