import { sortBy, sumBy } from 'lodash';
import type { INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';

import { keyOf } from '../../../execution/identityFields';
import { readVersion, wantsVersion } from './documentVersion';
import { throwIfFixedVersion } from './fixedFieldChecks';
import type { Item } from '../../../execution/item';
import type { Execution } from '../../../execution/operation';
import { addHints, isTool } from '../../../execution/n8nExecution';
import { documentsError } from './documentErrors';
import { addMemoryHints, addMirroredHint, addVersionHints } from './endHints';
import { groupBySource } from './groupBySource';
import { adjustedToLinkedNodes, throwIfInLoop } from './workflowChecks';
import { disableGone } from './disableGone';
import { progressInWords } from './summaryTexts';
import { allHints } from './hints';
import { withHints } from './endErrors';
import { outputItems } from './outputItems';
import { readSubmitSettings, type SubmitSettings, submitSettingsSchema } from './settings';
import type { SourceRun } from './sourceRun';
import { type InputDocument, readOrRejectWithKey } from './sources/inputDocument';
import { Submission } from './submission';

const ITEMS_PASS_TEXT = 'They pass until you correct it.';

const findChangesSettingsSchema = z.object({
	whatIsGone: z.enum(['keep', 'disable']),
	options: submitSettingsSchema.shape.options.partial(),
});

/**
 * Runs Find Changes: passes on the items whose documents Submit would send. The setting "What Is Gone" decides whether
 * missing documents are disabled.
 *
 * @returns the items to pass on, and error items; in a dry run, the plans of all items and of the documents to
 * disable, and error items
 * @throws NodeOperationError if a setting is not valid, or the node is a tool of an agent
 * @throws the error of the first failure, with On Error = Stop Workflow
 */
export async function executeFindChanges({ items }: Execution): Promise<INodeExecutionData[]> {
	const [first] = items;
	if (!first) return [];
	if (isTool(first.context)) throw first.operationError(NOT_AS_TOOL_MESSAGE);
	const settings = readFindChangesSettings(first);
	if (settings.mirrors)
		throwIfInLoop(first, 'whatIsGone', 'Disable It: the Items Are the Whole Source', 'Leave It');
	throwIfFixedVersion(first, LISTED_VERSION_PARAMETER, items.length);
	const submission = new Submission(
		first,
		adjustedToLinkedNodes(first, settings),
		readListedDocuments,
	);
	first.progress = () => progressInWords(submission);
	const sourceRuns = groupBySource(submission, items, findChangesSettingsSchema);
	for (const sourceRun of sourceRuns) if (!submission.stoppedBy) await sourceRun.plan();
	const { error } = submission.stoppedBy ?? {};
	if (error) throw withHints(submission, error);
	for (const sourceRun of sourceRuns) await handleGone(sourceRun);
	addMirroredHint(submission);
	if (submission.sourceError) throw withHints(submission, submission.sourceError);
	submission.addCountedHint(sumBy(sourceRuns, 'comparison.unversioned'), UNVERSIONED_HINT);
	addVersionHints(submission, sourceRuns, LISTED_VERSION_PARAMETER, ITEMS_PASS_TEXT);
	addHints(first.context, allHints(submission));
	return settings.dryRun ? outputItems(submission) : changedAndErrorItems(submission);
}

/** Reads the settings. Find Changes has no fields for `remembers`, `startsProcessing` and `simplify`. */
function readFindChangesSettings(first: Item): SubmitSettings {
	const { whatIsGone } = first.settings(findChangesSettingsSchema);
	return {
		...readSubmitSettings(first),
		remembers: true,
		startsProcessing: undefined,
		mirrors: whatIsGone === 'disable',
		simplify: true,
	};
}

/** Returns the input items whose documents Submit would send (new, changed or back), and an error item for each failure. */
function changedAndErrorItems({ first, tally }: Submission): INodeExecutionData[] {
	return [
		...sortBy(tally.reports, 'item.index').flatMap(({ item, error, plan }) => {
			if (error) return item.failureOutput(error);
			// No plan: the run stopped before it compared this document.
			const isChanged = plan !== undefined && plan !== 'unchanged';
			return isChanged ? { ...item.input, ...item.output(item.input.json) } : [];
		}),
		...tally.sourceErrors.map((error) => first.failureOutput(error)),
	];
}

/** The field of Find Changes for the version. */
const LISTED_VERSION_PARAMETER = 'documentVersion';

const NOT_AS_TOOL_MESSAGE =
	'Find Changes passes items on to the next node, which the tool of an agent does not have';

const UNVERSIONED_HINT =
	'stored without a version. Where they are submitted, set "Document Version" in Document Settings.';

/** Reads the document that an item names. Without a version, the document counts as changed. */
function readListedDocuments(item: Item): InputDocument[] {
	const readKey = () => keyOf(item, 'documentKey');
	return readOrRejectWithKey(item, readKey, () => {
		const version = readVersion(item, LISTED_VERSION_PARAMETER);
		const lacksExpectedVersion =
			version === undefined && wantsVersion(item, LISTED_VERSION_PARAMETER);
		return [{ record: {}, key: readKey(), version, lacksExpectedVersion }];
	});
}

/** Counts the known documents that are missing from the items. Disables these documents if `mirrors` is set. */
async function handleGone(sourceRun: SourceRun): Promise<void> {
	const { contents, memory, submission } = sourceRun;
	const { settings, tally } = submission;
	addMemoryHints(sourceRun);
	// In a dry run, `disableGone` only counts what it would disable.
	if (settings.mirrors && settings.dryRun) return await disableGone(sourceRun);
	const gone = [...(memory?.known.ids(contents.seen) ?? [])];
	tally.plans.gone += gone.length;
	if (gone.length > 0 && settings.mirrors) await disableWithLease(sourceRun);
}

/** Disables missing documents with the lease of the source. The comparison has only read the memory, without a lease. */
async function disableWithLease(sourceRun: SourceRun): Promise<void> {
	const { item, submission } = sourceRun;
	const memory = await sourceRun.newMemory().open('to send');
	sourceRun.memory = memory;
	try {
		if (memory.holder)
			submission.addHint('Nothing was disabled: another run of this source is at work.');
		else if (memory.sendBlockedBy)
			submission.addSourceError(documentsError(item, memory.sendBlockedBy));
		else await disableGone(sourceRun);
	} finally {
		await memory.close();
	}
	addMemoryHints(sourceRun);
}
