import compact from 'lodash/compact';
import truncate from 'lodash/truncate';

import type { Execution } from '../../../execution/operation';
import { SourceMemory } from '../../../ingest/memory';
import type { MemoryPlace, MemoryRoutes, MemoryTroubles } from '../../../ingest/memory';
import { failureMessage } from '../../../transport/failure';
import type { Failure } from '../../../transport/failure';
import { counted } from './counts';
import { keyOwner } from './sources/identity';
import type { Submission } from './submission';

/** Whose memory it is, and how it is read and written. */
interface MemorySource {
	submission: Submission;
	knowledgebaseId: string;
	memoryRoutes: MemoryRoutes;
}

/** The memory of the source in a knowledgebase, before it is read. */
export function memoryOf({ submission, knowledgebaseId, memoryRoutes }: MemorySource): SourceMemory {
	const { clock, execution, settings, signal } = submission;
	const { resendAll: fresh, forgetDamage: forgetLost } = settings;
	const place = memoryPlaceOf(knowledgebaseId, settings, execution.context);
	const by = runTitle(execution.context);
	return new SourceMemory(place, memoryRoutes, { clock, signal, by, fresh, forgetLost });
}

/**
 * Where the memory of a source is. It is known by its name, or the workflow and the node, however these are called;
 * and by the part of it that is brought.
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

/** What people know a run by. */
export function runTitle(context: Execution['context']): string {
	const { name } = context.getWorkflow();
	return [`execution ${context.getExecutionId()}`, ...(name ? [`of "${name}"`] : [])].join(' ');
}

/** The longest hint. */
const HINT_LENGTH = 120;

/** What went wrong with the memory, in words. */
export function troubleHints({ noRoute, lost, notWritten, notAsked }: MemoryTroubles): string[] {
	const hints: string[] = [];
	const addFailure = (failure: Failure | undefined, what: string) => {
		if (failure) hints.push(asHint(`${what} ${failureMessage(failure)}`));
	};
	if (noRoute)
		hints.push('Everything is sent: this server does not give back what earlier runs have stored.');
	if (lost) {
		const documents =
			lost.count === undefined ? 'documents' : `up to ${counted(lost.count, 'document')}`;
		hints.push(
			`Notes from before ${lost.at.slice(0, 10)} are missing: ${documents} may be found though gone. See "Forget Earlier Damage".`,
		);
	}
	addFailure(notWritten, 'Noted, but not remembered as a whole: the next run does that.');
	addFailure(notAsked, 'Not known: whether unchanged documents are still there.');
	return hints;
}

/** A text in the length that hints have. */
export function asHint(text: string): string {
	return truncate(text, { length: HINT_LENGTH });
}
