import truncate from 'lodash/truncate';

import type { Execution } from '../../../execution/operation';
import { SourceMemory } from '../../../ingest/memory';
import type { MemoryPlace, MemoryTroubles } from '../../../ingest/memory';
import { failureMessage } from '../../../transport/failure';
import type { Failure } from '../../../transport/failure';
import { counted } from './counts';
import type { KnowledgebaseRoutes } from './routes';
import type { SubmitSettings } from './settings';
import { keyOwner } from './sources/identity';
import type { Submission } from './submission';

/** Whose memory it is, and how it is read and written. */
interface Remembering {
	submission: Submission;
	knowledgebaseId: string;
	memoryRoutes: KnowledgebaseRoutes;
}

/** The memory of the source. */
export async function openMemory(from: Remembering): Promise<SourceMemory> {
	return await new SourceMemory(...opening(from)).open();
}

/** What is remembered of the source, for a run that leaves it as it is. */
export async function recallMemory(from: Remembering): Promise<SourceMemory> {
	const { remembers } = from.submission.settings;
	const memory = new SourceMemory(...opening(from));
	return remembers ? await memory.open('to read') : memory;
}

function opening(from: Remembering): ConstructorParameters<typeof SourceMemory> {
	const { submission, knowledgebaseId, memoryRoutes } = from;
	const { clock, execution, settings, signal } = submission;
	const { resendAll: fresh, forgetDamage: forgetLost } = settings;
	const owner = keyOwner(knowledgebaseId, settings.sourceName);
	const place = { knowledgebaseId, owner, ...sourceOf(execution, settings) };
	const by = runOf(execution.context);
	return [place, memoryRoutes, { clock, signal, by, fresh, forgetLost }];
}

/** Where the memory of a source with a name is. */
export function placeOfSource(knowledgebaseId: string, sourceName: string): MemoryPlace {
	const owner = keyOwner(knowledgebaseId, sourceName);
	return { knowledgebaseId, owner, source: `name ${sourceName}`, title: sourceName };
}

/**
 * What a source is known by: its name, or the workflow and the node, however these are called; and the part
 * of it that is brought.
 */
function sourceOf(
	{ context }: Execution,
	{ shard, sourceName }: Pick<SubmitSettings, 'shard' | 'sourceName'>,
): Pick<MemoryPlace, 'source' | 'title'> {
	const part = shard === '' ? [] : [`shard ${shard}`];
	if (sourceName !== '')
		return {
			source: [`name ${sourceName}`, ...part].join(', '),
			title: [sourceName, ...part].join(', '),
		};
	const { id: workflowId, name: workflowName = '' } = context.getWorkflow();
	const { id, name } = context.getNode();
	const source = [`node ${id} of workflow ${workflowId ?? workflowName}`, ...part].join(', ');
	return { source, title: [workflowName, name, ...part].filter(Boolean).join(', ') };
}

/** What people know a run by. */
export function runOf(context: Execution['context']): string {
	const { name } = context.getWorkflow();
	return [`execution ${context.getExecutionId()}`, ...(name ? [`of "${name}"`] : [])].join(' ');
}

/** The longest hint. */
const HINT_LENGTH = 120;

/** What went wrong with the memory, in words. */
export function troubleHints({ noRoute, lost, notWritten, notAsked }: MemoryTroubles): string[] {
	const hints: string[] = [];
	const say = (failure: Failure | undefined, what: string) => {
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
	say(notWritten, 'Noted, but not remembered as a whole: the next run does that.');
	say(notAsked, 'Not known: whether unchanged documents are still there.');
	return hints;
}

/** A text in the length that hints have. */
export function asHint(text: string): string {
	return truncate(text, { length: HINT_LENGTH });
}
