import { isUuid } from '../payloads/common';
import { isJsonObject } from '../transport/answer';
import type { Failure } from '../transport/failure';
import { isForLater } from '../transport/classifyFailure';
import { quoted, subjectOf, findPlace } from './badInput';
import type { Naming, Place } from './badInput';
import type { Field } from './fields';
import { chosenId, namedId } from './ids';
import type { NamedId } from './ids';

/** How to go on after a status, or what tells it from the answer; nothing where the answer is another. */
export type StatusHint = string | ((failure: Failure) => string | undefined);

/** What a status means for an operation, which transport cannot know. */
export type StatusHints = Partial<Record<number, StatusHint>>;

/** What is known of a request beyond its text, to word what its failure means. */
export interface RequestMeaning {
	statusHints?: StatusHints;
	/** The ids of records it names, in its path or its body. */
	ids?: NamedId[];
	/** The body before it became text, and where its parts came from. */
	body?: { value: unknown; naming: Naming };
}

/**
 * How to go on after a failure, in words of the parameters the request was made of; nothing where kind
 * and status say all there is. What the values show comes before what the status means in general.
 */
export function hintFor(
	failure: Failure,
	{ statusHints, ids = [], body }: RequestMeaning,
): string | undefined {
	if (failure.kind !== 'status') return undefined;
	if (isForLater(failure)) return FOR_LATER_HINT;
	const stated = statusHints?.[failure.status ?? 0];
	return (
		characterHint(failure, body) ??
		foreignIdHint(failure, ids) ??
		(typeof stated === 'function' ? stated(failure) : stated) ??
		missingRecordHint(failure, ids) ??
		forbiddenHint(failure, ids)
	);
}

const FOR_LATER_HINT =
	'The server makes all documents of this knowledgebase searchable anew, as its embedding model was changed. Until that has ended it stores and processes nothing, and takes no other model; Knowledgebase: Get tells its status. Run it again then.';

/** PostgreSQL's codes for the character NUL, in a text and in JSON. */
const NOT_STORABLE = new Set(['22021', '22P05']);

/** Names the part of a body whose text the server's database refused for the character NUL. */
export function characterHint(
	{ databaseCode }: Failure,
	body: RequestMeaning['body'],
): string | undefined {
	if (!body || databaseCode === undefined || !NOT_STORABLE.has(databaseCode)) return undefined;
	const place = findPlace(body.value, (part) => typeof part === 'string' && part.includes('\0'));
	if (!place) return undefined;
	return `${subjectOf(place, body.naming)} holds the character NUL (\\u0000), which the server cannot store. Take it out, e.g. with .replaceAll('\\u0000', '').`;
}

/** Names the first id of a body given as JSON that is no UUID, after what Xpert answers to one: 500, or its database's 22P02. */
export function foreignIdHint(
	{ status, databaseCode }: Failure,
	ids: NamedId[],
): string | undefined {
	if (status !== 500 && databaseCode !== '22P02') return undefined;
	const foreign = ids.find(({ id, isAnyText }) => !isAnyText && !isUuid(id));
	if (!foreign) return undefined;
	return `The value of ${foreign.subject}, ${quoted(foreign.id)}, is not a UUID, which Xpert AI servers need.`;
}

/** Other reasons of a 404 name what is missing themselves. */
const UNNAMED_RECORD = /^the requested record was not found$/i;

function missingRecordHint({ missing, reason = '' }: Failure, ids: NamedId[]): string | undefined {
	if (missing !== 'record' || !UNNAMED_RECORD.test(reason) || ids.length === 0) return undefined;
	return `The server has no record with this ID, or the token may not see it. Check ${subjectsOf(ids)}.`;
}

/** What keys may do (service behaviour, measured). */
const FORBIDDEN_HINT =
	"The token is valid but may not do this. A user's key runs no threads in private workspaces, an assistant's key only those of its assistant; a workspace's key creates and updates no knowledgebases.";

/** Servers refuse some records as they refuse keys; an operation without ids has none to check. */
function forbiddenHint({ status }: Failure, ids: NamedId[]): string | undefined {
	if (status !== 403) return undefined;
	return ids.length > 0 ? `${FORBIDDEN_HINT} Also check ${subjectsOf(ids)}.` : FORBIDDEN_HINT;
}

function subjectsOf(ids: NamedId[]): string {
	return [...new Set(ids.map(({ subject }) => subject))].join(' and ');
}

/** The ids of an operation's own fields that a path names, the last one first: what is not there is mostly that. */
export function idsInPath(
	path: string,
	fields: Field[],
	valueOf: (name: string) => unknown,
): NamedId[] {
	const own = fields.filter(({ name }) => /Id$/.test(name)).reverse();
	return own.flatMap(({ name, displayName }) => {
		const id = String(chosenId(valueOf(name)));
		const isNamed = id !== '' && path.split('/').includes(encodeURIComponent(id));
		return isNamed ? [namedId(name, `"${displayName}"`, id)] : [];
	});
}

/** The ids that stand at these places of a body, as far as it has them; a place is written `where.xpertId`. */
export function idsInBody(value: unknown, places: string[], naming: Naming): NamedId[] {
	return places.flatMap((written) => {
		const place: Place = written.split('.');
		const id = place.reduce<unknown>(
			(part, key) => (isJsonObject(part) ? part[key] : undefined),
			value,
		);
		return typeof id === 'string' && id !== ''
			? [namedId(String(place.at(-1)), subjectOf(place, naming), id)]
			: [];
	});
}
