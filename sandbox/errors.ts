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

/** 400 with a message in words. */
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

/** The server's answer to anything it did not foresee: malformed ids, missing bodies, wrong filters. */
export const internal = () =>
	new ApiError(500, { statusCode: 500, message: 'Internal server error' });

/** 413 for a JSON body over the limit (`E03` "body 52428801 bytes"). */
export const tooLarge = () =>
	new ApiError(413, { statusCode: 413, message: 'request entity too large' });
