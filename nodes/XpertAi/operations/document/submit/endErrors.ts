import { trimEnd } from 'lodash';

import type { ItemError } from '../../../execution/apiError';
import { countWithNoun, joinSentences, nameListText } from '../textHelpers';
import { errorToReport, processingAdvice } from './documentErrors';
import type { DocumentReport } from './documentReport';
import { countsInWords, processingFailedInWords } from './summaryTexts';
import { hintsInWords } from './hints';
import type { Submission } from './submission';

const SECOND_RUN_HINT =
	'A second run replaces documents that carry a UUID as ID and stores all others again';

const CONTINUE_HINT =
	'To have the others come out all the same, set "On Error" in the settings of the node to "Continue (using error output)", and connect that output';

/** Maximum number of reasons, and of pieces of advice, in one message. */
const MAX_REASONS = 3;

const firstDistinctTexts = (texts: string[]) => [...new Set(texts)].slice(0, MAX_REASONS);

/** Adds the hints of the run to an error that ends the run, because n8n shows no hints then. */
export function withHints(submission: Submission, error: ItemError): ItemError {
	const others = hintsInWords(submission).filter((text) => text !== joinSentences(error.message));
	error.description = joinSentences(error.description, ...others);
	return error;
}

/** The error that ends a run after a document failed. Adds facts about the run to the error of the document. */
export function stopError(submission: Submission, stopped: DocumentReport): ItemError {
	const { counts, inputHints, failed } = submission.tally;
	const { item } = stopped;
	const error = errorToReport(stopped) ?? item.operationError('A document was not stored');
	// `failed` also has stored documents whose processing failed. They are left out here.
	const names = failed.flatMap(({ name, outcome }) => {
		if (name === undefined || outcome === 'stored') return [];
		return outcome === 'unknown' ? `${name} (stored or not)` : name;
	});
	const reasons = failed.flatMap((one) => (one.outcome === 'stored' ? [] : one.reason));
	const hasOthers = item.context.getInputData().length > 1 || counts.documents > 1;
	const unread =
		submission.itemsNotRead > 0 && `, ${countWithNoun(submission.itemsNotRead, 'item')} not read`;
	error.message = trimEnd(
		joinSentences(error.message, `${countsInWords(counts)}${unread || ''}`),
		'.',
	);
	error.description = joinSentences(
		error.description,
		names.length > 0 && `Failed: ${nameListText(names)}`,
		new Set(reasons).size > 1 && `Reasons: ${firstDistinctTexts(reasons).join('; ')}`,
		...hintsInWords(submission),
		inputHints.withoutStableId > 0 && SECOND_RUN_HINT,
		hasOthers && !stopped.affectsAll && CONTINUE_HINT,
	);
	return error;
}

/** The error that ends a run if the server could not process stored documents. */
export function processingError(submission: Submission): ItemError {
	const failed = submission.tally.failed.filter(({ outcome }) => outcome === 'stored');
	const names = failed.map(({ name, id = 'one without a name' }) => name ?? id);
	return submission.first.operationError(
		`${processingFailedInWords(submission)}: ${nameListText(names)}`,
		joinSentences(
			...firstDistinctTexts(failed.map(({ reason }) => reason)),
			...firstDistinctTexts(failed.map(({ reason, name }) => processingAdvice(reason, name))),
			...hintsInWords(submission),
			countsInWords(submission.tally.counts),
			submission.tally.processingFailed < submission.tally.counts.documents && CONTINUE_HINT,
		),
	);
}
