/** An answer that is not a success: the status and the body exactly as the client gets them. */
export class ApiError extends Error {
	constructor(
		readonly status: number,
		readonly body: unknown,
	) {
		super(`Answer ${status}`);
	}
}

const named = (status: number, error: string, message: string) =>
	new ApiError(status, { message, error, statusCode: status });

export const badRequest = (message: string) => named(400, 'Bad Request', message);

/** 404; without a message the one the server gives for a missing row (`E17` "delete again"). */
export const notFound = (message = 'The requested record was not found') =>
	named(404, 'Not Found', message);

/** 406 for what is no id, where the server looks (`conversations` "get with an id that is no UUID"). */
export const notAcceptable = (message: string) => named(406, 'Not Acceptable', message);

/** 403 with a reason, or the bare form without `error` (`E14` "delete by AgentFile id"). */
export const forbidden = (message?: string) =>
	message === undefined
		? new ApiError(403, { message: 'Forbidden', statusCode: 403 })
		: named(403, 'Forbidden', message);

/** 401; a session secret that is not known, or no more, carries a reason (`E01` "wrong cs token"). */
export const unauthorized = (error?: string) =>
	new ApiError(401, { message: 'Unauthorized', ...(error ? { error } : {}), statusCode: 401 });

export const internal = () =>
	new ApiError(500, { statusCode: 500, message: 'Internal server error' });

/** 413 for a JSON body over the limit (`E03` "body 52428801 bytes"). */
export const tooLarge = () =>
	new ApiError(413, { statusCode: 413, message: 'request entity too large' });

/** What the database refuses, of which its code is read, and the key or the column at fault. */
const refused = (code: string, at: Record<string, string> = {}) =>
	new ApiError(400, { query: '', code, ...at });

/** A value the column's type cannot read (`E03` "tokenNum text", `E03` "id not uuid"). */
export const unreadable = () => refused('22P02');

export const noDate = () => refused('22007');

/** A text with a NUL: `invalid byte sequence for encoding "UTF8": 0x00`. */
export const nulInText = () => refused('22021');

export const tooLong = () => refused('22001');

/** A reference to a row that is not there (`E13` "xpertId unknown"). */
export const missingReference = (column: string, value: string, target: string) =>
	refused('23503', { detail: `Key (${column})=(${value}) is not present in table "${target}".` });

export const notNull = (table: string, column: string) => refused('23502', { table, column });

/** A second row with a value that must be unique (`E02` "body id differs"). */
export const duplicate = (key: string, value: unknown) =>
	refused('23505', { detail: `Key (${key})=(${String(value)}) already exists.` });
