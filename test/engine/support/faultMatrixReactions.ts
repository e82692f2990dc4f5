import { lowerFirst } from 'lodash';

import type { Fault } from './faultMatrixFaults';
import type { MatrixOperation } from './faultMatrixOperations';

export const KINDS = [
	'write',
	'update',
	'read',
	'upload',
	'submit',
	'withFile',
	'memory',
	'run',
	'runFile',
	'start',
	'follow',
	'cancel',
	'poll',
] as const;
export type Kind = (typeof KINDS)[number];

type Reaction =
	| 'fails'
	| 'fails (?)'
	| 'succeeds'
	| 'sends again'
	| 'sends twice'
	| 'has no route'
	| 'sends again (?)'
	| 'sends halves'
	| 'sends halves (?)'
	| 'reads the thread'
	| 'reads the run'
	| 'looks at the deadline'
	| 'looks in the list'
	| 'looks until the deadline';
export type Reactions = Record<Kind, Reaction>;

export interface Expectation {
	succeeds: boolean;
	/** Requests of the operation, or tries to connect. */
	requests: number | 'several';
	/** `…` stands for words of the operation's own. */
	message: string;
	/** For Submit: whether the documents may be stored although it failed. */
	mayBeStored: boolean;
}

/** How Start Run does what a run that is waited for does by reading its thread. */
const OF_STARTING: Partial<Record<Reaction, Reaction>> = {
	'reads the thread': 'looks in the list',
};

/** Wait for Run goes on looking. */
const OF_FOLLOWING: Partial<Record<Reaction, Reaction>> = {
	'sends again': 'looks until the deadline',
};

/**
 * Reactions of writes and uploads, of reads and updates, of Submit, and of a run. The uploads of Submit and of a run may
 * arrive twice like a read: a file that nobody names harms nobody.
 */
const reactions = (
	write: Reaction,
	read: Reaction,
	submit: Reaction,
	run: Reaction,
	own: Partial<Reactions> = {},
): Reactions => ({
	write,
	upload: write,
	cancel: write,
	read,
	update: read,
	withFile: read,
	memory: read,
	runFile: read,
	poll: read,
	follow: OF_FOLLOWING[read] ?? read,
	submit,
	run,
	start: OF_STARTING[run] ?? run,
	...own,
});

const all = (reaction: Reaction, own?: Partial<Reactions>) =>
	reactions(reaction, reaction, reaction, reaction, own);

/** The server has rejected it, perhaps for one document of many. */
export const REJECTED = reactions('fails', 'fails', 'sends halves', 'fails');
/** No part of a batch shows what of the whole batch was stored before it broke. */
export const SERVER_ERROR = reactions('fails', 'fails', 'sends halves (?)', 'fails', {
	memory: 'fails (?)',
});
/** The server says that it failed, under a status that does not say what it has done by then. */
export const REPORTED = reactions('fails', 'fails', 'fails (?)', 'reads the thread');
export const FINAL = all('fails');
export const ANSWERED = all('succeeds');
/** Submit takes a server without the route of its memory for one that remembers nothing. */
export const ROUTE_MISSING = all('sends twice', { memory: 'succeeds' });
export const NOT_PROCESSED = all('sends again');
/** The server may have done the work all the same. */
export const UNCERTAIN = reactions('fails', 'sends again', 'sends again (?)', 'reads the thread', {
	cancel: 'reads the run',
});
/** Servers of the contract answer so to the route of Start Run, which they do not have. */
export const FOREIGN_404: Reactions = { ...UNCERTAIN, start: 'has no route' };
export const TIMED_OUT: Reactions = {
	...UNCERTAIN,
	run: 'looks at the deadline',
	// The deadline of the run is the time its uploads have, and the first look at a run by its ID.
	runFile: 'fails',
	follow: 'fails',
};
/** New records have any ID, and what is asked for is known by its ID. */
export const OTHER_RECORD = reactions('succeeds', 'succeeds', 'sends again (?)', 'succeeds', {
	update: 'sends again',
	read: 'sends again',
	memory: 'sends again',
	// A run is known by its ID and its thread.
	follow: 'looks until the deadline',
	cancel: 'reads the run',
});

/** Documents in one batch of Submit; each fault meets all of them. */
export const DOCUMENTS: Partial<Record<Kind, number>> = { submit: 2, withFile: 1, memory: 1 };

/** Tries of a request; those of Submit fit into Retry for (Minutes). */
const TRIES = 3;
const OTHER_TRIES: Partial<Record<Kind, number | 'several'>> = {
	submit: 'several',
	withFile: 'several',
	memory: 'several',
	follow: 'several',
	run: 5,
	start: 5,
};

export const NO_CONVERSATION = 'There is no conversation with this ID';
const UNKNOWN = 'It is not known whether the message has reached the assistant';
const NO_UPLOAD_ROUTE =
	'The server answered 404: it has no route for uploads. If the Base URL of the credential is right, set "Documents From" to Fields, and send what the server can read';
const NO_BACKGROUND = 'This server starts no runs in the background';

function wordsOf({ words, reactions: by }: Fault, kind: Kind): string {
	const isNoRoute = by === ROUTE_MISSING;
	if (kind === 'runFile') return `The file in "data" was not uploaded: ${lowerFirst(words)}`;
	if (kind === 'start' && (isNoRoute || by === FOREIGN_404)) return NO_BACKGROUND;
	return isNoRoute && kind === 'withFile' ? NO_UPLOAD_ROUTE : words;
}

function triesOf({ isForeign, reactions: by, unreachable }: Fault, kind: Kind): number | 'several' {
	const isRun = kind === 'run' || kind === 'start';
	// A thread that cannot be reached is read first, as by every request that stands alone. One that exists is locked first.
	if (isRun && unreachable) return kind === 'start' ? 2 * TRIES : TRIES;
	// Submit waits for a server behind a proxy that answers 404 as for one that is away.
	const isAwaited =
		kind === 'memory' || ((kind === 'submit' || kind === 'withFile') && by === FOREIGN_404);
	return isForeign && !isAwaited ? TRIES : (OTHER_TRIES[kind] ?? TRIES);
}

export function expected(
	fault: Fault,
	{ kind, right, gone }: Pick<MatrixOperation, 'kind' | 'right' | 'gone'>,
	isLasting: boolean,
): Expectation {
	const message = wordsOf(fault, kind);
	const fails = { succeeds: false, requests: 1, message, mayBeStored: false };
	if (gone?.test(fault.title)) return { ...fails, message: NO_CONVERSATION };
	const reaction = right?.test(fault.title) ? 'succeeds' : fault.reactions[kind];
	const passes = { ...fails, succeeds: !isLasting };
	// Where the memory can be read, it is read in several requests.
	const toSuccess = (requests: number) => (kind === 'memory' ? 'several' : requests);
	switch (reaction) {
		case 'fails':
		case 'has no route':
			return fails;
		case 'fails (?)':
			return { ...fails, mayBeStored: true };
		case 'succeeds':
			return { ...fails, succeeds: true, requests: toSuccess(1) };
		case 'sends again':
			return { ...passes, requests: isLasting ? triesOf(fault, kind) : toSuccess(2) };
		case 'sends twice':
			return { ...passes, requests: 2 };
		case 'sends again (?)':
			return { ...passes, requests: isLasting ? triesOf(fault, kind) : 2, mayBeStored: true };
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
				succeeds: !isLasting && !fault.isUnread,
				message: `${UNKNOWN}. ${message}`,
			};
		case 'reads the run':
			return { ...fails, succeeds: !isLasting && !fault.isUnread };
		case 'looks until the deadline':
			return { ...passes, requests: isLasting ? 'several' : 2 };
		case 'looks at the deadline':
			return { ...passes, message: `${UNKNOWN}. ${message}` };
	}
}
