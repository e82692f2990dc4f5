import dropWhile from 'lodash/dropWhile';
import takeWhile from 'lodash/takeWhile';
import { updateDisplayOptions } from 'n8n-workflow';
import type { INodeProperties } from 'n8n-workflow';

import { isCoded } from './operation';
import type { DeclaredOperation, Operation, Resource } from './operation';
import {
	bodyMode,
	emptyOrJson,
	isContainer,
	jsonBodyField,
	limit,
	optionsField,
	returnAll,
	simplify,
	timeoutOption,
} from './shared/fields';

/** The parameters of the whole node: the Resource and Operation lists, then each operation's own. */
export function nodeProperties(resources: Resource[]): INodeProperties[] {
	const defaultResource = firstValue(resources);
	return [
		{
			displayName: 'Resource',
			name: 'resource',
			type: 'options',
			noDataExpression: true,
			options: resources.map(({ name, value }) => ({ name, value })),
			default: defaultResource,
		},
		...resources.map(operationList),
		...resources.flatMap((resource) =>
			resource.operations.flatMap((operation) => shownFor(resource, operation)),
		),
	];
}

function firstValue([first]: Array<{ value: string }>): string {
	return first ? first.value : '';
}

function operationList(resource: Resource): INodeProperties {
	const defaultOperation = firstValue(resource.operations);
	return {
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		displayOptions: { show: { resource: [resource.value] } },
		options: resource.operations.map(({ name, value, action, description }) => ({
			name,
			value,
			action,
			description,
		})),
		default: defaultOperation,
	};
}

function shownFor(resource: Resource, operation: Operation): INodeProperties[] {
	return updateDisplayOptions(
		{ show: { resource: [resource.value], operation: [operation.value] } },
		isCoded(operation) ? operation.properties : declaredProperties(operation),
	);
}

function declaredProperties(operation: DeclaredOperation): INodeProperties[] {
	const { body } = operation;
	return [
		...(operation.fields ?? []),
		...(body
			? bodyProperties(body.fields, body.example, operation.paging ? [returnAll, limit] : [])
			: []),
		...(operation.simplify ? [simplify] : []),
		optionsField([timeoutOption(operation.timeoutSeconds)]),
	];
}

/** Body mode, the fields of "Fields" and the text of "JSON". */
export function bodyProperties(
	fields: INodeProperties[],
	example: string,
	paging: INodeProperties[] = [],
): INodeProperties[] {
	return [
		fields.length > 0 ? bodyMode : emptyOrJson,
		...updateDisplayOptions({ show: { bodyMode: ['fields'] } }, [
			...takeWhile(fields, (field) => !isContainer(field)),
			...paging,
			...dropWhile(fields, (field) => !isContainer(field)),
		]),
		...updateDisplayOptions({ show: { bodyMode: ['json'] } }, [jsonBodyField(example)]),
	];
}
