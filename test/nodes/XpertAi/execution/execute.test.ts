import { NodeOperationError } from 'n8n-workflow';

import { catalogue } from '../../../../nodes/XpertAi/catalogue';
import { execute } from '../../../../nodes/XpertAi/execution/execute';
import { itemOf } from '../../support/context';
import { EMPTY_WORDS } from '../../support/thrown';

const methods = {
	getExecutionCancelSignal: () => undefined,
	getInputData: () => [{ json: {} }],
};

describe('the operation the node is set to', () => {
	it.each([
		['knowledgebase', 'submit'],
		['none', 'create'],
		['', ''],
	])('is one of the catalogue, or refused in plain words: %s: %s', async (resource, operation) => {
		const { context } = itemOf({ resource, operation }, { methods });
		const work = execute(context, catalogue);
		await expect(work).rejects.toBeInstanceOf(NodeOperationError);
		await expect(work).rejects.toMatchObject({
			message: `The node has no operation "${operation}" for "${resource}"`,
			description: 'Choose Resource and Operation from their lists.',
		});
		await expect(work).rejects.not.toMatchObject({
			message: expect.stringMatching(EMPTY_WORDS) as unknown,
		});
	});
});
