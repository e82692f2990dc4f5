import { attempt, filter, get, intersectionBy, isArray, map, minBy } from 'lodash';
import {
	type IExecuteFunctions,
	type INode,
	isExpression,
	type NodeTypeAndVersion,
} from 'n8n-workflow';

import { chosenId } from '../../../execution/fieldSchemas';
import { givenFor } from '../../../execution/given';
import { quoted } from '../../../execution/issueText';
import type { Item } from '../../../execution/item';
import { canonicalKey } from '../../../payloads/identity';

type LinkedOperation = 'findChanges' | 'submit';

type Parameters = Pick<INode, 'parameters'>;

interface LinkedNode extends Parameters {
	name: string;
}

/** The fields that say which source a node works on. */
const SOURCE_FIELDS = ['knowledgebaseId', 'sourceName', 'options.shard'] as const;

type SourceField = (typeof SOURCE_FIELDS)[number];

/** Asks n8n for the parameters of other nodes. Older versions of n8n do not return them. */
const WITH_PARAMETERS = { includeNodeParameters: true };

/** Returns the value of a field in the form in which the nodes use it; undefined if an expression gives it. */
function fixedValue({ parameters }: Parameters, name: SourceField): string | undefined {
	const given = givenFor({ parameters }, name) ?? '';
	if (isExpression(given)) return undefined;
	return canonicalKey(String(name === 'knowledgebaseId' ? chosenId(given) : given));
}

/** Whether a field of two nodes is fixed in both, and differs. */
export function differsIn(name: SourceField, one: Parameters, other: Parameters): boolean {
	const values = [one, other].map((node) => fixedValue(node, name));
	return !values.includes(undefined) && values[0] !== values[1];
}

const differences = (one: Parameters, other: Parameters): SourceField[] =>
	SOURCE_FIELDS.filter((name) => differsIn(name, one, other));

/**
 * Returns the enabled nodes with `operation` that are linked to the node `name`. For `findChanges`: the nodes before it.
 * For `submit`: the nodes after it. Returns none in older versions of n8n, because they do not give the parameters of
 * other nodes.
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
	return filter(nodes, { type, disabled: false, parameters: { operation } }).map(
		({ name, parameters = {} }) => ({ name, parameters }),
	);
}

/**
 * Compares the source of a Find Changes or Submit node with the nodes that belong to it. Two nodes differ only if neither
 * has another partner: a workflow may keep several sources in step, one after the other.
 *
 * @returns the fields that differ and both values, as a sentence; undefined if nothing is known to differ
 */
export function sourceDifference(item: Item): string | undefined {
	const { context, node: own } = item;
	const others: LinkedOperation = own.parameters.operation === 'submit' ? 'findChanges' : 'submit';
	const same: LinkedOperation = others === 'submit' ? 'findChanges' : 'submit';
	const partnersOf = (node: LinkedNode, operation: LinkedOperation) => {
		const linked = linkedNodes(context, node.name, operation);
		return { linked, isMissing: linked.every((one) => differences(node, one).length > 0) };
	};
	const { linked, isMissing } = partnersOf(own, others);
	if (!isMissing) return undefined;
	const strangers = linked.filter((node) => {
		const { linked: back, isMissing: isAlone } = partnersOf(node, same);
		return back.length > 0 && isAlone;
	});
	const other = minBy(strangers, (node) => differences(own, node).length);
	if (!other) return undefined;
	const said = differences(own, other).map((name) => {
		const [here, there] = [own, other].map((node) => quoted(fixedValue(node, name)));
		return `"${item.labelOf(name)}" is ${here} here and ${there} in ${quoted(other.name)}`;
	});
	return `${said.join(', ')}: give both nodes the same, as each source has its own memory.`;
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
const haveOneSource = (one: Parameters, other: Parameters) =>
	SOURCE_FIELDS.every((name) => {
		const value = fixedValue(one, name);
		return value !== undefined && value === fixedValue(other, name);
	});

/** Whether a node disables documents that are missing from its items. */
const mirrorsItems = ({ parameters }: Parameters) =>
	parameters.operation === 'submit'
		? parameters.mode === 'mirror' && get(parameters, 'options.dryRun') !== true
		: parameters.operation === 'findChanges' && parameters.whatIsGone === 'disable';

/**
 * Looks for another node that mirrors the same source in this execution: before or behind this one, or below a node
 * that gave items to both. Each of them has only a part of the source, and would disable what the other one brings.
 *
 * @returns the problem and the advice, as a sentence; undefined if there is no such node, or n8n does not tell
 */
export function otherMirror(item: Item): string | undefined {
	const { context, node: own } = item;
	// Without a name, each node has a memory of its own.
	if (fixedValue(own, 'sourceName') === '') return undefined;
	const mirrorsAmong = (nodes: NodeTypeAndVersion[]): LinkedNode[] =>
		filter(nodes, { type: own.type, disabled: false })
			.map(({ name, parameters = {} }) => ({ name, parameters }))
			.filter((node) => mirrorsItems(node) && haveOneSource(own, node));
	const parents = context.getParentNodes(own.name, WITH_PARAMETERS);
	const inLine = [...parents, ...context.getChildNodes(own.name, WITH_PARAMETERS)];
	const seen = [own.name, ...map(inLine, 'name')];
	const [linked] = mirrorsAmong(inLine);
	if (linked) return sameSource(item, linked);
	for (const { name: parent } of parents) {
		const below = context.getChildNodes(parent, WITH_PARAMETERS);
		for (const other of mirrorsAmong(below)) {
			if (seen.includes(other.name)) continue;
			seen.push(other.name);
			const isDirect = (before: NodeTypeAndVersion[]) =>
				intersectionBy(before, below, 'name').length === 0;
			const counts = itemCounts(context, parent);
			const filled = counts.filter((count) => count > 0).length;
			// Two nodes at one output get the same items, if no node between leaves some out.
			const haveSame =
				counts.length === 1 && isDirect(parents) && isDirect(context.getParentNodes(other.name));
			const hasOneBranch = counts.length > 1 && filled < 2;
			if (!haveSame && !hasOneBranch) return sameSource(item, other);
		}
	}
	return undefined;
}

const sameSource = (item: Item, { name }: LinkedNode): string =>
	`${quoted(name)} mirrors the same source in this execution, and each node has only a part of it: join the branches before one node, or give each node a "${item.labelOf('sourceName')}" of its own.`;
