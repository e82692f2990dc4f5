import { processingWord } from '../../../ingest/processing';
import type { ProcessingResult } from '../../../ingest/processing';
import type { Fingerprints } from '../../../ingest/fingerprints';
import { counted } from '../../../ingest/summary';
import { failureMessage } from '../../../transport/failure';
import type { Failure } from '../../../transport/failure';
import { isRouteMissing } from '../../../transport/meaning';
import { processedItem, processingFlaw } from './outcomeItems';
import type { Submission } from './submission';

/**
 * Sees the processing that was started while documents were stored to its end, and puts the end into their
 * items (After Storing). Documents stay stored whatever comes of it.
 *
 * @returns notes for the user about what could not be done
 */
export async function processStored({
	settings,
	report,
	starts,
	memories,
}: Submission): Promise<string[]> {
	const notes: string[] = [];
	let unfinished = 0;
	for (const [knowledgebaseId, start] of starts) {
		const stored = report.stored.get(knowledgebaseId) ?? [];
		const result = await start.end(settings.waitMs);
		const { statuses, failure, timedOut } = result;
		if (failure) {
			const started = stored.every(({ id }) => statuses.has(id));
			report.processingBroken ||= !hasNoRoute(failure);
			notes.push(processingNote(failure, started));
		}
		if (timedOut) unfinished += countRunning(result);
		const memory = await memories?.of(knowledgebaseId);
		remember(memory?.known, new Set(stored.map(({ id }) => id)), result);
		for (const { id, item, position } of stored) {
			const output = report.items[position];
			const flaw = flawOf(id, result);
			if (output) report.items[position] = processedItem(item, output, statuses.get(id), flaw);
			if (flaw !== undefined) report.addUnprocessed(id, flaw);
		}
	}
	if (unfinished > 0) notes.push(unfinishedNote(unfinished, memories !== undefined));
	if (report.processingFailed > 0) {
		const documents = counted(report.processingFailed, 'document is', 'documents are');
		notes.push(`${documents} stored but not found: not processed.`);
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
	return failure !== undefined && isRouteMissing(failure);
}

function processingNote(failure: Failure, started: boolean): string {
	if (hasNoRoute(failure))
		return 'This server decides by itself when documents are found: it takes no request to process them.';
	const what = started ? 'followed' : 'started';
	return `The documents are stored, but their processing could not be ${what}. ${failureMessage(failure)}.`;
}

function unfinishedNote(count: number, remembered: boolean): string {
	const documents = counted(count, 'document was', 'documents were');
	const next = remembered ? '; the next run asks for the end' : '';
	return `${documents} still being processed when the wait ended${next}.`;
}
