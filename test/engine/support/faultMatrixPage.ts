import groupBy from 'lodash/groupBy';

import { markdownTable } from '../../support/generated';
import { FAULTS } from './faultMatrixFaults';
import type { Fault } from './faultMatrixFaults';
import { KINDS, KIND_TITLES } from './faultMatrixOperations';
import type { Kind } from './faultMatrixOperations';
import { rowOf } from './faultMatrixTable';
import type { Reaction } from './faultMatrixTable';

/** What each reaction means to a user. */
const LEGEND: Record<Reaction, string> = {
	fails: 'one request; the item fails with the reason',
	'goes through': 'one request; its answer is taken as it came',
	'asks twice':
		'what the server says twice, a second apart, is believed: the item fails, nothing was done',
	'has no route':
		'one request; the item fails, as a server that answers so has no such route, and nothing was done',
	'sends again':
		'sent again after a wait, up to 3 times in half a minute (_Submit_: as _Retry for (Minutes)_ says; a run: 5 times). If the fault lasts, the item fails and nothing was stored or started by it; an update may have been done, or a file uploaded',
	'sends again (?)':
		'as _sends again_; if the fault lasts, the documents are `unknown`. Sending them once more under their IDs does no harm',
	'sends halves':
		'the batch is cut in two until the documents at fault are found; the others are stored',
	'sends halves (?)':
		'as _sends halves_; the documents at fault are `unknown`, as the batch may have stored them',
	'reads the thread':
		'the message is not sent again: the thread tells whether it arrived, and has the answer',
	'looks in the list':
		'the run is not started again: the list of runs of the thread tells whether it has begun',
	'looks until the deadline':
		'the run is looked at again until _Deadline (Minutes)_, or for a minute where it could not be read once',
	'looks at the deadline':
		'the thread is read once more at the deadline; a run that has ended by then has its answer',
};

/** Entries that differ in nothing shown are grouped. */
const grouped = <One>(all: readonly One[], what: (one: One) => unknown): One[][] =>
	Object.values(groupBy(all, (one) => JSON.stringify(what(one))));

/**
 * The table of the fault matrix for users, and what its words mean: faults that every kind of operation meets in the same
 * way are one row, kinds of operations that meet every fault in the same way are one column.
 */
export function faultTables(): string {
	const reactionTo = (fault: Fault, kind: Kind) => rowOf(fault).reactions[kind];
	const kinds = grouped(KINDS, (kind) => FAULTS.map((fault) => reactionTo(fault, kind)));
	const faults = grouped(FAULTS, (fault) => rowOf(fault).reactions);
	const named = kinds.map((alike) => alike.map((kind) => KIND_TITLES[kind]).join('; '));
	const table = markdownTable(
		['Fault', ...named],
		faults.map((alike) => [
			alike.map(({ title }) => title).join(', '),
			...kinds.map(([kind = 'read']) => reactionTo(alike[0] as Fault, kind)),
		]),
	);
	const used = new Set(FAULTS.flatMap((fault) => Object.values(rowOf(fault).reactions)));
	const legend = markdownTable(
		['In the table', 'Means'],
		Object.entries(LEGEND)
			.filter(([word]) => used.has(word as Reaction))
			.map(([word, meaning]) => [`**${word}**`, meaning]),
	);
	return `${table}\n\n${legend}`;
}
