import { groupBy, map, memoize, partition, pick, sortBy } from 'lodash';
import type { INodeProperties } from 'n8n-workflow';

import {
	additionalFieldsJsonField,
	binaryNameField,
	choiceField,
	concurrencyOption,
	displayedIf,
	isPanelGroup,
	limitField,
	optionsField,
	outputFormatFields,
	returnAllField,
	timeoutOptionWithDefault,
} from './fieldBuilders';
import {
	type DeclaredOperation,
	isCoded,
	onlyReads,
	type Operation,
	type Resource,
} from './operation';

/**
 * All parameters of the node: the Resource list, the Operation lists, then the parameters of the operations.
 *
 * @param defaultResource the preselected resource of a new node
 */
export function nodeProperties(resources: Resource[], defaultResource: string): INodeProperties[] {
	const choices = Object.fromEntries(resources.map(({ value, name }) => [value, name]));
	const further = { noDataExpression: true, default: defaultResource };
	return [
		choiceField('resource', 'Resource', undefined, choices, further),
		...resources.map(operationDropdown),
		...resources.flatMap(resourceFields),
	];
}

/**
 * The expression for the subtitle of the node on the canvas, e.g. `Get Many: Conversation`. Contains all display names,
 * because n8n expressions cannot read display names.
 */
export function nodeSubtitle(resources: Resource[]): string {
	const names = resources.flatMap(({ value, name, operations }) =>
		operations.map((one) => [`${value}.${one.value}`, `${one.name}: ${name}`]),
	);
	const chosen = '$parameter["resource"] + "." + $parameter["operation"]';
	return `={{ (${JSON.stringify(Object.fromEntries(names))})[${chosen}] }}`;
}

/** Returns the dropdown field Operation of a resource. The first operation is the default. */
function operationDropdown({ value: resource, operations }: Resource): INodeProperties {
	const choices = operations.map(({ value, builderHint: propertyHint, ...info }) => [
		value,
		{
			...pick(info, ['name', 'action', 'description', 'displayOptions']),
			builderHint: propertyHint && { propertyHint },
		},
	]);
	return choiceField('operation', 'Operation', undefined, Object.fromEntries(choices), {
		noDataExpression: true,
		displayOptions: { show: { resource: [resource] } },
	});
}

/**
 * The parameters of a resource. Merges identical parameters of several operations, to shorten the node description. The
 * order of the parameters of each operation stays as far as possible: a merged one takes its last position.
 */
function resourceFields({ value, operations }: Resource): INodeProperties[] {
	const all = operations.flatMap((operation) =>
		operationFields(operation).map((field, at) => ({ field, at, operation: operation.value })),
	);
	const merged = Object.values(groupBy(all, ({ field }) => JSON.stringify(field)));
	return sortBy(merged, (same) => Math.max(...map(same, 'at'))).flatMap((same) => {
		const show = { resource: [value], operation: map(same, 'operation') };
		return displayedIf({ show }, map(same, 'field').slice(0, 1));
	});
}

/** The parameters of an operation, without Resource and Operation. Memoized. */
export const operationFields = memoize((operation: Operation): INodeProperties[] =>
	isCoded(operation) ? operation.fields : declaredOperationFields(operation),
);

function declaredOperationFields(operation: DeclaredOperation): INodeProperties[] {
	const { body, idFields = [], paging, defaultTimeoutSeconds } = operation;
	const [optionsOfBody, fields] = partition(body?.fields, { name: 'options' });
	const [groups, single] = partition(fields, isPanelGroup);
	const options = [
		...optionsOfBody.flatMap((field) => field.options as INodeProperties[]),
		// A body with `split` is a list. A list cannot have additional fields.
		...(body && !body.split ? [additionalFieldsJsonField] : []),
		...(operation.options ?? []),
		...(onlyReads(operation)
			? []
			: [concurrencyOption, timeoutOptionWithDefault(defaultTimeoutSeconds)]),
	];
	return [
		...idFields,
		...(body?.isForm ? [binaryNameField('the file to upload')] : []),
		...single,
		...(paging ? [returnAllField, limitField] : []),
		...groups,
		...(operation.simplify ? outputFormatFields : []),
		...(options.length > 0 ? [optionsField(options)] : []),
	];
}
