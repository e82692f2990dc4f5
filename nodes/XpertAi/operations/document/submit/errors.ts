import trimEnd from 'lodash/trimEnd';
import uniq from 'lodash/uniq';

import type { Item } from '../../../execution/item';
import type { ItemError } from '../../../execution/outputs';
import { counted } from '../../../ingest/summary';
import type { FailedDocument } from '../../../ingest/summary';
import { adviceFor } from './advice';
import type { SubmitReport } from './report';
import { named, sentences } from './sentences';

/** Says how much is stored, what is not, and what a second run would do. */
export function withCounts(
	error: ItemError,
	{ summary, notSent, notRead }: SubmitReport,
): ItemError {
	const { found, stored, unknown } = summary.counts;
	const unread = notRead > 0 ? `, ${counted(notRead, 'item')} not read` : '';
	const failed = summary.failed.filter(({ outcome }) => outcome !== 'stored');
	const names = failed.flatMap(({ name }) => name ?? []);
	const reasons = reasonsOf(failed);
	error.message = trimEnd(sentences(error.message, `${summary.words(notSent)}${unread}`), '.');
	error.description = sentences(
		error.description ?? undefined,
		names.length > 0 ? `Not stored: ${named(names)}` : undefined,
		reasons.length > 1 ? `Reasons: ${reasons.join('; ')}` : undefined,
		found + stored + unknown > 0 ? SECOND_RUN : undefined,
	);
	return error;
}

const SECOND_RUN =
	'A second run replaces documents that carry a UUID as ID and stores all others again';

const LET_OTHERS_OUT =
	'To have the others come out all the same, set "On Error" in the settings of the node to "Continue (using error output)"';

/** Why documents failed, as far as it fits into a message. */
function reasonsOf(failed: FailedDocument[]): string[] {
	return uniq(failed.map(({ reason }) => reason)).slice(0, 3);
}

/** With Stop, documents that could not be processed end the workflow; they are stored nevertheless. */
export function processingError(
	item: Item,
	{ summary, remarks, notFound }: SubmitReport,
): ItemError {
	const failed = summary.failed.filter(({ outcome }) => outcome === 'stored');
	const reasons = reasonsOf(failed);
	const names = named(failed.map(({ name, id = 'one without a name' }) => name ?? id));
	return item.operationError(
		`${notFound}: ${names}`,
		sentences(
			...reasons,
			...uniq(reasons.map(adviceFor)),
			...remarks,
			summary.words(),
			LET_OTHERS_OUT,
		),
	);
}
