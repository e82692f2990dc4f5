import type { Item } from '../../../execution/item';
import type { ItemError } from '../../../execution/outputs';
import { counted } from '../../../ingest/summary';
import { adviceFor } from './advice';
import type { SubmitReport } from './report';

/** Says how much is stored and what a second run would do. */
export function withCounts(error: ItemError, { summary, notSent }: SubmitReport): ItemError {
	const { stored, unknown, rejected, unchanged } = summary.counts;
	const counts = [`${counted(stored, 'document is', 'documents are')} stored`];
	if (unchanged > 0) counts.push(`${counted(unchanged, 'was', 'were')} unchanged`);
	if (unknown > 0) counts.push(`${unknown} may be stored`);
	if (rejected > 0) counts.push(`${counted(rejected, 'is', 'are')} not stored`);
	if (notSent > 0) counts.push(`${counted(notSent, 'was', 'were')} not sent`);
	error.message = `${error.message}. ${counts.join(', ')}`;
	const reasons = reasonsOf({ summary });
	error.description = [
		error.description,
		reasons.length > 1 ? `Reasons: ${reasons.join('; ')}.` : '',
		'A second run replaces documents that carry a UUID as ID and stores all others again.',
	]
		.filter(Boolean)
		.join(' ');
	return error;
}

/** Why documents failed, as far as it fits into a message. */
function reasonsOf({ summary }: Pick<SubmitReport, 'summary'>): string[] {
	return [...new Set(summary.failed.map(({ reason }) => reason))].slice(0, 3);
}

/** With Stop, documents that could not be processed end the workflow; they are stored nevertheless. */
export function processingError(item: Item, report: SubmitReport): ItemError {
	const reasons = reasonsOf(report);
	const advice = new Set(reasons.map(adviceFor));
	return item.operationError(
		report.remarks.join(' '),
		[`${reasons.join('; ')}.`, ...advice].join(' '),
	);
}
