import { compact, sumBy, uniq } from 'lodash';
import { isExpression } from 'n8n-workflow';

import { unresolvedValue } from '../../../execution/givenValues';
import { VERSION_FIELD_PARAMETER, VERSION_PARAMETER, wantsVersion } from './documentVersion';
import { shownValue } from '../../../execution/issueText';
import type { MemoryFailures } from '../../../ingest/memory';
import { failureMessage } from '../../../transport/failureText';
import { findChangesNodeBefore } from './linkedNodes';
import type { SourceRun } from './sourceRun';
import type { Submission } from './submission';
import { countWithNoun, joinSentences, truncateHint } from '../textHelpers';

/** Hints about problems with the memory of earlier runs. */
export function memoryHints({
	isMemoryUnsupported,
	lost,
	writeFailure,
	statusesFailure,
}: MemoryFailures): string[] {
	const documents = lost?.count ? `up to ${countWithNoun(lost.count, 'document')}` : 'documents';
	return compact([
		isMemoryUnsupported &&
			'Nothing is left out: this server does not give back what earlier runs have stored.',
		lost &&
			`Notes from before ${lost.at.slice(0, 10)} are missing: ${documents} may still be found although they left the source. See "Forget Earlier Damage" in Tuning and Repair.`,
		writeFailure &&
			truncateHint(
				`Not all was remembered: the next run completes it. ${failureMessage(writeFailure)}`,
			),
		statusesFailure &&
			truncateHint(
				`Not known: whether unchanged documents are still there. ${failureMessage(statusesFailure)}`,
			),
	]);
}

const NOT_SENT_IN_RETRY_TEXT = 'not sent: this is a retry, and what is stored may be newer.';

const PARTLY_MIRRORED_HINT =
	'Mirrored: the sources that brought a document in this run. Others keep what they have.';

/** Adds a hint to a mirroring run whose Source Name is an expression: a source without an item is not mirrored. */
export function addMirroredHint(submission: Submission): void {
	const { first, settings } = submission;
	if (settings.mirrors && isExpression(unresolvedValue(first.context.getNode(), 'sourceName')))
		submission.addHint(PARTLY_MIRRORED_HINT);
}

/** Adds hints about unsent documents, about versions, and about processing that was not started, followed or finished. */
export function addEndHints(submission: Submission, sourceRuns: SourceRun[]): void {
	const { circuitBreaker, tally } = submission;
	const { reason, streakLength: length } = circuitBreaker;
	// Without a length, the reason affects all documents of the knowledgebase.
	const cause = length === undefined ? 'none would be found' : `${length} in a row failed`;
	if (reason) submission.addCountedHint(tally.counts.notSent, `not sent, as ${cause}: ${reason}`);
	submission.addCountedHint(sumBy(sourceRuns, 'comparison.older'), NOT_SENT_IN_RETRY_TEXT);
	const isByField = wantsVersion(submission.first, VERSION_FIELD_PARAMETER);
	addVersionHints(
		submission,
		sourceRuns,
		isByField ? VERSION_FIELD_PARAMETER : VERSION_PARAMETER,
		submission.settings.remembers ? CONTENT_COMPARED_TEXT : NONE_COMPARED_TEXT,
	);
	if (sourceRuns.some(({ memory }) => memory?.isUsable && memory.known.size > 0))
		submission.addHint(...compact([findChangesVersionHint(submission)]));
	addProcessingHints(submission, sourceRuns);
}

/**
 * Returns a hint if this node stores documents without versions behind a Find Changes node with the same source. That
 * node compares only versions, so it passes on each document in each run. Gives no hint for JSON and files of records:
 * their documents may have other keys than the items of Find Changes, and then a version does not help.
 */
function findChangesVersionHint({ first, settings }: Submission): string | undefined {
	const mayHaveOtherKeys = ['json', 'records'].includes(
		String(unresolvedValue(first.node, 'source')),
	);
	if (settings.dryRun || mayHaveOtherKeys || wantsVersion(first, VERSION_PARAMETER))
		return undefined;
	const before = findChangesNodeBefore(first);
	return (
		before &&
		`${shownValue(before.name)} passes on all of these documents again next time, because they are stored without a version: it compares nothing else. Set "${first.labelOf(VERSION_PARAMETER)}" in both nodes.`
	);
}

/** Adds hints about processing that could not be started or followed, or that did not end in time. */
function addProcessingHints(submission: Submission, sourceRuns: SourceRun[]): void {
	const results = compact(sourceRuns.map(({ processing }) => processing?.result));
	for (const { failure, hasNoRoute, allStarted } of results) {
		if (hasNoRoute) submission.addHint(NO_PROCESSING_ROUTE_HINT);
		else if (failure) {
			const step = allStarted ? 'followed' : 'started';
			const broken = `The documents are stored, but their processing could not be ${step}`;
			submission.addHint(joinSentences(broken, failureMessage(failure)));
		}
	}
	const next = sourceRuns.some(({ memory }) => memory) ? '; the next run asks for the end' : '';
	const unfinished = `still being processed when the wait ended${next}.`;
	submission.addCountedHint(sumBy(results, 'unfinished'), unfinished);
}

const CONTENT_COMPARED_TEXT = 'Until you correct it, content is compared.';

/** With "Send Everything", nothing is compared. */
const NONE_COMPARED_TEXT = '"Send Everything" compares none.';

/**
 * Adds hints about documents without a version, and about a text that all documents have as their version.
 *
 * @param name the field for the version
 * @param meaning what the node does with documents without a version
 */
export function addVersionHints(
	submission: Submission,
	sourceRuns: SourceRun[],
	name: string,
	meaning: string,
): void {
	const label = submission.first.labelOf(name);
	const versionless = sumBy(sourceRuns, 'reader.versionless');
	submission.addCountedHint(
		versionless,
		`without a version: "${label}" gave none that counts. ${meaning}`,
	);
	const names = sourceRuns.flatMap(({ reader }) => reader.versionlessNames);
	if (names.length > 0)
		submission.addHint(
			`Without a version are for example ${names.slice(0, 3).join(', ')}: correct "${label}", or the data there.`,
		);
	const [version = '', ...others] = uniq(sourceRuns.flatMap(({ reader }) => [...reader.versions]));
	const count = sumBy(sourceRuns, 'reader.versioned');
	const isShared = count > 1 && others.length === 0 && versionless === 0;
	// A version with a digit may be right although all documents have it, e.g. the number of their first revision.
	if (submission.settings.remembers && isShared && !/\p{N}/u.test(version))
		submission.addHint(
			`All ${count} documents have the same version ${shownValue(version)}: while it stays, what changes in them is not seen. Check "${label}".`,
		);
}

const NO_PROCESSING_ROUTE_HINT =
	'This server decides by itself when documents are found: it takes no request to process them.';

/** Adds hints about problems with the memory of a source. */
export function addMemoryHints({ memory, submission, source }: SourceRun): void {
	submission.addSourceHints(source.sourceName, memoryHints(memory?.failures ?? {}));
}
