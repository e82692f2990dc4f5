import { compact, escapeRegExp, find, truncate } from 'lodash';

import { isParameterFilled } from '../../../execution/givenValues';
import {
	countWithNoun,
	joinSentences,
	MAX_HINT_LENGTH,
	nameListText,
	truncateHint,
} from '../textHelpers';
import { processingFailedInWords, summaryLine } from './summaryTexts';
import type { Submission } from './submission';
import { INPUT_HINTS, type Tally } from './tally';

/** The hints that the run has collected. */
export function hintsInWords({ tally, sourceCount }: Submission): string[] {
	return [...tally.hints].map(([text, count]) => {
		const documents = countWithNoun(count, 'document was', 'documents were');
		if (count > 0) return truncateHint(`${documents} ${text}`);
		const names = tally.hintSources.get(text);
		return names && sourceCount > 1 ? `${text} Sources: ${nameListText([...names])}.` : text;
	});
}

/** All hints for the user. The summary line comes first. */
export function allHints(submission: Submission): string[] {
	return [
		summaryLine(submission),
		...hintsInWords(submission),
		...unfindableHints(submission),
		...compact([
			...replacedHints(submission),
			...inputHintsInWords(submission.tally),
			...metadataRowHints(submission.tally),
			unusedColumnsHint(submission),
		]),
	];
}

function inputHintsInWords({ inputHints }: Tally): string[] {
	const kinds = Object.keys(INPUT_HINTS) as Array<keyof typeof INPUT_HINTS>;
	return kinds.flatMap((kind) => {
		const { what, meaning } = INPUT_HINTS[kind];
		return inputHints[kind] > 0 ? `${what}: ${inputHints[kind]}.${meaning}` : [];
	});
}

/** Names the rows of Metadata whose expression is probably wrong: it lacks a part, or gave no document a value. */
function metadataRowHints({ metadataRowKeys: { empty, filled, lacking } }: Tally): string[] {
	const unfilled = [...empty].filter((key) => !filled.has(key));
	return compact([
		lacking.size > 0 &&
			`Correct the expressions of these Metadata Rows: ${nameListText([...lacking])}.`,
		unfilled.length > 0 &&
			`Metadata Rows without a value in any item: ${nameListText(unfilled)}. Correct them, or filters miss them.`,
	]);
}

/** Names the columns that match no field. Leaves out columns that an expression of the node uses. */
function unusedColumnsHint({ first, tally }: Submission): string | undefined {
	const { unusedColumns } = tally;
	if (unusedColumns.size === 0) return undefined;
	const parameters = JSON.stringify(first.node.parameters);
	// Matches `$json.name`, `$json?.name` and `$json["name"]`, whose quotes are escaped here.
	const used = (name: string) =>
		new RegExp(`json\\W{1,5}${escapeRegExp(name)}(?![\\p{L}\\p{N}_])`, 'u');
	const names = [...unusedColumns].filter((name) => !used(name).test(parameters));
	if (names.length === 0) return undefined;
	const hint = `Columns that match no field of a document: ${names.join(', ')}`;
	return truncate(hint, { length: MAX_HINT_LENGTH, separator: ', ' });
}

/** Hints about documents that a later document of the run replaces. */
function replacedHints({ first, tally }: Submission): string[] {
	const { count: replaced, names } = tally.replaced;
	if (replaced === 0) return [];
	const source = String(first.node.parameters.source);
	const hasKeyField = ['json', 'records'].includes(source);
	const where = hasKeyField
		? `in the field that "${first.labelOf('documentKeyField')}" names`
		: `by "${first.labelOf('documentKey')}"`;
	const isNameKey =
		['text', 'addresses'].includes(source) && !isParameterFilled(first.node, 'documentKey');
	const documents = countWithNoun(replaced, 'document has', 'documents have');
	const them = replaced === 1 ? 'it' : 'them';
	const hint = `${documents} the key or ID of a later one, which replaces ${them}: ${names.join(', ')}`;
	return [
		truncateHint(hint),
		`${isNameKey ? 'Without a key, the name or address is the key. ' : ''}To keep all, give each a key of its own ${where}: a path, address or row ID, not a title.`,
	];
}

/** The hint about stored documents that assistants cannot find. May name the cause for one document. */
export function unfindableHints(submission: Submission): string[] {
	const { counts, failed, processingFailed } = submission.tally;
	if (processingFailed === 0) return [];
	// If documents were not sent, `addEndHints` may already have added a hint with the same cause.
	const first = counts.notSent > 0 ? undefined : find(failed, { outcome: 'stored' });
	return [truncateHint(joinSentences(processingFailedInWords(submission), first?.reason))];
}
