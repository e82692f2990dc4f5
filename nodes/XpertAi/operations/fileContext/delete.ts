import { deletedItem } from '../../execution/outputs';
import { recordWith } from '../../transport/answer';
import { declare } from '../../execution/operation';
import { fileLocator } from '../../pickers/locators';

export const deleteFileContext = declare({
	value: 'delete',
	name: 'Delete',
	action: 'Delete file context',
	endpoint: 'E14',
	description: 'Delete a file that was uploaded for assistants',
	method: 'DELETE',
	path: '/contexts/file/{fileId}',
	ids: [
		fileLocator(
			'The storageFileId that File Context: Upload gave. Xpert AI servers answer 403 to any other ID.',
		),
	],
	shape: deletedItem,
	statusHints: {
		403: 'Xpert AI servers answer this way to an ID that is no storageFileId, to a file that is gone, and to a workspace\'s key. Check "File", and use a user\'s key.',
	},
	answer: recordWith('originalName'),
});
