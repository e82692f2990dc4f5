import { attempt, filter, get, intersectionBy, isArray, map, minBy } from 'lodash';
import {
	type IExecuteFunctions,
	type INode,
	isExpression,
	type NodeTypeAndVersion,
} from 'n8n-workflow';

import { idFromInput } from '../../../execution/fieldSchemas';
import { givenFor } from '../../../execution/givenValues';
import { quoted } from '../../../execution/issueText';
import type { Item } from '../../../execution/item';
import { canonicalKey } from '../../../payloads/identity';

type LinkedOperation = 'findChanges' | 'submit';

type NodeWithParameters = Pick<INode, 'parameters'>;

interface LinkedNode extends NodeWithParameters {
	name: string;
}

const toLinkedNode = ({ name, parameters = {} }: NodeTypeAndVersion): LinkedNode => ({
	name,
	parameters,
});

/** The fields that say which source a node works on. */
const SOURCE_FIELDS = ['knowledgebaseId', 'sourceName', 'options.shard'] as const;

type SourceField = (typeof SOURCE_FIELDS)[number];

/** Asks n8n for the parameters of other nodes. Older versions of n8n do not return them. */
const WITH_PARAMETERS = { includeNodeParameters: true };

/** Returns the value of a field as the nodes use it; undefined if the field is an expression. */
function fixedValue({ parameters }: NodeWithParameters, name: SourceField): string | undefined {
	const given = givenFor({ parameters }, name) ?? '';
	if (isExpression(given)) return undefined;
	return canonicalKey(String(name === 'knowledgebaseId' ? idFromInput(given) : given));
}

/** Whether a field has different values in two nodes. False if it is an expression in one of them. */
export function differsIn(
	name: SourceField,
	one: NodeWithParameters,
	other: NodeWithParameters,
): boolean {
	const values = [one, other].map((node) => fixedValue(node, name));
	return !values.includes(undefined) && values[0] !== values[1];
}

const differences = (one: NodeWithParameters, other: NodeWithParameters): SourceField[] =>
	SOURCE_FIELDS.filter((name) => differsIn(name, one, other));

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
	linked.some((other) => differences(node, other).length === 0);

/** Returns the nearest Find Changes node before a Submit node that may have the same source. */
export function findChangesNodeBefore({ context, node }: Item): LinkedNode | undefined {
	const before = linkedNodes(context, node.name, 'findChanges');
	// n8n lists the nearest parent last.
	return before.findLast((other) => differences(node, other).length === 0);
}

/**
 * Compares the source of a Find Changes node with the Submit nodes after it, or the source of a Submit node with the
 * Find Changes nodes before it. Their sources differ if this node has no partner, and a linked node has none either.
 *
 * @returns a sentence with the fields that differ and both values; undefined if no sources are known to differ
 */
export function sourceDifference(item: Item): string | undefined {
	const { context, node: own } = item;
	const isSubmit = own.parameters.operation === 'submit';
	const linked = linkedNodes(context, own.name, isSubmit ? 'findChanges' : 'submit');
	if (hasPartner(own, linked)) return undefined;
	const unpaired = linked.filter((other) => {
		const linkedToOther = linkedNodes(context, other.name, isSubmit ? 'submit' : 'findChanges');
		// The list has at least this node. If it is empty, n8n does not give the parameters of this node. Then a partner of
		// `other` may be unknown.
		return linkedToOther.length > 0 && !hasPartner(other, linkedToOther);
	});
	const closest = minBy(unpaired, (other) => differences(own, other).length);
	return closest && differenceText(item, closest);
}

function differenceText(item: Item, other: LinkedNode): string {
	const { node: own } = item;
	const parts = differences(own, other).map((name) => {
		const [here, there] = [own, other].map((node) => quoted(fixedValue(node, name)));
		return `"${item.labelOf(name)}" is ${here} here and ${there} in ${quoted(other.name)}`;
	});
	return `${parts.join(', ')}: give both nodes the same, as each source has its own memory. Under a new name, all is stored once more.`;
}

/* Nodes that mirror one source in one execution */

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
const haveOneSource = (one: NodeWithParameters, other: NodeWithParameters) =>
	SOURCE_FIELDS.every((name) => {
		const value = fixedValue(one, name);
		return value !== undefined && value === fixedValue(other, name);
	});

/** Whether a node disables documents that are missing from its items. */
const mirrorsItems = ({ parameters }: NodeWithParameters) =>
	parameters.operation === 'submit'
		? parameters.mode === 'mirror' && get(parameters, 'options.dryRun') !== true
		: parameters.operation === 'findChanges' && parameters.whatIsGone === 'disable';

/** The nodes among `nodes` that mirror the same source as `own`. */
const mirrorsOfSource = (own: INode, nodes: NodeTypeAndVersion[]): LinkedNode[] =>
	filter(nodes, { type: own.type, disabled: false })
		.map(toLinkedNode)
		.filter((node) => mirrorsItems(node) && haveOneSource(own, node));

/**
 * Looks for another node that mirrors the same source in this execution: before or behind this one, or below a node
 * that gave items to both. Each of them has only a part of the source, and would disable what the other one brings.
 *
 * @returns the problem and the advice, as a sentence; undefined if there is no such node, or n8n does not tell
 */
export function otherMirrorText(item: Item): string | undefined {
	const { context, node: own } = item;
	// Without a name, each node has a memory of its own.
	if (fixedValue(own, 'sourceName') === '') return undefined;
	const parents = context.getParentNodes(own.name, WITH_PARAMETERS);
	const inLine = [...parents, ...context.getChildNodes(own.name, WITH_PARAMETERS)];
	const [mirrorInLine] = mirrorsOfSource(own, inLine);
	const other = mirrorInLine ?? mirrorOnOtherBranch(item, parents, inLine);
	return (
		other &&
		`${quoted(other.name)} mirrors the same source in this execution, and each node has only a part of it: join the branches before one node, or give each node a "${item.labelOf('sourceName')}" of its own.`
	);
}

/**
 * Finds a node below a parent of this node that mirrors the same source. Leaves out a node if it and this node get all
 * their items from this parent, and `haveSameItems` is true.
 *
 * @param inLine the nodes before and behind this node; left out, because the caller has checked them
 */
function mirrorOnOtherBranch(
	{ context, node: own }: Item,
	parents: NodeTypeAndVersion[],
	inLine: NodeTypeAndVersion[],
): LinkedNode | undefined {
	const checked = new Set([own.name, ...map(inLine, 'name')]);
	// n8n lists the nearest parent last. The branches of two nodes part below their nearest common parent, so each other
	// node is checked only there.
	for (const parent of [...parents].reverse()) {
		const below = context.getChildNodes(parent.name, WITH_PARAMETERS);
		for (const other of mirrorsOfSource(own, below)) {
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
 * Whether nodes have the same items of `parent`, or at most one of the nodes has items. If `parent` has several outputs,
 * only these are compared: nodes between may still leave items out.
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
