import truncate from 'lodash/truncate';

import type { Execution } from '../../../execution/operation';
import type { NoteFlaw } from '../../../ingest/memoryNote';
import { SourceMemory } from '../../../ingest/sourceMemory';
import type { MemoryTroubles } from '../../../ingest/sourceMemory';
import type { Clock } from '../../../transport/clock';
import { failureMessage } from '../../../transport/failure';
import { memoryRoutes } from './routes';
import type { SubmitSettings } from './settings';

/** What earlier runs have stored in each of the knowledgebases of an execution. */
export class Memories {
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
		const { execution, settings, clock } = this;
		const signal = execution.context.getExecutionCancelSignal();
		const routes = memoryRoutes(execution, settings, knowledgebaseId, clock);
		const place = { knowledgebaseId, ...sourceOf(execution, settings.sourceName) };
		const options = { clock, signal, fresh: settings.resendAll };
		const memory = SourceMemory.open(place, routes, options);
		this.opened.set(knowledgebaseId, memory);
		return await memory;
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

/** What a source is known by: its name, or the workflow and the node, however these are called. */
function sourceOf({ context }: Execution, sourceName: string): { source: string; title: string } {
	if (sourceName !== '') return { source: `name ${sourceName}`, title: sourceName };
	const { id: workflowId, name: workflowName = '' } = context.getWorkflow();
	const { id, name } = context.getNode();
	const source = `node ${id} of workflow ${workflowId ?? workflowName}`;
	return { source, title: [workflowName, name].filter(Boolean).join(', ') };
}

/** The longest hint. */
const HINT_LENGTH = 120;

const FLAWS: Record<NoteFlaw, string> = {
	damaged: 'is damaged',
	'of another version': 'is of another version of this node',
	'of another source': 'is of another source',
};

function troubleNotes(troubles: MemoryTroubles): string[] {
	const { noRoute, flaw, overlapped, notWritten, notAsked } = troubles;
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
	return notes;
}

/** A text in the length that hints have. */
export function asHint(text: string): string {
	return truncate(text, { length: HINT_LENGTH });
}
