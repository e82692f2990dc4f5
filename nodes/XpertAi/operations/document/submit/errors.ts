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
	const { found, stored, unknown, rejected, unchanged } = summary.counts;
	const kept = found + stored;
	const words: Array<[count: number, one: string, many: string]> = [
		[kept, 'is stored', 'are stored'],
		[unchanged, 'was unchanged', 'were unchanged'],
		[unknown, 'may be stored', 'may be stored'],
		[rejected, 'is not stored', 'are not stored'],
		[notSent, 'was not sent', 'were not sent'],
	];
	const counts = words
		.filter(([count]) => count > 0)
		.map(([count, one, many], at) =>
			at === 0 ? counted(count, `document ${one}`, `documents ${many}`) : counted(count, one, many),
		);
	if (notRead > 0) counts.push(`${counted(notRead, 'item was', 'items were')} not read`);
	const failed = summary.failed.filter(({ outcome }) => outcome !== 'stored');
	const names = failed.flatMap(({ name }) => name ?? []);
	const reasons = reasonsOf(failed);
	error.message = trimmedMessage(error, counts);
	error.description = sentences(
		error.description ?? undefined,
		names.length > 0 ? `Not stored: ${named(names)}` : undefined,
		reasons.length > 1 ? `Reasons: ${reasons.join('; ')}` : undefined,
		kept + unknown > 0 ? SECOND_RUN : undefined,
	);
	return error;
}

const SECOND_RUN =
	'A second run replaces documents that carry a UUID as ID and stores all others again';

function trimmedMessage({ message }: ItemError, counts: string[]): string {
	return trimEnd(sentences(message, counts.join(', ')), '.');
}

const LET_OTHERS_OUT =
	'To have the others come out all the same, set "On Error" in the settings of the node to "Continue (using error output)"';

/** Why documents failed, as far as it fits into a message. */
function reasonsOf(failed: FailedDocument[]): string[] {
	return uniq(failed.map(({ reason }) => reason)).slice(0, 3);
}

/** With Stop, documents that could not be processed end the workflow; they are stored nevertheless. */
export function processingError(item: Item, { summary, remarks }: SubmitReport): ItemError {
	const failed = summary.failed.filter(({ outcome }) => outcome === 'stored');
	const reasons = reasonsOf(failed);
	const documents = counted(failed.length, 'document is', 'documents are');
	const names = named(failed.map(({ name, id = 'one without a name' }) => name ?? id));
	const { found } = summary.counts;
	const rest = found > 0 ? `${counted(found, 'document is', 'documents are')} found` : undefined;
	return item.operationError(
		`${documents} stored but not found: ${names}`,
		sentences(...reasons, ...uniq(reasons.map(adviceFor)), ...remarks, rest, LET_OTHERS_OUT),
	);
}
