import type { Item } from '../../../execution/item';
import type { Execution } from '../../../execution/operation';
import { mayContinue } from '../../../execution/outputs';
import { disableGone, goneOf, percentOf } from '../../../ingest/gone';
import type { SourceMemory } from '../../../ingest/sourceMemory';
import { counted } from '../../../ingest/summary';
import type { Clock } from '../../../transport/clock';
import { failureMessage } from '../../../transport/failure';
import { asHint } from './memories';
import { memoryRoutes, processingRoutes } from './routes';
import type { SubmitReport } from './report';
import type { SubmitSettings } from './settings';
import type { Submission } from './submission';

/** How many documents a message names as examples. */
const EXAMPLES = 3;

/**
 * Refuses Documents Gone From the Source in a loop, where each turn brings only a part of the documents.
 *
 * @throws NodeOperationError before anything is sent
 */
export function refuseInLoop(item: Item): void {
	const { context } = item;
	const { name } = context.getNode();
	const before = new Set(context.getParentNodes(name).map((node) => node.name));
	if (!context.getChildNodes(name).some((node) => before.has(node.name))) return;
	item.refuse({
		subject: `"${item.labelOf('options.whenGone')}"`,
		demand:
			'cannot be "Disable" in a loop, as it needs all documents in one run: take the node out of the loop, or set it to "Keep"',
	});
}

/**
 * Takes the documents out of every answer that this source stored earlier and did not bring this time
 * (Documents Gone From the Source). Only a whole run does so. What was stored before the source had a name
 * goes as soon as it is there under its new id, whatever became of the others.
 *
 * @returns notes for the user
 * @throws NodeOperationError with Stop, when more are missing than Max Share Gone allows
 */
export async function disableMissing(
	execution: Execution,
	submission: Submission,
	clock: Clock,
): Promise<string[]> {
	const notes: string[] = [];
	for (const [knowledgebaseId, memory] of (await submission.memories?.all()) ?? []) {
		notes.push(...(await disableRenamed(execution, submission, [knowledgebaseId, memory], clock)));
		if (!submission.settings.disableGone) continue;
		const gone = goneOf(memory, submission.broughtTo(knowledgebaseId));
		if (gone.length === 0) continue;
		const reason = await reasonToKeep(execution, submission, memory, knowledgebaseId);
		if (reason) notes.push(`Nothing was disabled: ${reason}.`);
		else {
			const step = new GoneStep(execution, submission, memory, gone);
			notes.push(...(await step.take(knowledgebaseId, clock)));
		}
	}
	return notes;
}

/** Takes out of answers what the source stored before it had a name, where it is there under its new id. */
async function disableRenamed(
	execution: Execution,
	{ settings, report, memories, renamedIn }: Submission,
	[knowledgebaseId, memory]: [string, SourceMemory],
	clock: Clock,
): Promise<string[]> {
	const renamed = [...renamedIn(knowledgebaseId)];
	const twice = renamed.flatMap(([before, id]) =>
		memory.known.isDone(id, settings.process) ? before : [],
	);
	const later = renamed.length - twice.length;
	const notes = later > 0 ? [`${counted(later, 'document is', 'documents are')} ${NOT_YET}`] : [];
	if (twice.length === 0 || !memories || execution.context.getExecutionCancelSignal()?.aborted)
		return notes;
	if (execution.context.getMode() === 'manual')
		return [...notes, `${counted(twice.length, 'document is', 'documents are')} ${IN_MANUAL}`];
	const earlier = await memories.ofUnnamed(knowledgebaseId);
	const args = [execution, settings, knowledgebaseId, clock] as const;
	const failure = await disableGone(twice, {
		memory: earlier,
		routes: { ...processingRoutes(...args), ...memoryRoutes(...args) },
		onDisabled: (id) => report.addDisabled(id, execution.items[0]),
	});
	await earlier.save();
	return failure
		? [
				...notes,
				asHint(`Documents are there twice, as the source was named. ${failureMessage(failure)}`),
			]
		: notes;
}

const NOT_YET =
	'there twice, as the source was named: the earlier copies go when the new ones are processed.';
const IN_MANUAL =
	'there twice, as the source was named. A scheduled run would disable the earlier copies.';

/** Why this run does not show what the source holds. */
async function reasonToKeep(
	{ context }: Execution,
	{ report, broughtTo }: Submission,
	memory: SourceMemory,
	knowledgebaseId: string,
): Promise<string | undefined> {
	const { rejected, unknown } = report.summary.counts;
	const documents = (count: number) => counted(count, 'document');
	if (context.getExecutionCancelSignal()?.aborted) return 'the execution was stopped';
	if (rejected > 0) return `${documents(rejected)} could not be read or stored`;
	if (unknown > 0) return `${documents(unknown)} may or may not be stored`;
	if (report.processingBroken) return 'the processing could not be started or followed';
	if (report.emptyFiles > 0) return `${counted(report.emptyFiles, 'file')} of records held none`;
	if (report.withoutId > 0) return `${documents(report.withoutId)} came without an ID`;
	if (broughtTo(knowledgebaseId).size === 0) return 'the source brought no documents';
	if (Number(context.getWorkflowDataProxy(0).$runIndex) > 0)
		return 'the node ran more than once in this execution';
	if (!memory.isKept) return 'this run cannot be remembered';
	const standing = await memory.standing();
	if ('failure' in standing) return 'whether another run of this source is at work is not known';
	return standing.alone ? undefined : 'another run of this source is at work';
}

/** What is missing of one knowledgebase after a whole run. */
class GoneStep {
	private readonly settings: SubmitSettings;
	private readonly report: SubmitReport;

	constructor(
		private readonly execution: Execution,
		{ settings, report }: Submission,
		private readonly memory: SourceMemory,
		private readonly gone: string[],
	) {
		this.settings = settings;
		this.report = report;
	}

	async take(knowledgebaseId: string, clock: Clock): Promise<string[]> {
		const { execution, settings, memory, gone } = this;
		const share = percentOf(gone.length, memory.knownBefore);
		const allowed = share <= settings.maxGonePercent;
		const of = `${gone.length} of ${counted(memory.knownBefore, 'document')}`;
		if (execution.context.getMode() === 'manual') {
			const does = allowed
				? 'disable them'
				: `disable none: more than ${settings.maxGonePercent} %`;
			return [`${of} did not come this time. A scheduled run would ${does}.`];
		}
		if (!allowed) return this.refuse(of, share);
		const args = [execution, settings, knowledgebaseId, clock] as const;
		const failure = await disableGone(gone, {
			memory,
			routes: { ...processingRoutes(...args), ...memoryRoutes(...args) },
			onDisabled: (id) => this.report.addDisabled(id, execution.items[0]),
		});
		return failure
			? [asHint(`Documents that are gone were not all disabled. ${failureMessage(failure)}`)]
			: [];
	}

	/** More is missing than may be: whoever looks after the source has to say that this is meant. */
	private refuse(of: string, share: number): string[] {
		const [item] = this.execution.items;
		if (!item) return [];
		const label = `"${item.labelOf('options.maxGonePercent')}"`;
		const error = item.operationError(
			`Nothing was disabled: ${of} that this source stored earlier did not come this time, more than ${label} allows (${this.settings.maxGonePercent})`,
			`All that came is stored. Missing are for example ${this.gone.slice(0, EXAMPLES).join(', ')}. If they are really gone from the source, set ${label} to ${share} for one run.`,
		);
		if (!mayContinue(item.context)) throw error;
		this.report.addRefusal(item, error);
		return [`Nothing was disabled: ${of} did not come, more than ${label} allows.`];
	}
}
