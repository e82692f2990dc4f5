import { declare } from '../../execution/operation';
import { fileLocator } from '../../pickers/locators';

export const deleteFileContext = declare({
	value: 'delete',
	name: 'Delete',
	endpoint: 'E14',
	description: 'Delete a file that was uploaded for assistants',
	route: 'DELETE /contexts/file/{fileId}',
	idFields: [fileLocator],
	statusAdvice: {
		403: 'Xpert AI servers answer this way to an ID that is no storageFileId, to a file that is gone, and to a workspace\'s key. Check "File", and use a user\'s key.',
	},
	answerSchema: ['originalName'],
});
