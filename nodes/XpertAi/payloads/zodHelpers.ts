import { z } from 'zod';

/** A finite number. `JSON.stringify` writes Infinity and NaN as `null`, which clears a field on the server. */
export const finiteNumber = z.number().finite('must be a number');

/** A number of items or requests: a whole number of at least 1. */
export const positiveInteger = finiteNumber.int().min(1);

/* These schemas treat a value of the wrong type as missing, so that the rest of the record stays readable. */
export const lenientText = z.string().optional().catch(undefined);
export const lenientNumber = z.number().optional().catch(undefined);

/** Returns an object with the same schema for each key. */
export const sameSchemaForKeys = <Key extends string, Schema extends z.ZodTypeAny>(
	schema: Schema,
	...keys: Key[]
) => Object.fromEntries(keys.map((key) => [key, schema])) as Record<Key, Schema>;

/** Returns a schema that accepts the keys of `names`. */
export const enumOfKeys = <Key extends string>(names: Record<Key, string>) =>
	z.enum(Object.keys(names) as [Key, ...Key[]]);

export const optionalText = z.string().optional();
export const nullishText = z.string().nullish();
export const nullishNumber = z.number().nullish();

/** Returns an object schema that keeps unknown fields, so that the node works with newer servers. */
export const openObject = <Shape extends z.ZodRawShape>(shape: Shape) =>
	z.object(shape).passthrough();

/** An object with arbitrary keys (`metadata`, `options`, …). */
export const freeForm = openObject({});

export type Schema<Value> = z.ZodType<Value, z.ZodTypeDef, unknown>;
