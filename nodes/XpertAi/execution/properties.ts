import memoize from 'lodash/memoize';
import type { INodeProperties } from 'n8n-workflow';

import { isCoded, onlyReads } from './operation';
import type { DeclaredOperation, Operation, Resource } from './operation';
import {
	additionalFieldsJson,
	atOnceOption,
	binaryFieldName,
	choiceField,
	displayedIf,
	isContainer,
	limit,
	optionsField,
	returnAll,
	simplifyFields,
	timeoutOption,
} from './fields';

/**
 * All parameters of the node: the Resource and Operation lists, then those of each operation.
 *
 * @param defaultResource the resource of a new node
 */
export function nodeProperties(resources: Resource[], defaultResource: string): INodeProperties[] {
	return [
		choiceField(
			'resource',
			'Resource',
			undefined,
			Object.fromEntries(resources.map(({ value, name }) => [value, name])),
			{ noDataExpression: true, default: defaultResource },
		),
		...resources.map(operationList),
		...resources.flatMap(resourceFields),
	];
}

/**
 * The text below the node's name on the canvas: operation and resource by their display names, e.g. `Get Many:
 * Conversation`. Expressions cannot read display names, so it contains them.
 */
export function nodeSubtitle(resources: Resource[]): string {
	const names = resources.flatMap((resource) =>
		resource.operations.map(({ value, name }) => [
			`${resource.value}.${value}`,
			`${name}: ${resource.name}`,
		]),
	);
	const chosen = '$parameter["resource"] + "." + $parameter["operation"]';
	return `={{ (${JSON.stringify(Object.fromEntries(names))})[${chosen}] }}`;
}

/** The list of operations; the first is the default. */
function operationList({ value: resource, operations }: Resource): INodeProperties {
	const choices = operations.map(
		({ value, name, action, description, displayOptions, builderHint: propertyHint }) => [
			value,
			{
				name,
				action,
				description,
				displayOptions,
				builderHint: propertyHint && { propertyHint },
			},
		],
	);
	return choiceField('operation', 'Operation', undefined, Object.fromEntries(choices), {
		noDataExpression: true,
		displayOptions: { show: { resource: [resource] } },
	});
}

/**
 * The parameters of a resource, each operation's in its own order. Equal fields are merged and shown for all their
 * operations, as n8n sends the description to every browser.
 */
function resourceFields({ value, operations }: Resource): INodeProperties[] {
	const all: Array<{ text: string; field: INodeProperties; shownFor: string[] }> = [];
	for (const operation of operations) {
		let next = 0;
		for (const field of operationFields(operation)) {
			const text = JSON.stringify(field);
			const known = all.findIndex((one, index) => index >= next && one.text === text);
			const at = known < 0 ? next : known;
			if (known < 0) all.splice(at, 0, { text, field, shownFor: [] });
			all[at]?.shownFor.push(operation.value);
			next = at + 1;
		}
	}
	return all.flatMap(({ field, shownFor }) =>
		displayedIf({ show: { resource: [value], operation: shownFor } }, [field]),
	);
}

/** All parameters of an operation. Memoized. */
export const operationFields = memoize((operation: Operation): INodeProperties[] =>
	isCoded(operation) ? operation.fields : declaredFields(operation),
);

/** The fields of an operation, with the grouping collections last, then Simplify and Options. */
function declaredFields(operation: DeclaredOperation): INodeProperties[] {
	const { body, ids = [], paging, simplify: simplification, timeoutSeconds, precheck } = operation;
	const options = [
		...(body?.options ?? []),
		// A body that is split is a list.
		...(body && !body.split ? [additionalFieldsJson] : []),
		...(precheck?.options ?? []),
		...(onlyReads(operation) ? [] : [atOnceOption, timeoutOption(timeoutSeconds)]),
	];
	const fields = body?.fields ?? [];
	return [
		...ids,
		...(body?.isForm ? [binaryFieldName('the file to upload')] : []),
		...fields.filter((field) => !isContainer(field)),
		...(paging ? [returnAll, limit] : []),
		...fields.filter(isContainer),
		...(simplification ? simplifyFields : []),
		...(options.length > 0 ? [optionsField(options)] : []),
	];
}
