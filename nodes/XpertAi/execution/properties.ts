import dropWhile from 'lodash/dropWhile';
import takeWhile from 'lodash/takeWhile';
import { updateDisplayOptions } from 'n8n-workflow';
import type { INodeProperties, INodeType } from 'n8n-workflow';
import merge from 'lodash/merge';
import omit from 'lodash/omit';

import { binaryFieldName } from './binary';
import { isCoded, isFileBody } from './operation';
import type {
	DeclaredOperation,
	Field,
	FileBody,
	JsonBody,
	Operation,
	Resource,
} from './operation';
import {
	atOnceOption,
	bodyMode,
	emptyOrJson,
	fieldCollection,
	isContainer,
	jsonBodyField,
	limit,
	optionsField,
	returnAll,
	simplify,
	timeoutOption,
	uploadMode,
} from './fields';

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
		operationFields(operation).map((field) => omit(field, 'methods')),
	);
}

/** What the fields of all operations ask of the server in the editor: the node's `methods`. */
export function nodeMethods(resources: Resource[]): INodeType['methods'] {
	const operations = resources.flatMap((resource) => resource.operations);
	const fields = operations.flatMap(operationFields);
	return merge({}, ...fields.map(({ methods }) => methods)) as INodeType['methods'];
}

/** Every parameter of an operation. */
export function operationFields(operation: Operation): Field[] {
	return isCoded(operation) ? operation.fields : declaredFields(operation);
}

function declaredFields(operation: DeclaredOperation): Field[] {
	const { body, ids = {}, paging, simplify: simplification, timeoutSeconds } = operation;
	return [
		...Object.values(ids),
		...(body ? fieldsOfBody(body, paging ? [returnAll, limit] : []) : []),
		...(simplification ? [simplify] : []),
		optionsField([atOnceOption(defaultAtOnce(operation)), timeoutOption(timeoutSeconds)]),
	];
}

/** What only reads may go side by side; what makes or changes something has an order. */
function defaultAtOnce({ method, repeatable = false }: DeclaredOperation): number {
	return repeatable && method !== 'PUT' ? 5 : 1;
}

function fieldsOfBody(body: JsonBody | FileBody, paging: Field[]): Field[] {
	return isFileBody(body) ? uploadFields(body) : bodyFields(body.fields, body.example, paging);
}

/** A file of the item with its text parts, or a JSON body. */
function uploadFields({ parts }: FileBody): Field[] {
	return [
		uploadMode,
		...shownIn('fields', [
			binaryFieldName('the file to upload'),
			fieldCollection('additionalFields', parts),
		]),
		...shownIn('json', [jsonBodyField('{}')]),
	];
}

/** Body mode, the fields of "Fields" and the text of "JSON". */
export function bodyFields(fields: Field[], example: string, paging: Field[] = []): Field[] {
	return [
		fields.length > 0 ? bodyMode : emptyOrJson,
		...shownIn('fields', [
			...takeWhile(fields, (field) => !isContainer(field)),
			...paging,
			...dropWhile(fields, (field) => !isContainer(field)),
		]),
		...shownIn('json', [jsonBodyField(example)]),
	];
}

function shownIn(mode: 'fields' | 'json', fields: Field[]): Field[] {
	return updateDisplayOptions({ show: { bodyMode: [mode] } }, fields);
}
