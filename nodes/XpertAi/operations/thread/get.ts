import type { DeclaredOperation } from '../operation';
import { idField } from '../shared/fields';

export const get: DeclaredOperation = {
	value: 'get',
	name: 'Get',
	action: 'Get a thread',
	description:
		'Get the status, the metadata and the messages of a thread that has run at least once',
	endpoint: 'E15',
	method: 'GET',
	path: '/threads/{threadId}',
	fields: [idField('threadId', 'The thread to read')],
};
