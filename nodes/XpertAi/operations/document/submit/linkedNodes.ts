import { filter, minBy } from 'lodash';
import { type IExecuteFunctions, type INode, isExpression } from 'n8n-workflow';

import type { Item } from '../../../execution/item';
import { chosenId, givenFor, quoted } from '../../../execution/userInput';
import { canonicalKey } from '../../../payloads/identity';

type Operation = 'findChanges' | 'submit';

type Parameters = Pick<INode, 'parameters'>;

interface LinkedNode extends Parameters {
	name: string;
}

/** The fields that say which source a node works on. */
const SOURCE_FIELDS = ['knowledgebaseId', 'sourceName', 'options.shard'] as const;

type SourceField = (typeof SOURCE_FIELDS)[number];

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
 * Returns the enabled nodes of an operation that belong to a node: the Find Changes nodes before it, or the Submit nodes
 * behind it. Returns none in older versions of n8n, because they do not return the parameters of other nodes.
 */
export function linkedNodes(
	context: IExecuteFunctions,
	name: string,
	operation: Operation,
): LinkedNode[] {
	const withParameters = { includeNodeParameters: true };
	const nodes =
		operation === 'submit'
			? context.getChildNodes(name, withParameters)
			: context.getParentNodes(name, withParameters);
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
	const others: Operation = own.parameters.operation === 'submit' ? 'findChanges' : 'submit';
	const same: Operation = others === 'submit' ? 'findChanges' : 'submit';
	const partnersOf = (node: LinkedNode, operation: Operation) => {
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
