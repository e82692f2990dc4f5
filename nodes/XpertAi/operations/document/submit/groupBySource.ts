import type { AnyZodObject } from 'zod';

import { sourceNameAndShard } from '../sourceIdentity';
import type { Item } from '../../../execution/item';
import { mayContinue } from '../../../execution/n8nExecution';
import { throwIfFixedKey } from './fixedFieldChecks';
import { sameSettingsCheck, submitSettingsSchema } from './settings';
import { SourceRun } from './sourceRun';
import type { Submission } from './submission';

/**
 * Groups the items by knowledgebase and source, and queues each item for the run of its source. Counts an item that is
 * not valid as a rejected document. With On Error = Stop Workflow, reads all items now, and stops at the first invalid
 * item (`submission.stoppedBy`). The caller then ends the execution before anything is sent. Files and files of records
 * may be large, so they are read later.
 *
 * @throws NodeOperationError if several items of a source have the same Fixed key
 */
export function groupBySource(
	submission: Submission,
	items: Item[],
	schema: AnyZodObject = submitSettingsSchema,
): SourceRun[] {
	const { first } = submission;
	const readsAhead = !mayContinue(first.context);
	const checkSettings = sameSettingsCheck(first, schema);
	const sourceRuns = new Map<string, SourceRun>();
	const queueItem = (item: Item) => {
		item.checkSameCredential(first);
		checkSettings(item);
		const knowledgebaseId = item.filledText('knowledgebaseId');
		const source = sourceNameAndShard(item);
		const documents = readsAhead ? submission.readItemDocuments(item) : undefined;
		const place = JSON.stringify([knowledgebaseId, source]);
		const sourceRun =
			sourceRuns.get(place) ?? new SourceRun(submission, knowledgebaseId, source, item);
		sourceRuns.set(place, sourceRun);
		sourceRun.reader.queue.push({ item, documents });
	};
	for (const [at, item] of items.entries()) {
		try {
			queueItem(item);
		} catch (caught) {
			submission.unassigned += 1;
			submission.addFailedItem(item, caught);
		}
		submission.itemsNotRead = items.length - at - 1;
		if (submission.stoppedBy) break;
	}
	submission.sourceCount = sourceRuns.size;
	const all = [...sourceRuns.values()];
	throwIfFixedKey(first, Math.max(0, ...all.map(({ reader }) => reader.queue.length)));
	return all;
}
