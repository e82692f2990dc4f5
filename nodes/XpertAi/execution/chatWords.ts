import type { IExecuteFunctions } from 'n8n-workflow';

/** Whoever knows the id of a thread reads, renames and deletes it: a chat's visitors are not told. */
const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i;

const EVERY_ID = new RegExp(ID, 'gi');

/** Whether a chat shows what its workflow says while it works. Contexts of an agent's tool do not know of chats. */
export function isInChat(context: IExecuteFunctions): boolean {
	return 'isStreaming' in context && context.isStreaming();
}

/** The same words, with … for each id. */
export function idsHidden(words: string): string {
	return words.replace(EVERY_ID, '…');
}

/** The sentences that have no id. */
export function sentencesWithoutIds(words: string): string {
	return words
		.split(/(?<=\.) /)
		.filter((sentence) => !ID.test(sentence))
		.join(' ');
}
