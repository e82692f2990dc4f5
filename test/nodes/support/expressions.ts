import { Workflow } from 'n8n-workflow';
import type { IDataObject, INodeType, NodeParameterValueType } from 'n8n-workflow';

import { node } from './node';

/** A node type without parameters of its own: n8n evaluates whatever it is given. */
const nodeType = { description: { properties: [] } } as unknown as INodeType;

const workflow = new Workflow({
	nodes: [node],
	connections: {},
	active: false,
	nodeTypes: {
		getByName: () => nodeType,
		getByNameAndVersion: () => nodeType,
		getKnownTypes: () => ({}),
	},
});

/** What n8n itself makes of a parameter, for an item with this JSON. */
export const n8nValue = (parameter: unknown, json: IDataObject): NodeParameterValueType =>
	workflow.expression.getParameterValue(
		parameter as NodeParameterValueType,
		null,
		0,
		0,
		node.name,
		[{ json }],
		'manual',
		{},
	);
