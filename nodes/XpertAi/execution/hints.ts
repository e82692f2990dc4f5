import type { INodeProperties } from 'n8n-workflow';

import compact from 'lodash/compact';
import get from 'lodash/get';
import uniq from 'lodash/uniq';

import type { Failure, FailureWords } from '../transport/failure';
import { isBusy } from '../transport/classifyFailure';
import { fieldLookup, fieldName, type Naming } from './inputIssues';
import { chosenId, type NamedId } from './ids';

/** How to go on after a status: a text, or a function of the failure that may find none. */
export type StatusHint = string | ((failure: Failure) => string | undefined);

/** Hints for the statuses of an operation. */
export type StatusHints = Partial<Record<number, StatusHint>>;

/** What is known of a request to word its failure. */
export interface HintContext {
	statusHints?: StatusHints;
	/** The record IDs in its path and body. */
	ids?: NamedId[];
	/** The record that a 404 is about, if it is none of the IDs. */
	missing?: NamedId;
	/** The option that limits how long the request may take, as the panel names it. */
	timeLimit?: string;
}

/** The texts of a failure in terms of the parameters, as far as kind and status do not say everything. */
export function wordsFor(failure: Failure, context: HintContext): FailureWords {
	const ids = compact([context.missing, ...(context.ids ?? [])]);
	const isUnnamed = failure.missing === 'record' && UNNAMED_RECORD.test(failure.reason ?? '');
	const missing = isUnnamed ? ids.slice(0, context.missing ? 1 : undefined) : [];
	const names = missing.map(({ field, id }) => `${field.replaceAll('"', '')} ${id}`);
	const message = names.length > 0 ? `${names.join(' or ')} was not found` : undefined;
	return { message, hint: hintFor(failure, { ...context, ids }, names.length > 0) };
}

/** How to go on after a failure. */
function hintFor(
	failure: Failure,
	{ statusHints, ids = [], timeLimit }: HintContext,
	isMissing: boolean,
): string | undefined {
	const { kind, status = 0 } = failure;
	if (kind === 'timeout' && timeLimit !== undefined)
		return `Raise "${timeLimit}" under Options, or check how busy the server is. It may still have done the work.`;
	if (kind !== 'status') return undefined;
	if (isBusy(failure)) return FOR_LATER_HINT;
	const statusHint = statusHints?.[status];
	const known = typeof statusHint === 'function' ? statusHint(failure) : statusHint;
	if (known !== undefined) return known;
	const subjects = uniq(ids.map(({ field }) => field)).join(' and ');
	if (isMissing) {
		const why = subjects.includes('"Assistant"') ? ', it was never published' : '';
		return `The server has no record with this ID${why}, or the key may not see it. Check ${subjects}.`;
	}
	// Servers answer 403 also to some IDs.
	if (status === 403) return `${FORBIDDEN_HINT}${subjects && ` Also check ${subjects}.`}`;
	return undefined;
}

const FOR_LATER_HINT =
	'The server makes all documents of this knowledgebase searchable anew, as its embedding model was changed. Until that has ended it stores and processes nothing, and takes no other model; Knowledgebase: Get tells its status. Run it again then.';

/** Other reasons of a 404 name the missing record themselves. */
const UNNAMED_RECORD = /^the requested record was not found$/i;

const FORBIDDEN_HINT =
	"The server knows this key. A user's key runs no threads in private workspaces, an assistant's key only those of its assistant; a workspace's key creates and updates no knowledgebases.";

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
		return isNamed ? [{ name, field: `"${displayName}"`, id }] : [];
	});
}

/** The IDs at these paths of a body; a path is written `where.xpertId`. */
export function idsInBody(value: unknown, paths: string[], naming: Naming): NamedId[] {
	return paths.flatMap((text) => {
		const path = text.split('.');
		const id: unknown = get(value, path);
		return typeof id === 'string' && id !== ''
			? [{ name: String(path.at(-1)), field: fieldName(path, naming), id }]
			: [];
	});
}

/** The display name of the option that limits how long a request may take, if an operation has one. */
export function timeLimitOf(fields: INodeProperties[], operation: unknown): string | undefined {
	const isShown = ({ displayOptions }: INodeProperties) =>
		displayOptions?.show?.['/operation']?.includes(String(operation)) ?? true;
	return ['options.timeout', 'options.deadlineMinutes']
		.flatMap((name) => fieldLookup(fields)(name) ?? [])
		.find(isShown)?.displayName;
}
