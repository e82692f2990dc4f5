import type { INodeProperties } from 'n8n-workflow';

import get from 'lodash/get';

import type { Failure } from '../transport/failure';
import { isBusy } from '../transport/classifyFailure';
import { subjectOf, type Naming } from './badInput';
import { chosenId, type NamedId } from './ids';

/** How to go on after a status: a text, or a function of the failure that may find none. */
export type StatusHint = string | ((failure: Failure) => string | undefined);

/** Hints for the statuses of an operation. */
export type StatusHints = Partial<Record<number, StatusHint>>;

/** What is known of a request to word a hint. */
export interface HintContext {
	statusHints?: StatusHints;
	/** The record IDs in its path and body. */
	ids?: NamedId[];
}

/**
 * Suggests how to go on after a failure, in terms of the parameters; undefined if kind and status say everything.
 */
export function hintFor(
	failure: Failure,
	{ statusHints, ids = [] }: HintContext,
): string | undefined {
	if (failure.kind !== 'status') return undefined;
	if (isBusy(failure)) return FOR_LATER_HINT;
	const statusHint = statusHints?.[failure.status ?? 0];
	return (
		(typeof statusHint === 'function' ? statusHint(failure) : statusHint) ??
		missingRecordHint(failure, ids) ??
		forbiddenHint(failure, ids)
	);
}

const FOR_LATER_HINT =
	'The server makes all documents of this knowledgebase searchable anew, as its embedding model was changed. Until that has ended it stores and processes nothing, and takes no other model; Knowledgebase: Get tells its status. Run it again then.';

/** Other reasons of a 404 name the missing record themselves. */
const UNNAMED_RECORD = /^the requested record was not found$/i;

function missingRecordHint({ missing, reason = '' }: Failure, ids: NamedId[]): string | undefined {
	if (missing !== 'record' || !UNNAMED_RECORD.test(reason) || ids.length === 0) return undefined;
	return `The server has no record with this ID, or the token may not see it. Check ${subjectsOf(ids)}.`;
}

const FORBIDDEN_HINT =
	"The token is valid but may not do this. A user's key runs no threads in private workspaces, an assistant's key only those of its assistant; a workspace's key creates and updates no knowledgebases.";

/** Servers answer 403 also to some IDs. */
function forbiddenHint({ status }: Failure, ids: NamedId[]): string | undefined {
	if (status !== 403) return undefined;
	return ids.length > 0 ? `${FORBIDDEN_HINT} Also check ${subjectsOf(ids)}.` : FORBIDDEN_HINT;
}

function subjectsOf(ids: NamedId[]): string {
	return [...new Set(ids.map(({ subject }) => subject))].join(' and ');
}

/** The IDs in a path that come from the operation's own fields, last one first: that record is most likely missing. */
export function idsInPath(
	path: string,
	fields: INodeProperties[],
	valueOf: (name: string) => unknown,
): NamedId[] {
	const own = fields.filter(({ name }) => /Id$/.test(name)).reverse();
	return own.flatMap(({ name, displayName }) => {
		const id = String(chosenId(valueOf(name))).toWellFormed();
		const isNamed = id !== '' && path.split('/').includes(encodeURIComponent(id));
		return isNamed ? [{ name, subject: `"${displayName}"`, id }] : [];
	});
}

/** The IDs at these paths of a body; a path is written `where.xpertId`. */
export function idsInBody(value: unknown, paths: string[], naming: Naming): NamedId[] {
	return paths.flatMap((text) => {
		const path = text.split('.');
		const id: unknown = get(value, path);
		return typeof id === 'string' && id !== ''
			? [{ name: String(path.at(-1)), subject: subjectOf(path, naming), id }]
			: [];
	});
}
