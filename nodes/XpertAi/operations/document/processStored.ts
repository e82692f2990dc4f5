import { processDocuments } from '../../ingest/processing';
import type { ProcessingResult } from '../../ingest/processing';
import { counted } from '../../ingest/summary';
import type { Clock } from '../../transport/clock';
import { failureMessage } from '../../transport/failure';
import type { Failure } from '../../transport/failure';
import { buildPath } from '../../transport/request';
import { sendWithRetries } from '../../transport/sendWithRetries';
import type { OperationContext } from '../operation';
import { processedItem, processingFlaw } from './outputs';
import type { SubmitSettings } from './settings';
import { forgetStored } from './storedState';
import type { SubmitReport } from './submitReport';

/**
 * Starts the processing of the documents stored in this run and puts its end into their items (Process
 * After Storing, Wait Until Processed). Documents stay stored whatever comes of it.
 *
 * @returns notes for the user about what could not be done
 */
export async function processStored(
	{ context, send }: OperationContext,
	settings: SubmitSettings,
	report: SubmitReport,
	clock: Clock,
): Promise<string[]> {
	if (!settings.process) return [];
	const notes: string[] = [];
	const signal = context.getExecutionCancelSignal();
	for (const [knowledgebaseId, stored] of report.stored) {
		const ids = [...new Set(stored.map(({ id }) => id))];
		const result = await processDocuments({
			ids,
			startPath: buildPath('/knowledges/{knowledgebaseId}/process', { knowledgebaseId }),
			statusPath: (ids) =>
				buildPath('/knowledges/{knowledgebaseId}/status?ids={ids}', {
					knowledgebaseId,
					ids: ids.join(','),
				}),
			send: async (request) => {
				const { retryLimits: limits, timeoutMs } = settings;
				const retried = {
					request: { ...request, timeoutMs },
					limits,
					repeatable: true,
					clock,
					signal,
				};
				return (await sendWithRetries(send, retried)).outcome;
			},
			waitMs: settings.waitMs,
			clock,
			signal,
		});
		const { statuses, failure, timedOut } = result;
		const flaws = flawsOf(ids, result);
		if (settings.skipUnchanged) forgetStored(context, knowledgebaseId, [...flaws.keys()]);
		const started = ids.every((id) => statuses.has(id));
		if (failure) notes.push(processingNote(failure, started));
		if (timedOut)
			notes.push('Some documents were still being processed when Wait for Processing ended.');
		for (const { id, position } of stored) {
			const [item, status] = [report.items[position], statuses.get(id)];
			const flaw = flaws.get(id);
			if (item) report.items[position] = processedItem(context, item, status, flaw);
			if (flaw === undefined) continue;
			report.processingFailed += 1;
			report.summary.addUnprocessed(id, flaw);
		}
	}
	if (report.processingFailed > 0) {
		const documents = counted(report.processingFailed, 'document is', 'documents are');
		notes.push(`${documents} stored but not processed.`);
	}
	return notes;
}

/** The documents that are not processed, each with the reason. */
function flawsOf(ids: string[], result: ProcessingResult): Map<string, string> {
	return new Map(
		ids.flatMap((id): Array<[string, string]> => {
			const flaw = flawOf(id, result);
			return flaw === undefined ? [] : [[id, flaw]];
		}),
	);
}

/** Why a stored document is not processed: the server gave it up, or did not start on it. */
function flawOf(id: string, { statuses, failure }: ProcessingResult): string | undefined {
	if (statuses.has(id)) return processingFlaw(statuses.get(id));
	if (failure === undefined || hasNoRoute(failure)) return undefined;
	return `The document is stored, but its processing could not be started. ${failureMessage(failure)}`;
}

/** On a server that cannot process, documents are done when they are stored. */
function hasNoRoute(failure: Failure | undefined): boolean {
	return failure?.status === 404;
}

function processingNote(failure: Failure, started: boolean): string {
	if (hasNoRoute(failure))
		return 'The documents are stored, but this server has no route to process them.';
	const what = started ? 'followed' : 'started';
	return `The documents are stored, but their processing could not be ${what}. ${failureMessage(failure)}.`;
}
