import { ProcessingStart } from '../../../ingest/processing';
import type { ProcessingEnd, ProcessingRoutes } from '../../../ingest/processing';
import type { SourceMemory } from '../../../ingest/sourceMemory';
import { counted } from '../../../ingest/summary';
import { failureMessage } from '../../../transport/failure';
import type { Failure } from '../../../transport/failure';
import { processingFlaw } from './outcomeItems';
import type { Submission } from './submission';

/**
 * What processes the documents of a knowledgebase (After Storing), and puts the end of each into its item and into
 * what is remembered.
 */
export function processingOf(
	{ settings, report }: Pick<Submission, 'settings' | 'report'>,
	knowledgebaseId: string,
	routes: ProcessingRoutes,
	memory?: SourceMemory,
): ProcessingStart {
	const onEnd = (id: string, end: ProcessingEnd) => {
		if (memory) remember(memory, id, end);
		report.addProcessed(knowledgebaseId, id, end, processingFlaw(end));
	};
	return new ProcessingStart(routes, { waitMs: settings.waitMs, onEnd });
}

/** Tells the next run which documents are done; it asks for the status of the others before it sends them again. */
function remember(
	{ known }: SourceMemory,
	id: string,
	{ word, hasNoRoute, failure, isStuck }: ProcessingEnd,
): void {
	// On a server that cannot process, documents are done when they are stored.
	if (word === 'finish' || hasNoRoute) known.settle(id);
	else if (isStuck || (word !== 'running' && !failure)) known.forget(id);
}

/**
 * Sees the processing that was started while documents were stored to its end. Documents stay stored whatever
 * comes of it.
 *
 * @returns notes for the user about what could not be done
 */
export async function processStored({ report, starts, memories }: Submission): Promise<string[]> {
	const notes: string[] = [];
	let waitedFor = 0;
	for (const start of starts.values()) {
		const { failure, hasNoRoute, allStarted, unfinished } = await start.end();
		if (hasNoRoute) notes.push(DECIDES_BY_ITSELF);
		else if (failure) {
			report.processingBroken = true;
			notes.push(brokenNote(failure, allStarted));
		}
		waitedFor += unfinished;
	}
	if (waitedFor > 0) notes.push(unfinishedNote(waitedFor, memories !== undefined));
	if (report.processingFailed > 0) {
		const documents = counted(report.processingFailed, 'document is', 'documents are');
		notes.push(`${documents} stored but not found: not processed.`);
	}
	return notes;
}

const DECIDES_BY_ITSELF =
	'This server decides by itself when documents are found: it takes no request to process them.';

function brokenNote(failure: Failure, allStarted: boolean): string {
	const what = allStarted ? 'followed' : 'started';
	return `The documents are stored, but their processing could not be ${what}. ${failureMessage(failure)}.`;
}

function unfinishedNote(count: number, remembered: boolean): string {
	const documents = counted(count, 'document was', 'documents were');
	const next = remembered ? '; the next run asks for the end' : '';
	return `${documents} still being processed when the wait ended${next}.`;
}
