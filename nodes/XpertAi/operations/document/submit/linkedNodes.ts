import { filter, minBy } from 'lodash';
import {
	type IExecuteFunctions,
	type INode,
	isExpression,
	type NodeTypeAndVersion,
} from 'n8n-workflow';

import { idFromInput } from '../../../execution/fieldSchemas';
import { unresolvedValue } from '../../../execution/givenValues';
import { shownValue } from '../../../execution/issueText';
import type { Item } from '../../../execution/item';
import { canonicalKey } from '../../../payloads/keys';

type LinkedOperation = 'findChanges' | 'submit';

export type NodeWithParameters = Pick<INode, 'parameters'>;

export interface LinkedNode extends NodeWithParameters {
	name: string;
}

export const toLinkedNode = ({ name, parameters = {} }: NodeTypeAndVersion): LinkedNode => ({
	name,
	parameters,
});

/** The fields that say which source a node works on. */
export const SOURCE_FIELD_NAMES = ['knowledgebaseId', 'sourceName', 'options.shard'] as const;

type SourceFieldName = (typeof SOURCE_FIELD_NAMES)[number];

/** Asks n8n for the parameters of other nodes. Older versions of n8n do not return them. */
export const WITH_PARAMETERS = { includeNodeParameters: true };

/** Returns the value of a field as the nodes use it; undefined if the field is an expression. */
export function valueIfFixed(
	{ parameters }: NodeWithParameters,
	name: SourceFieldName,
): string | undefined {
	const given = unresolvedValue({ parameters }, name) ?? '';
	if (isExpression(given)) return undefined;
	return canonicalKey(String(name === 'knowledgebaseId' ? idFromInput(given) : given));
}

/** Whether a field has different values in two nodes. False if it is an expression in one of them. */
export function haveDifferentValues(
	name: SourceFieldName,
	one: NodeWithParameters,
	other: NodeWithParameters,
): boolean {
	const values = [one, other].map((node) => valueIfFixed(node, name));
	return !values.includes(undefined) && values[0] !== values[1];
}

const differingFields = (one: NodeWithParameters, other: NodeWithParameters): SourceFieldName[] =>
	SOURCE_FIELD_NAMES.filter((name) => haveDifferentValues(name, one, other));

/**
 * Returns the enabled nodes with `operation` that are linked to the node `name`: for `findChanges`, the nodes before it;
 * for `submit`, the nodes after it. Returns none in older versions of n8n, which do not give the parameters of other
 * nodes.
 */
export function linkedNodes(
	context: IExecuteFunctions,
	name: string,
	operation: LinkedOperation,
): LinkedNode[] {
	const nodes =
		operation === 'submit'
			? context.getChildNodes(name, WITH_PARAMETERS)
			: context.getParentNodes(name, WITH_PARAMETERS);
	const { type } = context.getNode();
	return filter(nodes, { type, disabled: false, parameters: { operation } }).map(toLinkedNode);
}

/**
 * Whether one of the linked nodes may have the same source as `node`. The others may have other sources, because a
 * workflow may keep several sources in step, one after the other.
 */
const hasPartner = (node: LinkedNode, linked: LinkedNode[]) =>
	linked.some((other) => differingFields(node, other).length === 0);

/** Returns the nearest Find Changes node before a Submit node that may have the same source. */
export function findChangesNodeBefore({ context, node }: Item): LinkedNode | undefined {
	const before = linkedNodes(context, node.name, 'findChanges');
	// n8n lists the nearest parent last.
	return before.findLast((other) => differingFields(node, other).length === 0);
}

/**
 * Compares the source of a Find Changes node with the Submit nodes after it, or the source of a Submit node with the
 * Find Changes nodes before it. Their sources differ if this node has no partner, and a linked node has none either.
 *
 * @returns a sentence with the fields that differ and both values; undefined if no sources are known to differ
 */
export function sourceDifferenceText(item: Item): string | undefined {
	const { context, node: own } = item;
	const isSubmit = own.parameters.operation === 'submit';
	const linked = linkedNodes(context, own.name, isSubmit ? 'findChanges' : 'submit');
	if (hasPartner(own, linked)) return undefined;
	const unpaired = linked.filter((other) => {
		const linkedToOther = linkedNodes(context, other.name, isSubmit ? 'submit' : 'findChanges');
		// The list contains at least this node, unless n8n does not give the parameters of this node. Then the list is
		// empty, and a partner of `other` may be unknown.
		return linkedToOther.length > 0 && !hasPartner(other, linkedToOther);
	});
	const closest = minBy(unpaired, (other) => differingFields(own, other).length);
	return closest && differenceText(item, closest);
}

function differenceText(item: Item, other: LinkedNode): string {
	const { node: own } = item;
	const parts = differingFields(own, other).map((name) => {
		const [here, there] = [own, other].map((node) => shownValue(valueIfFixed(node, name)));
		return `"${item.labelOf(name)}" is ${here} here and ${there} in ${shownValue(other.name)}`;
	});
	return `${parts.join(', ')}: give both nodes the same, as each source has its own memory. Under a new name, all is stored once more.`;
}
