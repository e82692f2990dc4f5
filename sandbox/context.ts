import type { IncomingHttpHeaders } from 'node:http';
import type { Caller, Tokens } from './auth';
import type { Clock } from './clock';
import type { StoredDocument } from './entities';
import type { Action, Faults } from './faults';
import type { RequestLog, Upload } from './requestLog';
import type { Store } from './store';

/** How long things take, in milliseconds, and what the sandbox is a server without. */
export interface Settings {
	/** A run; 0 by default. */
	runMs: number;
	/** A word of an answer; 0 by default, when all come at once. */
	wordMs: number;
	/** Processing one document; 100 by default. */
	processMs: number;
	/** Embedding a knowledgebase anew with another model; 100 by default. */
	rebuildMs: number;
	/** False makes Xpert's routes `process` and `status` unknown. */
	processing: boolean;
	/** False makes E8 and E11 fail as on a server without an embedding model. */
	embeddingModel: boolean;
}

export interface Context extends Settings {
	store: Store;
	tokens: Tokens;
	faults: Faults;
	requests: RequestLog;
	queue: { add(documents: StoredDocument[]): void };
	clock: Clock;
	/** The address the sandbox listens on, e.g. `http://127.0.0.1:4000`. */
	url(): string;
	reset(): void;
}

/** One request, read and authorized, as an endpoint sees it. */
export interface Call {
	context: Context;
	caller: Caller;
	method: string;
	path: string;
	params: Record<string, string>;
	query: Record<string, unknown>;
	headers: IncomingHttpHeaders;
	body: unknown;
	misbehaviour: Action[];
	upload?: Upload;
}

/** An endpoint of the contract: where it is, what a success looks like, and what it does. Errors are thrown. */
export interface Endpoint {
	id: string;
	method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	/** Path below the prefix, in the form `/threads/:id`. */
	path: string;
	/** Whether the path is below `/api` instead. */
	isOutside?: boolean;
	status: number;
	contentType?: string;
	headers?: Record<string, string>;
	handle(call: Call): unknown;
}
