import { CUT_DEMAND, isCut } from './common';

/** What expressions give, as text, that found no value. */
const MISSING = new Set(['undefined', 'null', 'NaN', 'Invalid Date', 'Invalid DateTime']);

const OBJECT_AS_TEXT = /\[object [A-Z]\w*\]/;

/** Such a word between separators. A dot is none for `null`, which is also a name: `john.null@example.com`. */
const MISSING_PART =
	/(?<![\p{L}\p{N}])undefined(?![\p{L}\p{N}])|(?<![\p{L}\p{N}.])(?:null|NaN)(?![\p{L}\p{N}.])/u;

/**
 * The part of a text that stands for a missing value.
 *
 * @param inParts whether a part between separators counts, as in `chat-undefined`; `docs/undefined.md` is a document
 */
export function missingValueIn(text: string, inParts = false): string | undefined {
	if (MISSING.has(text)) return text;
	const found = OBJECT_AS_TEXT.exec(text) ?? (inParts ? MISSING_PART.exec(text) : null);
	return found?.[0];
}

/** The one spelling of a key: `Übersicht.txt` is the same document in NFC and in NFD, with or without blanks around it. */
export function canonicalKey(text: string): string {
	return text.trim().normalize('NFC');
}

/** What is wrong with a key in its one spelling. */
export function keyDemand(key: string, inParts = false): string | undefined {
	if (key === '') return 'must not be empty';
	if (isCut(key)) return CUT_DEMAND;
	const missing = missingValueIn(key, inParts);
	return missing && `holds "${missing}", which stands for a missing value`;
}
