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
