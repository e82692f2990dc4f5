import trimEnd from 'lodash/trimEnd';
import uniq from 'lodash/uniq';

import type { Item } from '../../../execution/item';
import type { ItemError } from '../../../execution/outputs';
import { adviceFor } from './advice';
import { counted, countsInWords } from './counts';
import type { FailedDocument, SubmitReport } from './report';

/** Adds to an error how many documents are stored, which are not, and what a second run would do. */
export function withCounts(
	error: ItemError,
	{ counts, failed: failedDocuments, notSent, notRead }: SubmitReport,
): ItemError {
	const { found, stored, unknown } = counts;
	const unread = notRead > 0 ? `, ${counted(notRead, 'item')} not read` : '';
	const failed = failedDocuments.filter(({ outcome }) => outcome !== 'stored');
	const names = failed.flatMap(({ name }) => name ?? []);
	const reasons = reasonsOf(failed);
	error.message = trimEnd(
		sentences(error.message, `${countsInWords({ ...counts, notSent })}${unread}`),
		'.',
	);
	error.description = sentences(
		error.description ?? undefined,
		names.length > 0 ? `Not stored: ${someNames(names)}` : undefined,
		reasons.length > 1 ? `Reasons: ${reasons.join('; ')}` : undefined,
		found + stored + unknown > 0 ? SECOND_RUN : undefined,
	);
	return error;
}

const SECOND_RUN =
	'A second run replaces documents that carry a UUID as ID and stores all others again';

const CONTINUE_HINT =
	'To have the others come out all the same, set "On Error" in the settings of the node to "Continue (using error output)"';

/** The reasons of failed documents, as many as fit into a message. */
function reasonsOf(failed: FailedDocument[]): string[] {
	return uniq(failed.map(({ reason }) => reason)).slice(0, 3);
}

/** The error, with Stop, of documents that could not be processed. They stay stored. */
export function processingError(
	item: Item,
	{ counts, failed: listed, remarks, notFound }: SubmitReport,
): ItemError {
	const failed = listed.filter(({ outcome }) => outcome === 'stored');
	const reasons = reasonsOf(failed);
	const names = someNames(failed.map(({ name, id = 'one without a name' }) => name ?? id));
	return item.operationError(
		`${notFound}: ${names}`,
		sentences(
			...reasons,
			...uniq(reasons.map(adviceFor)),
			...remarks,
			countsInWords(counts),
			CONTINUE_HINT,
		),
	);
}

/** Documents that an error names. */
const MAX_NAMED = 10;

/** Joins texts as sentences, each with one full stop; skips empty ones. */
export function sentences(...texts: Array<string | undefined>): string {
	return texts.flatMap((text) => (text ? `${trimEnd(text, '. ')}.` : [])).join(' ');
}

/** Lists names, and the number of further ones. */
function someNames(names: string[]): string {
	const more = names.length - MAX_NAMED;
	const first = names.slice(0, MAX_NAMED).join(', ');
	return more > 0 ? `${first} and ${more} more` : first;
}
