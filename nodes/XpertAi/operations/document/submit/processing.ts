import type { Execution } from '../../../execution/operation';
import { processDocuments, processingWord } from '../../../ingest/processing';
import type { ProcessingResult } from '../../../ingest/processing';
import type { Fingerprints } from '../../../ingest/fingerprints';
import { counted } from '../../../ingest/summary';
import type { Clock } from '../../../transport/clock';
import { failureMessage } from '../../../transport/failure';
import type { Failure } from '../../../transport/failure';
import { isMissing } from '../../../transport/meaning';
import { processingRoutes } from './routes';
import type { SubmitSettings } from './settings';
import type { StoredState } from './memory';
import { processedItem, processingFlaw } from './report';
import type { SubmitReport } from './report';

/**
 * Starts the processing of the documents stored in this run, follows those that an earlier run has started,
 * and puts the end into their items (Process After Storing, Wait Until Processed). Documents stay stored
 * whatever comes of it.
 *
 * @param state what the next run is to know, where it is to know anything
 * @returns notes for the user about what could not be done
 */
export async function processStored(
	execution: Execution,
	settings: SubmitSettings,
	report: SubmitReport,
	clock: Clock,
	state?: StoredState,
): Promise<string[]> {
	if (!settings.process) return [];
	const notes: string[] = [];
	let unfinished = 0;
	for (const [knowledgebaseId, stored] of report.stored) {
		const idsOf = (running: boolean) =>
			stored.filter((one) => running === (one.running === true)).map(({ id }) => id);
		const ids = [...new Set(idsOf(false))];
		const routes = processingRoutes(execution, settings, knowledgebaseId, clock);
		const { waitMs } = settings;
		const result = await processDocuments({ ids, running: idsOf(true), waitMs }, routes);
		const { statuses, failure, timedOut } = result;
		if (failure)
			notes.push(
				processingNote(
					failure,
					ids.every((id) => statuses.has(id)),
				),
			);
		if (timedOut) unfinished += countRunning(result);
		remember(await state?.of(knowledgebaseId), new Set(stored.map(({ id }) => id)), result);
		for (const { id, item, position } of stored) {
			const output = report.items[position];
			const flaw = flawOf(id, result);
			if (output) report.items[position] = processedItem(item, output, statuses.get(id), flaw);
			if (flaw !== undefined) report.addUnprocessed(id, flaw);
		}
	}
	if (unfinished > 0) notes.push(unfinishedNote(unfinished, state !== undefined));
	if (report.processingFailed > 0) {
		const documents = counted(report.processingFailed, 'document is', 'documents are');
		notes.push(`${documents} stored but not processed.`);
	}
	return notes;
}

/** Tells the next run which documents are done; it asks for the status of the others before it sends them again. */
function remember(
	memory: Fingerprints | undefined,
	ids: Set<string>,
	{ statuses, failure }: ProcessingResult,
): void {
	if (!memory) return;
	for (const id of ids) {
		const status = statuses.get(id);
		const word = processingWord(status);
		if (word === 'finish' || hasNoRoute(failure)) memory.settle(id);
		else if (status && word !== 'running') memory.forget(id);
	}
}

function countRunning({ statuses }: ProcessingResult): number {
	return [...statuses.values()].filter((status) => processingWord(status) === 'running').length;
}

/** Why a stored document is not processed: the server gave it up, or did not start on it. */
function flawOf(id: string, { statuses, failure }: ProcessingResult): string | undefined {
	if (statuses.has(id)) return processingFlaw(statuses.get(id));
	if (failure === undefined || hasNoRoute(failure)) return undefined;
	return `The document is stored, but its processing could not be started. ${failureMessage(failure)}`;
}

/** On a server that cannot process, documents are done when they are stored. */
function hasNoRoute(failure: Failure | undefined): boolean {
	return failure !== undefined && isMissing(failure);
}

function processingNote(failure: Failure, started: boolean): string {
	if (hasNoRoute(failure))
		return 'The documents are stored, but this server has no route to process them.';
	const what = started ? 'followed' : 'started';
	return `The documents are stored, but their processing could not be ${what}. ${failureMessage(failure)}.`;
}

function unfinishedNote(count: number, remembered: boolean): string {
	const documents = counted(count, 'document was', 'documents were');
	const next = remembered ? '; the next run asks for the end' : '';
	return `${documents} still being processed when the wait ended${next}.`;
}
