import type { IExecuteFunctions } from 'n8n-workflow';

import { EVERY_UUID } from '../payloads/common';

/** Whether a chat shows what its workflow says while it works. Contexts of an agent's tool do not know of chats. */
export function isInChat(context: IExecuteFunctions): boolean {
	return 'isStreaming' in context && context.isStreaming();
}

/** The same words, with … for each id: who knows that of a thread reads, renames and deletes it, and visitors are not told. */
export function idsHidden(words: string): string {
	return words.replace(EVERY_UUID, '…');
}

/** The sentences that have no id. */
export function sentencesWithoutIds(words: string): string {
	return words
		.split(/(?<=\.) /)
		.filter((sentence) => sentence.search(EVERY_UUID) < 0)
		.join(' ');
}
