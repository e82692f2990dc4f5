import type { INodeExecutionData } from 'n8n-workflow';

import type { Execution } from '../../../execution/operation';
import { mayContinue } from '../../../execution/outputs';
import { systemClock } from '../../../transport/clock';
import { disableMissing, refuseInLoop } from './gone';
import { Memories } from './memories';
import { processStored } from './processing';
import { processingError, withCounts } from './errors';
import { addHints } from './hints';
import { summaryItem } from './outcomeItems';
import type { SubmitReport } from './report';
import { readSettings } from './settings';
import type { SubmitSettings } from './settings';
import { Submission } from './submission';

/** Stores the documents of all items, processes them and reports what became of each. */
export async function execute(execution: Execution): Promise<INodeExecutionData[]> {
	const { context, items } = execution;
	const [first] = items;
	if (!first) return [];
	const settings = readSettings(first);
	if (settings.disableGone) refuseInLoop(first);
	const started = systemClock.now();
	const { report, notes } = await storeAndProcess(execution, settings);
	if (report.processingFailed > 0 && !mayContinue(context))
		throw processingError(first, report, notes);
	const seconds = (systemClock.now() - started) / 1000;
	addHints(context, report, notes);
	return settings.summaryOnly ? [summaryItem(context, report, seconds, notes)] : report.items;
}

/** What is known by the end is kept for the next run, however this one ends. */
async function storeAndProcess(
	execution: Execution,
	settings: SubmitSettings,
): Promise<{ report: SubmitReport; notes: string[] }> {
	const { skipUnchanged, disableGone } = settings;
	const memories =
		skipUnchanged || disableGone ? new Memories(execution, settings, systemClock) : undefined;
	const submission = new Submission(execution, settings, systemClock, memories);
	const { report } = submission;
	const notes: string[] = [];
	try {
		await submission.submitAll();
		if (report.stopError) {
			// What is stored is found all the same; its end is for the next run to ask.
			for (const start of submission.starts.values()) await start.startRest();
			throw withCounts(report.stopError, report);
		}
		notes.push(...(await processStored(submission)));
		notes.push(...(await disableMissing(execution, submission, systemClock)));
	} finally {
		await memories?.save();
	}
	notes.push(...((await memories?.notes()) ?? []));
	return { report, notes };
}
