import { deletedItem } from '../../transport/answer';
import type { DeclaredOperation } from '../operation';
import { idField } from '../shared/fields';

export const deleteFileContext: DeclaredOperation = {
	value: 'delete',
	name: 'Delete',
	action: 'Delete a file context',
	description: 'Delete a file context by the storageFileId that Create gave',
	endpoint: 'E14',
	method: 'DELETE',
	path: '/contexts/file/{fileId}',
	fields: [
		idField(
			'fileId',
			'The storageFileId of the file context. The server answers 403 to its id, to an unknown one and to a second delete.',
		),
	],
	shape: deletedItem,
};
