import { NodeHelpers } from 'n8n-workflow';
import type { INodeParameters } from 'n8n-workflow';

import { XpertAi } from '../../../../../nodes/XpertAi/XpertAi.node';

const { description } = new XpertAi();
const VERSION = { typeVersion: 1 };

/** The parameters of a node as n8n completes them before it shows or runs it. */
function completed(parameters: INodeParameters): INodeParameters {
	const run = { resource: 'thread', operation: 'run', ...parameters };
	const { properties } = description;
	const values = NodeHelpers.getNodeParameters(properties, run, true, false, VERSION, description);
	return values ?? {};
}

function isShown(parameters: INodeParameters): boolean {
	const field = description.properties.find(({ name }) => name === 'langGraphFields');
	return (
		field !== undefined && NodeHelpers.displayParameter(parameters, field, VERSION, description)
	);
}

describe('LangGraph Fields', () => {
	it('are out of sight in a new node, whose options say that the server is Xpert AI', () => {
		const parameters = completed({});
		expect(parameters.options).toEqual({ serverFamily: 'xpert' });
		expect(isShown(parameters)).toBe(false);
	});

	it.each(['langgraph', '={{ $json.server }}'])('are shown with Server set to %s', (server) => {
		expect(isShown(completed({ options: { serverFamily: server } }))).toBe(true);
	});

	it.each([{ serverFamily: 'langgraph' }, { serverFamily: 'xpert' }, {}])(
		'keep what they hold with the options %j',
		(options) => {
			const langGraphFields = { webhook: 'https://example.com/done' };
			expect(completed({ langGraphFields, options })).toMatchObject({ langGraphFields, options });
		},
	);
});
