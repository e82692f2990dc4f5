import type { Field } from '../../execution/fields';

/** The title of a conversation. */
export const titleField: Field = {
	displayName: 'Title',
	name: 'title',
	type: 'string',
	default: '',
	placeholder: 'e.g. Question from the website',
	description: 'Title shown in the list of conversations',
};
