import { lowerFirst } from 'lodash';

import type { Fault } from './faultMatrixFaults';
import { DOCUMENTS } from './faultMatrixOperations';
import type { Kind } from './faultMatrixOperations';

/** What an operation does about a fault. */
export type Reaction =
	| 'fails'
	| 'goes through'
	| 'sends again'
	| 'sends again (?)'
	| 'sends halves'
	| 'fails (?)'
	| 'reads the thread'
	| 'ends at the deadline';

/** What must come of it. */
export interface Expectation {
	succeeds: boolean;
	/** Requests of the operation, or tries to connect. */
	requests: number | 'several';
	message: string;
	/** For Submit: whether the documents may be stored although it failed. */
	mayBeStored: boolean;
}

interface Row {
	words: string;
	reactions: Record<Kind, Reaction>;
}

/** Tries of a run that has certainly not begun. */
const RUN_TRIES = 5;

/** Tries of a request that stands alone. */
const SINGLE_TRIES = 3;

const TRIES: Record<Kind, number | 'several'> = {
	write: SINGLE_TRIES,
	update: SINGLE_TRIES,
	read: SINGLE_TRIES,
	upload: SINGLE_TRIES,
	// As many as fit into Retry for (Minutes).
	withIds: 'several',
	withoutIds: 'several',
	withFile: 'several',
	memory: 'several',
	run: RUN_TRIES,
	runFile: SINGLE_TRIES,
};

/**
 * Reactions of writes and uploads, of reads and updates, of Submit with and without IDs, and of a run. The uploads
 * of Submit and of a run may arrive twice like a read: a file that nobody names harms nobody.
 */
const row = (
	words: string,
	write: Reaction,
	read: Reaction,
	withIds: Reaction,
	withoutIds: Reaction,
	run: Reaction,
	update = read,
): Row => ({
	words,
	reactions: {
		write,
		update,
		read,
		upload: write,
		withIds,
		withoutIds,
		withFile: read,
		memory: read,
		run,
		runFile: read,
	},
});

const everywhere = (words: string, reaction: Reaction): Row =>
	row(words, reaction, reaction, reaction, reaction, reaction);

const said = (status: number) => `The server answered ${status}: not today`;
const unreached = (why: string) => `The server could not be reached: ${why}`;
const RESET = unreached('the connection was closed before an answer came (ECONNRESET)');

const finished = (status: number) => everywhere(said(status), 'fails');
const rejected = (status: number) =>
	row(said(status), 'fails', 'fails', 'sends halves', 'fails (?)', 'fails');
/** The server has certainly done nothing. */
const notYet = (words: string) => everywhere(words, 'sends again');
const notNow = (status: number) => notYet(said(status));
/** The server may have done the work all the same. */
const doubtful = (words: string) =>
	row(words, 'fails', 'sends again', 'sends again (?)', 'fails (?)', 'reads the thread');

/** The promise: what every kind of operation does about every fault. */
const ROWS: Record<string, Row> = {
	'400': rejected(400),
	'401': finished(401),
	'403': finished(403),
	// No document of the matrix names a file that could be missing: it is the knowledgebase.
	'404': {
		...finished(404),
		// A server without the route: everything is sent.
		reactions: { ...finished(404).reactions, memory: 'goes through' },
	},
	'408': doubtful(said(408)),
	'409': finished(409),
	'413': row(said(413), 'fails', 'fails', 'sends halves', 'sends halves', 'fails'),
	'422': rejected(422),
	'425': doubtful(said(425)),
	'429': notNow(429),
	'429 with Retry-After in seconds': notNow(429),
	'429 with Retry-After as a date': notNow(429),
	'500': rejected(500),
	'502': doubtful(said(502)),
	'503': doubtful(said(503)),
	'503 with Retry-After': notNow(503),
	'504': doubtful(said(504)),
	'Connection refused': notYet(
		unreached('nothing accepts connections at this address (ECONNREFUSED)'),
	),
	'Unknown host name (DNS)': notYet(unreached('the host name is not known (ENOTFOUND)')),
	'Connection reset before the request was read': doubtful(RESET),
	'Connection reset after the request was read': doubtful(RESET),
	'No answer within Timeout': {
		...doubtful('The server did not answer in time'),
		reactions: {
			...doubtful('').reactions,
			run: 'ends at the deadline',
			// The deadline of the run is the time its uploads have.
			runFile: 'fails',
		},
	},
	'Connection cut in the middle of the answer': doubtful(
		unreached('the connection was closed in the middle of the answer (ERR_BAD_RESPONSE)'),
	),
	'Truncated JSON': doubtful(
		"The server's answer cannot be read: it breaks off or is not valid JSON (HTTP 200)",
	),
	'HTML page with 200': doubtful(
		"The server's answer cannot be read: it is an HTML page, not an answer of this API (HTTP 200)",
	),
	'HTML page with 502': doubtful(
		'The server answered 502: an HTML page with the title "Bad Gateway"',
	),
	// Whoever writes is told that it is done; whoever reads has nothing.
	'Empty body with 200': row(
		"The server's answer cannot be read: it is empty (HTTP 200)",
		'goes through',
		'sends again',
		'goes through',
		'goes through',
		'reads the thread',
		'goes through',
	),
	'Wrong content type with 200': everywhere('', 'goes through'),
	'Redirect to the same origin': everywhere(
		'The server redirects to another path of the same server, which the node does not follow with your token (HTTP 307)',
		'fails',
	),
	'Redirect to another origin': everywhere(
		'The server redirects to https://evil.example, which the node does not follow with your token (HTTP 307)',
		'fails',
	),
};

/** The row of a fault. */
export function rowOf({ title }: Fault): Row {
	const found = ROWS[title];
	if (!found) throw new Error(`the table has no row for ${title}`);
	return found;
}

const NOT_BEGUN = 'The message did not reach the assistant';
/** Said of a file of a run before the words of the table. */
export const NOT_UPLOADED = 'The file in "data" was not uploaded:';
/** Said by Submit of a server that has no route for uploads. */
export const NO_UPLOADS =
	'The server answered 404: this server takes no uploads. Set "Documents From" to Fields, and send what it can read';
const DEADLINE = 'The run was still going on when the deadline came';

/** The words of a fault, as an operation of a kind says them. */
function wordsOf(fault: Fault, kind: Kind): string {
	const { words } = rowOf(fault);
	if (kind === 'runFile') return `${NOT_UPLOADED} ${lowerFirst(words)}`;
	return kind === 'withFile' && fault.title === '404' ? NO_UPLOADS : words;
}

/** What must come of a cell: the table, spelled out. */
export function expected(fault: Fault, kind: Kind, lasting: boolean): Expectation {
	const { reactions } = rowOf(fault);
	const words = wordsOf(fault, kind);
	const tries = TRIES[kind];
	// Where the memory can be read, it is read in several requests.
	const readsOn = kind === 'memory' && fault.title !== '404';
	const fails = { succeeds: false, requests: 1, message: words, mayBeStored: false };
	switch (reactions[kind]) {
		case 'fails':
			return fails;
		case 'fails (?)':
			return { ...fails, mayBeStored: true };
		case 'goes through':
			return { ...fails, succeeds: true, requests: readsOn ? 'several' : 1 };
		case 'sends again':
			return { ...fails, succeeds: !lasting, requests: lasting ? tries : readsOn ? 'several' : 2 };
		case 'sends again (?)':
			return { ...fails, succeeds: !lasting, requests: lasting ? tries : 2, mayBeStored: true };
		case 'sends halves':
			return { ...fails, succeeds: !lasting, requests: 1 + (DOCUMENTS[kind] ?? 0) };
		case 'reads the thread':
			return { ...fails, succeeds: !lasting && fault.read, message: `${NOT_BEGUN}. ${words}` };
		case 'ends at the deadline':
			return { ...fails, message: DEADLINE };
	}
}
