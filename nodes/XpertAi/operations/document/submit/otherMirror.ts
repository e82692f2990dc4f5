import { attempt, filter, get, intersectionBy, isArray, map } from 'lodash';
import type { IExecuteFunctions, INode, NodeTypeAndVersion } from 'n8n-workflow';

import { shownValue } from '../../../execution/issueText';
import type { Item } from '../../../execution/item';
import {
	type LinkedNode,
	type NodeWithParameters,
	SOURCE_FIELD_NAMES,
	toLinkedNode,
	valueIfFixed,
	WITH_PARAMETERS,
} from './linkedNodes';

/** Limit of the loop in `itemCounts`. Older versions of n8n may not show which output is the last. */
const MAX_OUTPUTS = 100;

/** Returns the number of items in each output of a node that has run. Empty if n8n does not tell. */
function itemCounts(context: IExecuteFunctions, name: string): number[] {
	const { $items } = context.getWorkflowDataProxy(0);
	const counts: number[] = [];
	while (counts.length < MAX_OUTPUTS) {
		const items: unknown = attempt(() => $items(name, counts.length));
		if (!isArray(items)) break;
		counts.push(items.length);
	}
	return counts;
}

/** Whether two nodes certainly have the same source. */
const haveSameSource = (one: NodeWithParameters, other: NodeWithParameters) =>
	SOURCE_FIELD_NAMES.every((name) => {
		const value = valueIfFixed(one, name);
		return value !== undefined && value === valueIfFixed(other, name);
	});

/** Whether a node disables documents that are missing from its items. */
const mirrorsItems = ({ parameters }: NodeWithParameters) =>
	parameters.operation === 'submit'
		? parameters.mode === 'mirror' && get(parameters, 'options.dryRun') !== true
		: parameters.operation === 'findChanges' && parameters.whatIsGone === 'disable';

/** The nodes among `nodes` that mirror the same source as `own`. */
const nodesMirroringSource = (own: INode, nodes: NodeTypeAndVersion[]): LinkedNode[] =>
	filter(nodes, { type: own.type, disabled: false })
		.map(toLinkedNode)
		.filter((node) => mirrorsItems(node) && haveSameSource(own, node));

/**
 * Looks for another node that mirrors the same source in this execution: before or behind this one, or below a node
 * that gave items to both. Each of them has only a part of the source, and would disable what the other one brings.
 *
 * @returns the problem and the advice, as a sentence; undefined if there is no such node, or n8n does not tell
 */
export function otherMirrorText(item: Item): string | undefined {
	const { context, node: own } = item;
	// Without a name, each node has a memory of its own.
	if (valueIfFixed(own, 'sourceName') === '') return undefined;
	const parents = context.getParentNodes(own.name, WITH_PARAMETERS);
	const inLine = [...parents, ...context.getChildNodes(own.name, WITH_PARAMETERS)];
	const [mirrorInLine] = nodesMirroringSource(own, inLine);
	const other = mirrorInLine ?? mirrorOnOtherBranch(item, parents, inLine);
	return (
		other &&
		`${shownValue(other.name)} mirrors the same source in this execution, and each node has only a part of it: join the branches before one node, or give each node a "${item.labelOf('sourceName')}" of its own.`
	);
}

/**
 * Finds a node below a parent of this node that mirrors the same source. Leaves out a node if it and this node get all
 * their items from this parent, and either both have the same items, or at most one has items (see `haveSameItems`).
 *
 * @param inLine the nodes before and behind this node; left out, because the caller has checked them
 */
function mirrorOnOtherBranch(
	{ context, node: own }: Item,
	parents: NodeTypeAndVersion[],
	inLine: NodeTypeAndVersion[],
): LinkedNode | undefined {
	const checked = new Set([own.name, ...map(inLine, 'name')]);
	// n8n lists the nearest parent last, so the list is reversed. The branches to two nodes separate below their nearest
	// common parent. So a node is checked only below the first parent that it shares with this node.
	for (const parent of [...parents].reverse()) {
		const below = context.getChildNodes(parent.name, WITH_PARAMETERS);
		for (const other of nodesMirroringSource(own, below)) {
			if (checked.has(other.name)) continue;
			checked.add(other.name);
			const both = [own.name, other.name];
			const isHarmless =
				both.every((name) => getsAllFrom(context, name, parent.name)) &&
				haveSameItems(context, parent.name, both);
			if (!isHarmless) return other;
		}
	}
	return undefined;
}

/**
 * Whether all items of a node come through `parent`. Older versions of n8n return all parents
 * instead of the direct ones. There, the result is false if `parent` has parents itself.
 */
function getsAllFrom(context: IExecuteFunctions, name: string, parent: string): boolean {
	const below = map(context.getChildNodes(parent), 'name');
	const between = map(context.getParentNodes(name), 'name').filter((one) => below.includes(one));
	return [name, ...between].every((one) =>
		map(context.getParentNodes(one, { depth: 1 }), 'name').every(
			(direct) => direct === parent || below.includes(direct),
		),
	);
}

/**
 * Whether nodes have the same items of `parent`, or at most one of the nodes has items. If `parent` has several
 * outputs, this is true if at most one output has items. Nodes in between are not checked then, although they may drop
 * items.
 */
function haveSameItems(context: IExecuteFunctions, parent: string, names: string[]): boolean {
	const counts = itemCounts(context, parent);
	if (counts.length > 1) return counts.filter((count) => count > 0).length < 2;
	// Nodes behind the same output get the same items, unless a node in between drops some. So the result is false if any
	// node is in between.
	const below = context.getChildNodes(parent);
	const isDirect = (name: string) =>
		intersectionBy(context.getParentNodes(name), below, 'name').length === 0;
	return counts.length === 1 && names.every(isDirect);
}
