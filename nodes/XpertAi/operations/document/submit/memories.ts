import truncate from 'lodash/truncate';

import type { Execution } from '../../../execution/operation';
import type { Fingerprints } from '../../../ingest/fingerprints';
import type { NoteFlaw } from '../../../ingest/memoryNote';
import type { MemoryPlace, MemoryRoutes } from '../../../ingest/notesOnServer';
import { SourceMemory } from '../../../ingest/sourceMemory';
import type { MemoryTroubles } from '../../../ingest/sourceMemory';
import type { Clock } from '../../../transport/clock';
import { failureMessage } from '../../../transport/failure';
import { memoryRoutes } from './routes';
import type { SubmitSettings } from './settings';

/** What earlier runs have stored in each of the knowledgebases of an execution. */
export class Memories {
	/** What this node stored before its source had a name, by knowledgebase. */
	readonly unnamed = new Map<string, Fingerprints>();

	private readonly opened = new Map<string, Promise<SourceMemory>>();

	constructor(
		private readonly execution: Execution,
		private readonly settings: SubmitSettings,
		private readonly clock: Clock,
	) {}

	/** The memory of a knowledgebase, the same one each time in an execution. */
	async of(knowledgebaseId: string): Promise<SourceMemory> {
		const known = this.opened.get(knowledgebaseId);
		if (known) return await known;
		const memory = this.begin(knowledgebaseId);
		this.opened.set(knowledgebaseId, memory);
		return await memory;
	}

	/** The memory of this node without the name of its source, which holds what it stored before it had one. */
	async ofUnnamed(knowledgebaseId: string): Promise<SourceMemory> {
		return await this.open(knowledgebaseId, '');
	}

	private async begin(knowledgebaseId: string): Promise<SourceMemory> {
		const memory = await this.open(knowledgebaseId, this.settings.sourceName);
		if (this.settings.sourceName !== '' && memory.isKept)
			await this.recall(knowledgebaseId, memory);
		return memory;
	}

	private async open(knowledgebaseId: string, sourceName: string): Promise<SourceMemory> {
		const { clock, settings } = this;
		const signal = this.execution.context.getExecutionCancelSignal();
		const options = { clock, signal, fresh: settings.resendAll };
		return await SourceMemory.open(...this.at(knowledgebaseId, sourceName), options);
	}

	/** Reads what was stored under ids that the same documents do not get any more. */
	private async recall(knowledgebaseId: string, memory: SourceMemory): Promise<void> {
		const { clock } = this;
		const { witness } = memory;
		const before = await SourceMemory.recall(...this.at(knowledgebaseId, ''), { clock, witness });
		if ('failure' in before) memory.troubles.notRecalled = before.failure;
		else this.unnamed.set(knowledgebaseId, before.known);
	}

	private at(knowledgebaseId: string, sourceName: string): [MemoryPlace, MemoryRoutes] {
		const { execution, settings, clock } = this;
		const source = sourceOf(execution, { ...settings, sourceName });
		const routes = memoryRoutes(execution, settings, knowledgebaseId, clock);
		return [{ knowledgebaseId, ...source }, routes];
	}

	/** All that were opened, by knowledgebase. */
	async all(): Promise<Array<[knowledgebaseId: string, memory: SourceMemory]>> {
		return await Promise.all(
			[...this.opened].map(async ([id, memory]) => [id, await memory] as [string, SourceMemory]),
		);
	}

	/** Writes what has changed, for the next run. */
	async save(): Promise<void> {
		for (const [, memory] of await this.all()) await memory.save();
	}

	/** What of remembering did not go as it should, in words. */
	async notes(): Promise<string[]> {
		const all = await this.all();
		return [...new Set(all.flatMap(([, { troubles }]) => troubleNotes(troubles)))];
	}
}

/**
 * What a source is known by: its name, or the workflow and the node, however these are called; and the part
 * of it that is brought.
 */
function sourceOf(
	{ context }: Execution,
	{ sourceName, shard }: Pick<SubmitSettings, 'sourceName' | 'shard'>,
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

/** The longest hint. */
const HINT_LENGTH = 120;

const FLAWS: Record<NoteFlaw, string> = {
	damaged: 'is damaged',
	'of another version': 'is of another version of this node',
	'of another source': 'is of another source',
};

function troubleNotes(troubles: MemoryTroubles): string[] {
	const { noRoute, flaw, overlapped, notWritten, notAsked, notRecalled } = troubles;
	const notes: string[] = [];
	if (noRoute)
		notes.push(
			'Everything was sent: this server does not give back what earlier runs have stored.',
		);
	if (flaw) notes.push(`Everything was sent: what was remembered of earlier runs ${FLAWS[flaw]}.`);
	if (overlapped)
		notes.push('Another run of this source was at work as well: the next run sends everything.');
	if (notWritten)
		notes.push(
			asHint(`The next run sends documents again: not remembered. ${failureMessage(notWritten)}`),
		);
	if (notAsked)
		notes.push(
			asHint(`Not known: whether unchanged documents are still there. ${failureMessage(notAsked)}`),
		);
	if (notRecalled)
		notes.push(
			asHint(
				`Not known: what was stored before the source was named. ${failureMessage(notRecalled)}`,
			),
		);
	return notes;
}

/** A text in the length that hints have. */
export function asHint(text: string): string {
	return truncate(text, { length: HINT_LENGTH });
}
