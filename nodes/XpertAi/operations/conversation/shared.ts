import type { Field } from '../../execution/fields';
import { answerAbout } from '../../execution/ids';
import type { Item } from '../../execution/item';
import type { LookFirst } from '../../execution/operation';
import { isEmptyObject } from '../../transport/answer';

/** What Simplify keeps of a conversation, which servers answer with 14 fields. */
export const CONVERSATION_SUMMARY = [
	'id',
	'threadId',
	'title',
	'status',
	'error',
	'xpertId',
	'createdAt',
	'updatedAt',
];

/** The title of a conversation. */
export const titleField: Field = {
	displayName: 'Title',
	name: 'title',
	type: 'string',
	default: '',
	placeholder: 'e.g. Question from the website',
	description: 'Title shown in the list of conversations',
};

/** Servers know a conversation that is not there by an empty answer. */
export const isGone = isEmptyObject;

/** Reads a conversation: servers make one that is not there where they are asked to change it. */
export const readConversationFirst: Omit<LookFirst, 'decide'> = {
	method: 'GET',
	path: '/conversations/{conversationId}',
	options: [],
	checkAnswer: (answer, ids) =>
		isGone(answer) ? undefined : answerAbout('conversation')(answer, ids),
};

/** @throws NodeOperationError where the conversation is not there */
export function refuseGone(answer: unknown, item: Item): void {
	if (!isGone(answer)) return;
	throw item.operationError(
		`There is no conversation with this ID${item.place}`,
		'Check "Conversation": it takes the conversationId that Conversation: Create, a run or the trigger gave.',
	);
}
