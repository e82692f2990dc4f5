import { z } from 'zod';

import type { Schema } from '../payloads/zodHelpers';

/**
 * A schema that converts the values of another schema. If a schema checks values of thousands of documents, use this class
 * instead of zod's `transform`. `transform` creates a getter for each value, and V8 keeps these getters until a full
 * garbage collection.
 */
export class ConvertingSchema<Given, Value> extends z.ZodType<Value, z.ZodTypeDef, unknown> {
	/** @param convert calls `reject` with the issue if the value is not valid */
	constructor(
		private readonly inner: Schema<Given>,
		private readonly convert: (given: Given, reject: (issue: string) => void) => Value,
	) {
		super({});
	}

	_parse(input: z.ParseInput): z.SyncParseReturnType<Value> {
		const parsed = this.inner._parseSync(input);
		if (!z.isValid(parsed)) return z.INVALID;
		let status: z.SyncParseReturnType['status'] = 'valid';
		const value = this.convert(parsed.value, (message) => {
			z.addIssueToContext(this._getOrReturnCtx(input), { code: 'custom', message });
			status = 'aborted';
		});
		return status === 'valid' ? z.OK(value) : z.INVALID;
	}
}
