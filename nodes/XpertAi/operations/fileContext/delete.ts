import { deletedItem } from '../../transport/answer';
import { declare } from '../../execution/operation';
import { fileLocator } from '../shared/locators';

export const deleteFileContext = declare({
	value: 'delete',
	name: 'Delete',
	action: 'Delete a file context',
	description: 'Delete a file context by the storageFileId that Create gave',
	endpoint: 'E14',
	method: 'DELETE',
	path: '/contexts/file/{fileId}',
	ids: {
		fileId: fileLocator(
			'The storageFileId of the file context. The server answers 403 to its id, to an unknown one and to a second delete.',
		),
	},
	shape: deletedItem,
	statusHints: {
		403: 'Xpert AI servers answer this way to an ID that is no storageFileId, to a file that is gone, and to a workspace\'s key. Check "File", and use a user\'s key.',
	},
});
