import { isUndefined, omitBy, pick, sortBy } from 'lodash';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { type OutputFormat, rawOrSelectedOutput } from '../../../execution/outputs';
import { errorToReport } from './documentErrors';
import type { DocumentReport } from './documentReport';
import { summaryLine } from './summaryTexts';
import { hintsInWords, unfindableHints } from './hints';
import type { Submission } from './submission';

const MAY_BE_STORED_TEXT = 'It is not known whether this document is stored';

/** The output item or error item of a document. Empty for a document without an outcome or plan. */
export function documentOutputItems(
	report: DocumentReport,
	output: OutputFormat,
): INodeExecutionData[] {
	const { item, outcome, plan, lastProcessingState, storedRecord } = report;
	if (!outcome && !plan) return [];
	const facts = outputFieldsOf(report);
	const error = errorToReport(report);
	if (error) {
		if (outcome === 'unknown') error.message = `${error.message}. ${MAY_BE_STORED_TEXT}`;
		return [item.failureOutput(error, facts)];
	}
	const isRaw = storedRecord && !output.simplify && outcome !== 'replaced';
	if (!isRaw) return [item.output(omitBy(facts, isUndefined))];
	const processing = lastProcessingState && pick(facts, 'processing', 'processMsg');
	return [
		item.output(rawOrSelectedOutput(output, item, { ...storedRecord, ...processing }, () => facts)),
	];
}

/** Returns the fields of the output item of a document. */
function outputFieldsOf({
	lastProcessingState,
	storedRecord,
	...report
}: DocumentReport): IDataObject {
	const { outcome, key, sendInfo, plan } = report;
	const { name = report.name, id = report.id } = storedRecord ?? {};
	// Without a `lastProcessingState`, this run has not started the processing of the stored document.
	const processing = lastProcessingState?.state ?? (storedRecord && 'none');
	return {
		name,
		outcome,
		processing,
		processMsg: lastProcessingState?.processMsg,
		key,
		id,
		...sendInfo,
		plan,
	};
}

/**
 * The output items. With Output = Summary, there is a single item with counts.
 *
 * @param seconds duration of the run, for the summary
 */
export function outputItems(submission: Submission, seconds = 0): INodeExecutionData[] {
	const { first, settings } = submission;
	const { counts, failed, goneOutputs, reports, plans, sourceErrors, requests } = submission.tally;
	if (settings.output !== 'summary')
		return [
			...sortBy(reports, 'item.index').flatMap((one) => documentOutputItems(one, settings)),
			...sourceErrors.map((error) => first.failureOutput(error)),
			...goneOutputs.map((json) => first.output(json)),
		];
	const { dryRun } = settings;
	const notes = [...hintsInWords(submission), ...unfindableHints(submission)];
	const json = {
		...(dryRun ? { ...plans, rejected: counts.rejected, plan: summaryLine(submission) } : counts),
		...(notes.length > 0 && { notes }),
		failed: failed as unknown as IDataObject[],
		seconds: Math.round(seconds * 1000) / 1000,
		...(!dryRun && requests),
	};
	return [{ json, pairedItem: first.context.getInputData().map((_, item) => ({ item })) }];
}
