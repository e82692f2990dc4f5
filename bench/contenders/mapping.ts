import type { INodeParameters } from 'n8n-workflow';

import { getDocumentFields } from '../../nodes/XpertAi/pickers/documentFields';

/** As the editor saves it: with the list of all fields. */
async function schema(): Promise<INodeParameters[]> {
	const { fields } = await getDocumentFields();
	return fields as unknown as INodeParameters[];
}

/** Columns that match the fields by their names. */
export const byName = async (): Promise<INodeParameters> => ({
	mappingMode: 'autoMapInputData',
	value: null,
	schema: await schema(),
});
