import { NodeHelpers, traverseNodeParameters } from 'n8n-workflow';
import type { FromAIArgument, INode, INodeParameters } from 'n8n-workflow';

import { XpertAi } from '../../../../../../nodes/XpertAi/XpertAi.node';

const { description } = new XpertAi();

/** A node as somebody has just added it, and chosen an assistant, with the parameters n8n gives it. */
function added(name: string, chosen: INodeParameters = {}) {
	const type = { ...description, name };
	const given: INodeParameters = {
		resource: 'thread',
		operation: 'run',
		assistantId: { __rl: true, mode: 'id', value: 'd0000000-0000-4000-8000-000000000001' },
		...chosen,
	};
	const node = { typeVersion: 1, type: name, name: 'Ask', parameters: given } as unknown as INode;
	const { properties } = type;
	const parameters =
		NodeHelpers.getNodeParameters(properties, given, true, false, node, type) ?? {};
	const issues = NodeHelpers.getNodeParametersIssues(properties, { ...node, parameters }, type);
	return { parameters, issues: issues?.parameters ?? {} };
}

/** What n8n asks the model for. */
function askedOfModel(parameters: INodeParameters): FromAIArgument[] {
	const found: FromAIArgument[] = [];
	traverseNodeParameters(parameters, found);
	return found;
}

describe('Ask and Wait as a tool of an AI agent', () => {
	it('needs nothing but the assistant: the model writes the message', () => {
		const { parameters, issues } = added('xpertAiTool');
		expect(issues).toEqual({});
		// A tool is not behind a chat.
		expect([parameters.threadSource, added('xpertAi').parameters.threadSource]).toEqual([
			'new',
			'auto',
		]);
		expect(askedOfModel(parameters)).toEqual([
			{ key: 'Message', description: 'What to say to the assistant', type: 'string' },
		]);
	});

	it('lets the author have the key chosen, too', () => {
		const conversationKey = "={{ $fromAI('key', 'Whom it is about', 'string') }}";
		const { parameters, issues } = added('xpertAiTool', { threadSource: 'key', conversationKey });
		expect(issues).toEqual({});
		expect(askedOfModel(parameters).map(({ key }) => key)).toEqual(['Message', 'key']);
	});

	it('keeps the message that the author writes', () => {
		const { parameters } = added('xpertAiTool', { message: 'How are things?' });
		expect(parameters.message).toBe('How are things?');
		expect(askedOfModel(parameters)).toEqual([]);
	});

	it.each<[string, INodeParameters]>([
		['Message', { message: '' }],
		['Conversation Key', { threadSource: 'key', conversationKey: '' }],
		['Thread', { threadSource: 'existing' }],
	])('is a node that asks for %s elsewhere', (label, chosen) => {
		const { issues } = added('xpertAi', chosen);
		expect(Object.values(issues).flat()).toEqual([`Parameter "${label}" is required.`]);
	});
});
