import { lowerFirst } from 'lodash';

import type { Fault } from './faultMatrixFaults';
import { DOCUMENTS } from './faultMatrixOperations';
import type { Kind, MatrixOperation } from './faultMatrixOperations';

/** What an operation does about a fault. */
export type Reaction =
	| 'fails'
	| 'goes through'
	| 'sends again'
	| 'asks twice'
	| 'has no route'
	| 'sends again (?)'
	| 'sends halves'
	| 'sends halves (?)'
	| 'reads the thread'
	| 'looks at the deadline'
	| 'looks in the list'
	| 'looks until the deadline';

/** What must come of it. */
export interface Expectation {
	succeeds: boolean;
	/** Requests of the operation, or tries to connect. */
	requests: number | 'several';
	/** `…` stands for words of the operation's own. */
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
	submit: 'several',
	withFile: 'several',
	memory: 'several',
	run: RUN_TRIES,
	runFile: SINGLE_TRIES,
	start: RUN_TRIES,
	follow: 'several',
	cancel: SINGLE_TRIES,
	poll: SINGLE_TRIES,
};

/** Tries where somebody else seems to answer. */
const STRANGE_TRIES = 3;

/**
 * Reactions of writes and uploads, of reads and updates, of Submit, and of a run. The uploads
 * of Submit and of a run may arrive twice like a read: a file that nobody names harms nobody.
 */
const row = (
	words: string,
	write: Reaction,
	read: Reaction,
	submit: Reaction,
	run: Reaction,
	update = read,
): Row => ({
	words,
	reactions: {
		write,
		update,
		read,
		upload: write,
		submit,
		withFile: read,
		memory: read,
		run,
		runFile: read,
		start: OF_STARTING[run] ?? run,
		follow: OF_FOLLOWING[read] ?? read,
		cancel: write,
		poll: read,
	},
});

/** How Start Run meets what a run that is waited for meets by reading its thread. */
const OF_STARTING: Partial<Record<Reaction, Reaction>> = {
	'reads the thread': 'looks in the list',
};

/** Who waits for a run goes on looking. */
const OF_FOLLOWING: Partial<Record<Reaction, Reaction>> = {
	'sends again': 'looks until the deadline',
};

/** A row in which some meet the fault in a way of their own. */
function withOwn({ words, reactions }: Row, own: Partial<Row['reactions']>): Row {
	return { words, reactions: { ...reactions, ...own } };
}

const everywhere = (words: string, reaction: Reaction): Row =>
	row(words, reaction, reaction, reaction, reaction);

const notToday = (status: number) => `The server answered ${status}: not today`;
const unreached = (why: string) => `The server could not be reached: ${why}`;
const unread = (why: string, status: number) =>
	`The server's answer cannot be read: ${why} (HTTP ${status})`;
const RESET = unreached('the connection was closed before an answer came (ECONNRESET)');

const finished = (status: number) => everywhere(notToday(status), 'fails');
const rejected = (status: number) =>
	row(notToday(status), 'fails', 'fails', 'sends halves', 'fails');
/** The server has certainly done nothing. */
const notYet = (words: string) => everywhere(words, 'sends again');
const notNow = (status: number) => notYet(notToday(status));
/** The server may have done the work all the same. */
const doubtful = (words: string) =>
	row(words, 'fails', 'sends again', 'sends again (?)', 'reads the thread');

/** Servers of the contract say so in words of their own of the routes of runs, which they do not have. */
const notFound = (words: string) => withOwn(doubtful(words), { start: 'has no route' });

/** The promise: what every kind of operation does about every fault. */
const ROWS: Record<string, Row> = {
	'400': rejected(400),
	'401': finished(401),
	'403': finished(403),
	// No document of the matrix names a file that could be missing: it is the knowledgebase.
	'404 of the API for a record': finished(404),
	'404 of the API for its route': withOwn(
		everywhere('The server answered 404: Cannot POST /not/today', 'asks twice'),
		// A server without the route remembers nothing: everything is sent.
		{ memory: 'goes through' },
	),
	'404 in JSON of somebody else': notFound(notToday(404)),
	'404 as an HTML page': notFound(
		'The server answered 404: an HTML page with the title "404 Not Found"',
	),
	'404 as text': notFound('The server answered 404: 404 page not found'),
	'404 without a body': notFound('The server answered 404: Not Found'),
	'409': finished(409),
	'413': row(notToday(413), 'fails', 'fails', 'sends halves', 'fails'),
	'422': rejected(422),
	'429': notNow(429),
	'429 with Retry-After in seconds': notNow(429),
	'429 with Retry-After as a date': notNow(429),
	// No part of a batch shows what of the whole batch was stored before it broke.
	'500': row(notToday(500), 'fails', 'fails', 'sends halves (?)', 'fails'),
	'503 with Retry-After': notNow(503),
	...Object.fromEntries(
		[408, 425, 502, 503, 504, 520, 522, 524, 529, 530].map((status) => [
			status,
			doubtful(notToday(status)),
		]),
	),
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
			run: 'looks at the deadline',
			start: 'looks in the list',
			// The deadline of the run is the time its uploads have.
			runFile: 'fails',
		},
	},
	'Connection cut in the middle of the answer': doubtful(
		unreached('the connection was closed in the middle of the answer (ERR_BAD_RESPONSE)'),
	),
	'Truncated JSON': doubtful(unread('it breaks off or is not valid JSON', 200)),
	'HTML page with 200': doubtful(unread('it is an HTML page, not an answer of this API', 200)),
	'HTML page with 502': doubtful(
		'The server answered 502: an HTML page with the title "Bad Gateway"',
	),
	'Empty body with 200': doubtful(unread('it is empty…', 200)),
	'Empty body with 201': doubtful(unread('it is empty…', 201)),
	'Empty body with 204': doubtful(unread('it is empty…', 204)),
	'`{}` with 200': doubtful(unread('…', 200)),
	'`[]` with 200': doubtful(unread('…', 200)),
	'A no with 200': doubtful(unread('it says 500 itself: Internal server error', 200)),
	'A no with 201': doubtful(unread('it says 500 itself: Internal server error', 201)),
	'`{"success":false}` with 200': doubtful(unread('it says that nothing was done', 200)),
	'JSON of another service with 200': doubtful(unread('…', 200)),
	// New records have any ID, and what is asked for is known by its ID.
	'Record of another ID with 200': withOwn(
		row(
			unread('…', 200),
			'goes through',
			'goes through',
			'sends again (?)',
			'goes through',
			'sends again',
		),
		// What a memory is asked for with them is certainly there.
		{
			...{ read: 'sends again', memory: 'sends again' },
			// A run is known by its ID and its thread.
			...{ follow: 'looks until the deadline', cancel: 'fails' },
		},
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

/** The message about a conversation that is not there. */
export const NO_CONVERSATION = 'There is no conversation with this ID';
const UNKNOWN = 'It is not known whether the message has reached the assistant';
/** The message about a file of a run, before the words of the table. */
const NOT_UPLOADED = 'The file in "data" was not uploaded:';
/** The message of Submit about a server that has no route for uploads. */
const NO_UPLOADS =
	'The server answered 404: this server takes no uploads. Set "Documents From" to Fields, and send what it can read';
/** The message of Start Run about a server that has no route for it. */
const NO_BACKGROUND = 'This server starts no runs in the background';

/** Whether the server says that it does not have the route. */
export const isNoRoute = ({ title }: Fault) => title.includes('for its route');

/** The words of a fault, as an operation of a kind says them. */
function wordsOf(fault: Fault, kind: Kind): string {
	const { words, reactions } = rowOf(fault);
	if (kind === 'runFile') return `${NOT_UPLOADED} ${lowerFirst(words)}`;
	if (kind === 'start' && (isNoRoute(fault) || reactions.start === 'has no route'))
		return NO_BACKGROUND;
	return isNoRoute(fault) && kind === 'withFile' ? NO_UPLOADS : words;
}

/** What must come of a cell: the table, spelled out. */
export function expected(
	fault: Fault,
	{ kind, right, gone }: Pick<MatrixOperation, 'kind' | 'right' | 'gone'>,
	lasting: boolean,
): Expectation {
	const reaction = right?.test(fault.title) ? 'goes through' : rowOf(fault).reactions[kind];
	const words = wordsOf(fault, kind);
	// Where the memory can be read, it is read in several requests.
	const isMemory = kind === 'memory';
	// A thread that cannot be reached is not run: it is looked at first, as by every request that stands alone.
	const isLook = (kind === 'run' || kind === 'start') && fault.unreachable;
	const looks = isLook ? SINGLE_TRIES : TRIES[kind];
	// Submit waits for a server behind a proxy that answers 404 as for one that is away.
	const isAwaited =
		kind === 'submit' || kind === 'withFile' ? rowOf(fault).words.includes('404') : isMemory;
	const tries = fault.strange && !isAwaited ? STRANGE_TRIES : looks;
	const fails = { succeeds: false, requests: 1, message: words, mayBeStored: false };
	if (gone?.test(fault.title)) return { ...fails, message: NO_CONVERSATION };
	const passes = { ...fails, succeeds: !lasting };
	switch (reaction) {
		case 'fails':
		case 'has no route':
			return fails;
		case 'goes through':
			return { ...fails, succeeds: true, requests: isMemory ? 'several' : 1 };
		case 'sends again':
			return { ...passes, requests: lasting ? tries : isMemory ? 'several' : 2 };
		case 'asks twice':
			return { ...passes, requests: 2 };
		case 'sends again (?)':
			return { ...passes, requests: lasting ? tries : 2, mayBeStored: true };
		case 'sends halves':
		case 'sends halves (?)':
			return {
				...passes,
				requests: 1 + (DOCUMENTS[kind] ?? 0),
				mayBeStored: reaction.endsWith('(?)'),
			};
		case 'reads the thread':
		case 'looks in the list':
			return {
				...fails,
				succeeds: !lasting && fault.read,
				message: `${UNKNOWN}. ${words}`,
			};
		case 'looks until the deadline':
			return { ...passes, requests: lasting ? 'several' : 2 };
		case 'looks at the deadline':
			return { ...passes, message: `${UNKNOWN}. ${words}` };
	}
}
