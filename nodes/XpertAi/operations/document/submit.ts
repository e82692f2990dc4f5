import escapeRegExp from 'lodash/escapeRegExp';
import truncate from 'lodash/truncate';
import { NodeOperationError } from 'n8n-workflow';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { mayContinue } from '../../execution/items';
import type { ItemError } from '../../execution/items';
import { steadyContext } from '../../execution/steadyContext';
import { counted } from '../../ingest/summary';
import { systemClock } from '../../transport/clock';
import type { CodedOperation, OperationContext } from '../operation';
import { processStored } from './processStored';
import { readSettings } from './settings';
import type { SubmitSettings } from './settings';
import { StoredState } from './storedState';
import { submitProperties } from './submitFields';
import type { SubmitReport } from './submitReport';
import { SubmitRun } from './submitRun';

export const submit: CodedOperation = {
	value: 'submit',
	name: 'Submit',
	action: 'Submit documents to a knowledgebase',
	description:
		'Store documents in bulk, also hundreds of thousands. Documents with a UUID as ID replace earlier ones with the same ID.',
	endpoint: 'E3',
	properties: submitProperties,
	execute,
};

async function execute({ send, ...given }: OperationContext): Promise<INodeExecutionData[]> {
	const context = steadyContext(given.context);
	const operation = { context, send };
	if (context.getInputData().length === 0) return [];
	const settings = readSettings({ context, itemIndex: 0 });
	const started = systemClock.now();
	const { report, notes } = await storeAndProcess(operation, settings);
	if (report.processingFailed > 0 && !mayContinue(context))
		throw processingError(context, report, notes);
	const seconds = (systemClock.now() - started) / 1000;
	addHints(context, settings, report, notes);
	return settings.summaryOnly ? [summaryItem(context, report, seconds, notes)] : report.items;
}

/** What is known by the end is kept for the next run, however this one ends. */
async function storeAndProcess(
	operation: OperationContext,
	settings: SubmitSettings,
): Promise<{ report: SubmitReport; notes: string[] }> {
	const { skipUnchanged, resendAll } = settings;
	const state = skipUnchanged ? new StoredState(operation.context, resendAll) : undefined;
	try {
		const run = new SubmitRun(operation, settings, systemClock, state);
		await run.run();
		const { report } = run;
		if (report.stopError) throw withCounts(report.stopError, report);
		return { report, notes: await processStored(operation, settings, report, systemClock, state) };
	} finally {
		await state?.save();
	}
}

/** Says how much is stored and what a second run would do. */
function withCounts(error: ItemError, { summary, notSent }: SubmitReport): ItemError {
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
function processingError(
	context: OperationContext['context'],
	report: SubmitReport,
	notes: string[],
): NodeOperationError {
	const message = notes.join(' ');
	const error = new NodeOperationError(context.getNode(), message, {
		description: reasonsOf(report).join('; '),
	});
	error.message = message;
	return error;
}

function summaryItem(
	context: OperationContext['context'],
	{ summary }: SubmitReport,
	seconds: number,
	notes: string[],
): INodeExecutionData {
	const { requests, ...counts } = summary.requests;
	const json: IDataObject = {
		...summary.counts,
		...(notes.length > 0 ? { notes } : {}),
		failed: summary.failed as unknown as IDataObject[],
		seconds: Math.round(seconds * 1000) / 1000,
		attempts: requests,
		...counts,
	};
	return { json, pairedItem: context.getInputData().map((_, item) => ({ item })) };
}

/** How much of a hint, which is short, names columns. */
const MAX_COLUMNS_LENGTH = 70;

/** Columns that were mapped to nothing, without those an expression of the node names. */
function unusedColumns(
	context: OperationContext['context'],
	{ unusedColumns: unused }: SubmitReport,
): string[] {
	if (unused.size === 0) return [];
	const parameters = JSON.stringify(context.getNode().parameters);
	return [...unused].filter(
		(name) => !new RegExp(`json(\\.|\\[\\W{1,2})${escapeRegExp(name)}\\b`).test(parameters),
	);
}

function addHints(
	context: OperationContext['context'],
	settings: SubmitSettings,
	report: SubmitReport,
	notes: string[],
): void {
	const messages = [report.summary.line(), ...notes];
	if (report.replaced > 0) {
		const documents = counted(report.replaced, 'document');
		messages.push(`${documents} came with the ID of an earlier one and replaced it.`);
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
	if (settings.skipUnchanged && context.getMode() === 'manual') {
		messages.push(
			'Skip Unchanged keeps no state in manual executions: a scheduled run will send these again.',
		);
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
