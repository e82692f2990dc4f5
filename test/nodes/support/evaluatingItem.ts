import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { submitFields } from '../../../nodes/XpertAi/operations/document/submit/fields';
import { itemOf } from './context';
import { n8nValue } from './expressions';

/** An item with this JSON, of a node with these parameters. `asked` has each expression that n8n evaluates. */
export function evaluatingItem(
	parameters: INodeParameters,
	json: IDataObject = {},
	fields = submitFields,
) {
	const asked: string[] = [];
	const evaluateExpression = (expression: string) => {
		asked.push(expression);
		return n8nValue(`=${expression}`, json);
	};
	const item = itemOf(parameters, { fields, json, methods: { evaluateExpression } });
	return Object.assign(item, { asked });
}
