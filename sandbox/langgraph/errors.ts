import { z } from 'zod';
import { ApiError } from '../errors';
import { asObject } from '../values';

/** An error that this server answers as bare text. */
export const refused = (status: number, message: string) => new ApiError(status, message);

/** 404 for a thread nobody knows. */
export const unknownThread = (threadId: string) =>
	refused(404, `Thread with ID ${threadId} not found`);

/** The value as the schema wants it; otherwise the 400 that lists every issue. */
export function checked<S extends z.ZodTypeAny>(schema: S, value: unknown): z.output<S> {
	const result = schema.safeParse(value);
	if (result.success) return result.data as z.output<S>;
	throw new ApiError(400, {
		success: false,
		error: { name: 'ZodError', issues: result.error.issues },
	});
}

/** What the sandbox itself refuses, put in the three forms of this server: text, `{error}`, and zod's own. */
export function worded(error: ApiError): ApiError {
	if (typeof error.body === 'string' || asObject(error.body).success === false) return error;
	if (error.status === 400) return refused(400, 'Malformed JSON in request body');
	if (error.status === 404) return refused(404, '404 Not Found');
	if (error.status === 413) return refused(413, 'Payload Too Large');
	const message = error.status === 401 ? 'Unauthorized' : 'Internal Server Error';
	return new ApiError(error.status, { error: message });
}
