import type { IncomingHttpHeaders } from 'node:http';
import type { Caller, Tokens } from './auth';
import type { Clock } from './clock';
import type { Action } from './faultRules';
import type { Faults } from './faults';
import type { ProcessingQueue } from './processing/queue';
import type { RequestLog } from './requestLog';
import type { Store } from './store';
import type { Upload } from './uploads';

/** What all routes share. */
export interface Context {
	store: Store;
	tokens: Tokens;
	faults: Faults;
	requests: RequestLog;
	/** Works through the documents that `process` was given. */
	queue: ProcessingQueue;
	clock: Clock;
	/** How long a run takes, in milliseconds. */
	runMs: number;
	/** How long an assistant takes to say a word, in milliseconds. */
	wordMs: number;
	/** How long processing a document takes, in milliseconds. */
	processMs: number;
	/** How long a knowledgebase takes to be embedded anew with another model, in milliseconds. */
	rebuildMs: number;
	/** False makes the routes `process` and `status` unknown. */
	processing: boolean;
	/** False makes E8 and E11 fail as they do on a server without an embedding model. */
	embeddingModel: boolean;
	/** The address the sandbox listens on, e.g. `http://127.0.0.1:4000`. */
	url(): string;
	/** Puts everything back to the start. */
	reset(): void;
}

/** One request, read and authorized, as an endpoint sees it. */
export interface Call {
	context: Context;
	caller: Caller;
	method: string;
	/** As it was asked for, with its query. */
	path: string;
	params: Record<string, string>;
	query: Record<string, unknown>;
	headers: IncomingHttpHeaders;
	/** The JSON or form body; undefined when there was none. */
	body: unknown;
	/** What is to go wrong with this request. */
	misbehaviour: Action[];
	/** The parts of a multipart body. */
	upload?: Upload;
}

/** An endpoint of the contract: where it is, what a success looks like, and what it does. Errors are thrown. */
export interface Endpoint {
	id: string;
	method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	/** Path below the prefix, or below `root`, in the form `/threads/:id`. */
	path: string;
	root?: string;
	status: number;
	/** Content type of a success when it is not JSON. */
	contentType?: string;
	/** What else is said with a success. */
	headers?: Record<string, string>;
	handle(call: Call): unknown;
}
