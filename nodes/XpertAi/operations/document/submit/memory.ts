import truncate from 'lodash/truncate';

import type { Execution } from '../../../execution/operation';
import { SourceMemory } from '../../../ingest/memory';
import type { MemoryPlace, MemoryTroubles, NoteFlaw } from '../../../ingest/memory';
import { counted } from '../../../ingest/summary';
import { failureMessage } from '../../../transport/failure';
import type { Failure } from '../../../transport/failure';
import type { KnowledgebaseRoutes } from './routes';
import type { SubmitSettings } from './settings';
import { keyOwner } from './sources/identity';
import type { Submission } from './submission';

/** What a source has stored in a knowledgebase under its own name, and what this node had before it got one. */
export class Remembered {
	constructor(
		private readonly submission: Submission,
		private readonly knowledgebaseId: string,
		private readonly routes: KnowledgebaseRoutes,
	) {}

	/** The memory of the source. */
	async open(): Promise<SourceMemory> {
		const { evenIfRunning, sourceName } = this.submission.settings;
		return await this.openAs(sourceName, evenIfRunning);
	}

	/** The memory of this node without the name of its source. */
	async openUnnamed(): Promise<SourceMemory> {
		return await this.openAs('', true);
	}

	/** What is remembered of the source, for a run that leaves it as it is. */
	async recall() {
		const { settings } = this.submission;
		const place = this.placeOf(settings.sourceName);
		const recalled = await SourceMemory.recall(place, this.routes);
		if ('known' in recalled && settings.resendAll) recalled.known.forgetContents();
		return recalled;
	}

	/** What was stored under ids that the same documents do not get any more. */
	async recallUnnamed({ witness }: SourceMemory) {
		return await SourceMemory.recall(this.placeOf(''), this.routes, { witness });
	}

	private async openAs(sourceName: string, evenIfRunning: boolean): Promise<SourceMemory> {
		const { clock, execution, settings, signal } = this.submission;
		const by = runOf(execution.context);
		const beginning = { clock, signal, by, fresh: settings.resendAll, evenIfRunning };
		return await SourceMemory.open(this.placeOf(sourceName), this.routes, beginning);
	}

	private placeOf(sourceName: string): MemoryPlace {
		const { execution, settings } = this.submission;
		const { knowledgebaseId } = this;
		const owner = keyOwner(knowledgebaseId, sourceName);
		return { knowledgebaseId, owner, ...sourceOf(execution, sourceName, settings) };
	}
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
	sourceName: string,
	{ shard }: Pick<SubmitSettings, 'shard'>,
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

const FLAWS: Record<NoteFlaw, string> = {
	damaged: 'is damaged',
	overwritten: 'was overwritten, as by Process on the server',
	'of a later version': 'is of a later version of this node',
	'of another source': 'is of another source',
};

/** What of remembering did not go as it should, in words. */
export function troubleHints(troubles: MemoryTroubles): string[] {
	const { noRoute, flaw, lost = 0, overlapped, notWritten, notAsked, notRecalled } = troubles;
	const hints: string[] = [];
	const say = (failure: Failure | undefined, what: string) => {
		if (failure) hints.push(asHint(`${what} ${failureMessage(failure)}`));
	};
	if (noRoute)
		hints.push('Everything is sent: this server does not give back what earlier runs have stored.');
	if (flaw) hints.push(`Everything is sent: what was remembered of earlier runs ${FLAWS[flaw]}.`);
	if (lost > 0)
		hints.push(
			`A note in the knowledgebase was lost or overwritten. Of ${counted(lost, 'document')} it is not known what is gone.`,
		);
	if (overlapped)
		hints.push('Another run of this source was at work as well: the next run sends everything.');
	say(notWritten, 'Noted, but not remembered as a whole: the next run does that.');
	say(notAsked, 'Not known: whether unchanged documents are still there.');
	say(notRecalled, 'Not known: what was stored before the source was named.');
	return hints;
}

/** A text in the length that hints have. */
export function asHint(text: string): string {
	return truncate(text, { length: HINT_LENGTH });
}
