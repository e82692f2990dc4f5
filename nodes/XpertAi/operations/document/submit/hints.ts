import escapeRegExp from 'lodash/escapeRegExp';
import truncate from 'lodash/truncate';
import type { IExecuteFunctions } from 'n8n-workflow';

import { mayContinue } from '../../../execution/outputs';
import { counted } from '../../../ingest/summary';
import type { SubmitReport } from './report';

/** How much of a hint, which is short, names columns. */
const MAX_COLUMNS_LENGTH = 70;

/** How much of a hint names keys. */
const MAX_KEYS_LENGTH = 40;

/** Columns that were mapped to nothing, without those an expression of the node names. */
function unusedColumns(
	context: IExecuteFunctions,
	{ unusedColumns: unused }: SubmitReport,
): string[] {
	if (unused.size === 0) return [];
	const parameters = JSON.stringify(context.getNode().parameters);
	return [...unused].filter(
		(name) => !new RegExp(`json(\\.|\\[\\W{1,2})${escapeRegExp(name)}\\b`).test(parameters),
	);
}

const COUNT_MAY_BE_LOW =
	"The server's own count (documentNum) may be too low: several batches went at once. Nothing is lost by that.";

/** Tells the user what stands in no item: counts, and what is seldom meant. */
export function addHints(context: IExecuteFunctions, report: SubmitReport, notes: string[]): void {
	const messages = [report.summary.line(), ...notes];
	if (report.replaced > 0) {
		const documents = counted(report.replaced, 'document');
		const keys = truncate([...report.replacedKeys].join(', '), {
			length: MAX_KEYS_LENGTH,
			separator: ', ',
		});
		messages.push(
			`${documents} came with the key or ID of an earlier one and replaced it: ${keys}`,
		);
	}
	if (report.emptyFiles > 0)
		messages.push(`${counted(report.emptyFiles, 'file')} of records held none.`);
	if (report.countMayBeLow) messages.push(COUNT_MAY_BE_LOW);
	if (report.idMissed > 0) {
		const documents = counted(report.idMissed, 'document has', 'documents have');
		messages.push(
			`${documents} no ID: a second run stores them again. A key for Document ID prevents that.`,
		);
	}
	const unused = unusedColumns(context, report);
	if (unused.length > 0) {
		const columns = truncate(unused.join(', '), { length: MAX_COLUMNS_LENGTH });
		messages.push(`Columns that match no field of a document: ${columns}`);
	}
	if (report.withPartIds > 0) {
		const documents = counted(report.withPartIds, 'document has', 'documents have');
		messages.push(`${documents} pages or chunks with IDs: on Xpert, one that changes is lost.`);
	}
	for (const [words, count] of report.mixed)
		messages.push(`${counted(count, 'document has', 'documents have')} ${words}`);
	if (report.readAsText > 0) {
		const tables = counted(report.readAsText, 'table is', 'tables are');
		messages.push(`${tables} sent as text: servers cannot read sheets.`);
	}
	if (report.summary.counts.unknown > 0 && mayContinue(context)) {
		messages.push(
			'Documents reported as unknown may be stored; without an ID, sending them again may store them twice.',
		);
	}
	context.addExecutionHints(
		...messages.map((message) => ({ message, location: 'outputPane' as const })),
	);
}
