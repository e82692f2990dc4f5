import type { INodeProperties } from 'n8n-workflow';

import { requestOf } from './requests';
import { DEFAULT_RESOURCE, catalogue } from '../../../nodes/XpertAi/catalogue';
import { nodeProperties } from '../../../nodes/XpertAi/execution/nodeProperties';
import type { Operation, Resource } from '../../../nodes/XpertAi/execution/operation';
import { routeName } from '../../../sandbox/routes';

/** The parameters of the node as the editor gets them. */
export const PROPERTIES = nodeProperties(catalogue, DEFAULT_RESOURCE);

/** Each operation with the resource it belongs to. */
export const OPERATIONS = catalogue.flatMap((resource) =>
	resource.operations.map((operation) => ({
		resource,
		operation,
		title: `${resource.value}: ${operation.value}`,
	})),
);

/** What the route of an operation is called: `E1` to `E17` in the contract. */
export function endpointOf(operation: Operation): string {
	const { method, path } = requestOf(operation);
	return routeName(method, path) ?? '';
}

/** The properties an operation has in the editor, without Resource and Operation. */
export function propertiesOf(resource: Resource, operation: Operation): INodeProperties[] {
	return PROPERTIES.filter(
		({ name, displayOptions }) =>
			name !== 'operation' &&
			displayOptions?.show?.resource?.includes(resource.value) === true &&
			displayOptions.show.operation?.includes(operation.value) === true,
	);
}

/** A property and where it stands, from the outside in. */
export interface Placed {
	place: string;
	property: INodeProperties;
}

/** All properties, those inside collections too. */
export function allProperties(properties: INodeProperties[] = PROPERTIES, above = ''): Placed[] {
	return properties.flatMap((property) => {
		const { resource = [], operation = [] } = property.displayOptions?.show ?? {};
		const owner = above || [...resource, ...operation].join('.');
		const place = `${owner}.${property.name}`;
		const inner = (property.options ?? []).flatMap((option) => {
			if ('values' in option) return option.values;
			return 'type' in option ? [option] : [];
		});
		return [{ place, property }, ...allProperties(inner, place)];
	});
}
