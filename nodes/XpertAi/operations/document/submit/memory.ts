import compact from 'lodash/compact';
import truncate from 'lodash/truncate';

import type { Execution } from '../../../execution/operation';
import type { MemoryPlace, MemoryTroubles } from '../../../ingest/memory';
import { failureMessage } from '../../../transport/failure';
import { counted } from './counts';
import { keyOwner } from './sources/identity';

/**
 * The place of a source's memory. The source is identified by its name, or else by the IDs of workflow and node,
 * whatever their names are; and by its shard.
 */
export function memoryPlaceOf(
	knowledgebaseId: string,
	{ sourceName, shard = '' }: { sourceName: string; shard?: string },
	context: Execution['context'],
): MemoryPlace {
	const { id: workflowId, name: workflowName = '' } = context.getWorkflow();
	const { id, name } = context.getNode();
	const hasName = sourceName !== '';
	const source = hasName
		? `name ${sourceName}`
		: `node ${id} of workflow ${workflowId ?? workflowName}`;
	const titles = hasName ? [sourceName] : compact([workflowName, name]);
	const part = shard === '' ? [] : [`shard ${shard}`];
	return {
		knowledgebaseId,
		owner: keyOwner(knowledgebaseId, sourceName),
		source: [source, ...part].join(', '),
		title: [...titles, ...part].join(', '),
	};
}

/** Characters of the longest hint. */
const HINT_LENGTH = 120;

/** The hints about what went wrong with the memory. */
export function troubleHints({ noRoute, lost, notWritten, notAsked }: MemoryTroubles): string[] {
	const documents =
		lost?.count === undefined ? 'documents' : `up to ${counted(lost.count, 'document')}`;
	return compact([
		noRoute && 'Everything is sent: this server does not give back what earlier runs have stored.',
		lost &&
			`Notes from before ${lost.at.slice(0, 10)} are missing: ${documents} may still be found although they left the source. See "Forget Earlier Damage".`,
		notWritten &&
			asHint(
				`The memory was not written completely: the next run completes it. ${failureMessage(notWritten)}`,
			),
		notAsked &&
			asHint(`Not known: whether unchanged documents are still there. ${failureMessage(notAsked)}`),
	]);
}

/** Truncates a text to the length of a hint. */
export function asHint(text: string): string {
	return truncate(text, { length: HINT_LENGTH });
}
