import { hasLoneSurrogate, LONE_SURROGATE_ISSUE } from './loneSurrogates';
import { missingValueIssue, missingValueOrObjectText, missingValueWordIn } from './missingValues';

/**
 * Normalizes a key: removes U+0000 and outer blanks, and converts to NFC. Unicode has two spellings of a name such as
 * `Übersicht.txt`. NFC gives both the same key.
 */
export const canonicalKey = (text: string): string =>
	text.replaceAll('\0', '').trim().normalize('NFC');

/** Returns why a canonical key is not valid; undefined for a valid key. */
export function keyIssue(key: string): string | undefined {
	if (key === '') return 'must not be empty';
	if (hasLoneSurrogate(key)) return LONE_SURROGATE_ISSUE;
	const missing = missingValueOrObjectText(key);
	return missing && missingValueIssue(missing);
}

/**
 * Returns why a canonical key of a conversation is not valid; undefined for a valid key. Such a key must not contain a
 * word for a missing value, because several users would share the conversation.
 */
export function conversationKeyIssue(key: string): string | undefined {
	const missing = missingValueWordIn(key);
	return keyIssue(key) ?? (missing && missingValueIssue(missing));
}
