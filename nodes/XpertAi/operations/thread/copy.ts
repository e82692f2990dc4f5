import { anyJson } from '../../payloads/common';
import type { DeclaredOperation } from '../operation';
import { idField } from '../shared/fields';

export const copy: DeclaredOperation = {
	value: 'copy',
	name: 'Copy',
	action: 'Copy a thread',
	description:
		'Copy a thread with its messages. Not every server can: Xpert AI servers answer that they do not implement it yet.',
	endpoint: 'E10',
	method: 'POST',
	path: '/threads/{threadId}/copy',
	fields: [idField('threadId', 'The thread to copy')],
	body: { fields: [], schema: anyJson, notShown: true, example: '{}' },
};
