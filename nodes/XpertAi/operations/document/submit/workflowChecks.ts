import { isParameterFilled } from '../../../execution/givenValues';
import { shownValue } from '../../../execution/issueText';
import type { Item } from '../../../execution/item';
import { isInLoop } from '../../../execution/n8nExecution';
import { haveDifferentValues, linkedNodes, sourceDifferenceText } from './linkedNodes';
import { otherMirrorText } from './otherMirror';
import type { SubmitSettings } from './settings';

const MIRROR_CHOICE_NAME = 'Mirror the Source (Disable What Is Gone)';

/**
 * Rejects a choice that disables missing documents if the node is in a loop. Each iteration has only some of the
 * documents, so all others would be disabled.
 *
 * @param name the field with this choice
 * @param other a choice of the field that is allowed in a loop
 * @throws NodeOperationError before anything is sent
 */
export function throwIfInLoop(item: Item, name: string, choice: string, other: string): void {
	if (!isInLoop(item.context)) return;
	item.throwFieldIssue(
		name,
		`cannot be "${choice}" in a loop, as that needs all documents in one run: take the node out of the loop, or choose "${other}"`,
	);
}

/**
 * Rejects "Mirror the Source" for a node that gets only a part of the documents: in a loop, or behind Find Changes.
 *
 * @throws NodeOperationError before anything is sent
 */
export function throwIfMirrorsPart(item: Item): void {
	throwIfInLoop(item, 'mode', MIRROR_CHOICE_NAME, 'Send New and Changed');
	throwIfBehindFindChanges(item);
}

/**
 * Rejects "Mirror the Source" behind a Find Changes node, unless this node has a Source Name that certainly differs from
 * the one there. Find Changes passes on only changed documents, so all unchanged documents would be disabled. Rejects
 * nothing in older versions of n8n, because they do not return the parameters of other nodes.
 *
 * @throws NodeOperationError before anything is sent
 */
function throwIfBehindFindChanges(item: Item): void {
	const { context, node } = item;
	const found = linkedNodes(context, node.name, 'findChanges').find(
		(other) =>
			!isParameterFilled(node, 'sourceName') || !haveDifferentValues('sourceName', node, other),
	);
	if (!found) return;
	item.throwFieldIssue(
		'mode',
		`cannot be "${MIRROR_CHOICE_NAME}" behind ${shownValue(found.name)}, which passes on only what changed: choose "Send New and Changed"`,
	);
}

/**
 * Compares the settings with those of linked nodes. If their sources differ, or if another node mirrors the same source,
 * the run disables nothing and says so.
 *
 * @returns the settings; with `mirrors` off and a `linkedNodesHint` if there is such a problem
 */
export function adjustedToLinkedNodes(item: Item, settings: SubmitSettings): SubmitSettings {
	const difference =
		sourceDifferenceText(item) ?? (settings.mirrors ? otherMirrorText(item) : undefined);
	if (difference === undefined) return settings;
	const linkedNodesHint = settings.mirrors ? `Nothing is disabled. ${difference}` : difference;
	return { ...settings, mirrors: false, linkedNodesHint };
}
