import mapValues from 'lodash/mapValues';
import sortBy from 'lodash/sortBy';
import trimEnd from 'lodash/trimEnd';
import uniq from 'lodash/uniq';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import type { Item } from '../../../execution/item';
import { mayContinue } from '../../../execution/outputs';
import type { ItemError } from '../../../execution/outputs';
import type { ReadyDocument } from '../../../ingest/batches';
import type { DocumentName } from '../../../ingest/memory';
import type { PlannedAction } from '../../../ingest/planDocuments';
import type { ProcessingEnd } from '../../../ingest/processingStatus';
import { noRequests } from '../../../ingest/storing';
import type { StoringCounts } from '../../../ingest/storing';
import { failureMessage } from '../../../transport/failure';
import {
	OUTCOMES,
	defined,
	processingAdvice,
	outcomeItem,
	processedItem,
	replacedItem,
	storingError,
} from './outcomes';
import type { Origin, OutcomeName, SubmitOutcome } from './outcomes';
import type { SubmitSettings } from './settings';
import { counted, sentences } from './wording';

/** Failed documents that are listed; the counts are always complete. */
const MAX_FAILED_LISTED = 1000;

/** A document that was not stored, may not have been stored, or could not be processed. */
interface FailedDocument {
	name?: string;
	outcome: OutcomeName;
	reason: string;
	id?: string;
	status?: number;
}

/** Whether a document with this outcome is on the server, where a later one can replace it. */
function isOnServer(outcome?: OutcomeName): outcome is 'found' | 'stored' | 'unchanged' {
	return outcome === 'found' || outcome === 'stored' || outcome === 'unchanged';
}

/** Collects the outcome of each document of one execution of Submit, and its output. */
export class SubmitReport {
	/** Documents by outcome. */
	readonly counts = { documents: 0, ...mapValues(OUTCOMES, () => 0) };
	readonly requests = noRequests();
	readonly failed: FailedDocument[] = [];
	/** Documents read so far, including records that are no documents. */
	documentsRead = 0;
	/** The first failure with On Error set to Stop; nothing is sent after it. */
	stopError?: ItemError;
	/** With Stop, the first refusal that concerns one source alone: the others go on before the run fails. */
	refusal?: ItemError;
	/** Documents that were stored but could not be processed. */
	processingFailed = 0;
	/** Input items that were not read, because the run had ended. */
	itemsNotRead = 0;
	/** Whether processing could not be started or followed at all, so that nothing is known of the documents. */
	processingBroken = false;
	/** Remarks for the user, each once, in sentences no longer than a hint. */
	readonly remarks = new Set<string>();
	/** The origins of all documents, for their output; empty if only a summary is wanted. */
	private readonly origins: Origin[] = [];
	/** Output items that belong to no document of the input. */
	private readonly extraOutputs: INodeExecutionData[] = [];
	/** Documents by what the next run would do with them. */
	private readonly plans = { new: 0, changed: 0, back: 0, unchanged: 0, gone: 0 };

	constructor(
		/** The first item, which output without a document is paired with. */
		private readonly first: Item,
		private readonly settings: SubmitSettings,
	) {}

	/** The origin of the next document of an item. */
	originOf(item: Item): Origin {
		const origin: Origin = { item };
		if (this.hasItems) this.origins.push(origin);
		return origin;
	}

	/** The output, in the order of the input. */
	get items(): INodeExecutionData[] {
		const outputs = sortBy(this.origins, ({ item }) => item.index).flatMap((origin) => {
			const { outcome, output = [] } = origin;
			return outcome === 'replaced' && origin.output ? replacedItem(origin, origin.output) : output;
		});
		return [...outputs, ...this.extraOutputs];
	}

	/** Documents that were read and not sent. */
	get notSent(): number {
		const { documents, notSent } = this.counts;
		return this.documentsRead - documents + notSent;
	}

	/** Whether batches were stored concurrently, after which servers count too few documents (service behaviour, E3). */
	get countMayBeLow(): boolean {
		const { counts, requests } = this;
		return (
			this.settings.concurrency > 1 && requests.batches > 1 && counts.found + counts.stored > 0
		);
	}

	/** The number of documents that are stored and not found, in words. */
	get notFound(): string {
		return `${counted(this.processingFailed, 'document is', 'documents are')} stored but not found`;
	}

	/** The remarks, and the number of documents that are not found. */
	get allRemarks(): string[] {
		const { notFound, processingFailed, remarks } = this;
		return [...remarks, ...(processingFailed > 0 ? [`${notFound}: not processed.`] : [])];
	}

	/** The run in one line; for a dry run, what the next run would do. */
	get line(): string {
		const { counts, plans, requests, settings } = this;
		if (settings.dryRun) {
			const sent = `send ${plans.new} new, ${plans.changed} changed, ${plans.back} back again`;
			const refused = counts.rejected > 0 ? `, refuse ${counts.rejected}` : '';
			return `The next run would ${sent}, leave out ${plans.unchanged}, disable ${plans.gone}${refused}.`;
		}
		const { batches, retries } = requests;
		const tried = retries > 0 ? `, ${counted(retries, 'request')} tried again` : '';
		const sent = batches > 0 ? ` (${counted(batches, 'batch', 'batches')}${tried})` : '';
		return `${inWords(counts)}${sent}.`;
	}

	remark(...texts: string[]): void {
		for (const text of texts) this.remarks.add(text);
	}

	/**
	 * The item of Output = Summary.
	 *
	 * @param seconds the duration of the execution
	 */
	summaryItem(seconds: number): INodeExecutionData {
		const { counts, failed } = this;
		const { requests: attempts, ...others } = this.requests;
		const { dryRun } = this.settings;
		const json: IDataObject = {
			...(dryRun ? { ...this.plans, rejected: counts.rejected, plan: this.line } : counts),
			...(this.allRemarks.length > 0 && { notes: this.allRemarks }),
			failed: failed as unknown as IDataObject[],
			seconds: Math.round(seconds * 1000) / 1000,
			...(!dryRun && { attempts, ...others }),
		};
		return { json, pairedItem: this.first.context.getInputData().map((_, item) => ({ item })) };
	}

	/** Records the outcome of a document that could be read. */
	addOutcome(result: SubmitOutcome): void {
		const { document, outcome } = result;
		const { id, origin } = document;
		this.count(origin, outcome);
		if (this.hasItems) origin.output = outcomeItem(result, this.settings);
		if (!('failure' in result)) return;
		const { failure } = result;
		const reason = failureMessage(failure);
		this.addFailed({ name: origin.name, outcome, reason, id, status: failure.status });
		this.stopWith(() => storingError(document, failure));
	}

	/** Records a document that is not sent. */
	addNotSent(document: ReadyDocument<Origin>, reason?: string): void {
		this.addOutcome({ document, batch: 0, attempts: 0, outcome: 'notSent', reason });
	}

	/** Records a flaw in place of the next document of an item. */
	addFlaw(item: Item, caught: unknown): void {
		this.documentsRead += 1;
		this.addUnreadable(this.originOf(item), caught);
	}

	/** Records a document that cannot be read, and is not sent. */
	addUnreadable(origin: Origin, caught: unknown): void {
		const flaw = origin.item.asError(caught);
		this.count(origin, 'rejected');
		this.addFailed({ outcome: 'rejected', reason: flaw.message });
		if (this.hasItems) origin.output = origin.item.failed(flaw, { outcome: 'rejected' });
		this.stopWith(() => flaw);
	}

	/** Records that a later document had the key or ID of this one, and replaces it on the server. */
	addReplaced(origin: Origin): void {
		origin.isReplaced = true;
		if (!isOnServer(origin.outcome)) return;
		this.recount(origin.outcome, 'replaced');
		origin.outcome = 'replaced';
	}

	/**
	 * Records the last known state of the processing of a stored document.
	 *
	 * @param flaw why it cannot be found
	 * @param origin the origin of the document; `undefined` if it is not tracked, and was stored by this run
	 */
	addProcessed(id: string, end: ProcessingEnd, flaw?: string, origin?: Origin): void {
		if (end.state === 'finish' && (!origin || origin.outcome === 'stored')) {
			this.recount('stored', 'found');
			if (origin) origin.outcome = 'found';
		}
		if (origin?.output && isOnServer(origin.outcome))
			origin.output = processedItem(origin, origin.output, end, flaw);
		if (flaw === undefined) return;
		this.processingFailed += 1;
		this.addFailed({ name: origin?.name, id, outcome: 'stored', reason: flaw });
	}

	/** Records that a document missing from the source was disabled. It belongs to no item. */
	addDisabled(id: string, { name, key }: DocumentName = {}): void {
		this.counts.disabled += 1;
		this.addOutput(this.first.output(defined({ name, outcome: 'disabled', key, id })));
	}

	/**
	 * Records what the next run would do with a document.
	 *
	 * @param origin the origin of the document; `undefined` if it is missing from the source
	 */
	addPlanned(plan: PlannedAction, facts: IDataObject, origin?: Origin): void {
		this.plans[plan] += 1;
		const output = (origin?.item ?? this.first).output(defined({ ...facts, plan }));
		if (!origin) this.addOutput(output);
		else if (this.hasItems) origin.output = output;
	}

	/**
	 * Records a refusal that concerns no single document. With Stop, it ends the run when all sources had their turn.
	 */
	addRefusal(refusal: ItemError): void {
		if (mayContinue(this.first.context)) this.addOutput(this.first.failed(refusal));
		else this.refusal ??= refusal;
	}

	/** Adds the requests that stored documents. */
	addRequests(counts: StoringCounts): void {
		for (const key of Object.keys(this.requests) as Array<keyof StoringCounts>)
			this.requests[key] += counts[key];
	}

	/** Adds to an error how many documents are stored, which are not, and what a second run would do. */
	withCounts(error: ItemError): ItemError {
		const { counts, notSent, itemsNotRead } = this;
		const { found, stored, unknown } = counts;
		const unread = itemsNotRead > 0 ? `, ${counted(itemsNotRead, 'item')} not read` : '';
		const failed = this.failed.filter(({ outcome }) => outcome !== 'stored');
		const names = failed.flatMap(({ name }) => name ?? []);
		const reasons = reasonsOf(failed);
		error.message = trimEnd(
			sentences(error.message, `${inWords({ ...counts, notSent })}${unread}`),
			'.',
		);
		error.description = sentences(
			error.description ?? undefined,
			names.length > 0 ? `Not stored: ${someNames(names)}` : undefined,
			reasons.length > 1 ? `Reasons: ${reasons.join('; ')}` : undefined,
			found + stored + unknown > 0 ? SECOND_RUN : undefined,
		);
		return error;
	}

	/** The error, with Stop, of documents that could not be processed. They stay stored. */
	get processingError(): ItemError {
		const failed = this.failed.filter(({ outcome }) => outcome === 'stored');
		const reasons = reasonsOf(failed);
		const names = someNames(failed.map(({ name, id = 'one without a name' }) => name ?? id));
		return this.first.operationError(
			`${this.notFound}: ${names}`,
			sentences(
				...reasons,
				...uniq(reasons.map((reason) => processingAdvice(reason))),
				...this.remarks,
				inWords(this.counts),
				CONTINUE_HINT,
			),
		);
	}

	/** Whether each document gets an output item. */
	private get hasItems(): boolean {
		return this.settings.output !== 'summary';
	}

	/** Counts a document, as replaced if a later one of the run replaced it. */
	private count(origin: Origin, outcome: SubmitOutcome['outcome']): void {
		origin.outcome = origin.isReplaced && isOnServer(outcome) ? 'replaced' : outcome;
		this.counts.documents += 1;
		this.counts[origin.outcome] += 1;
	}

	/** Moves a document from one count to another. */
	private recount(from: OutcomeName, to: OutcomeName): void {
		this.counts[from] -= 1;
		this.counts[to] += 1;
	}

	private addFailed(document: FailedDocument): void {
		if (this.failed.length < MAX_FAILED_LISTED) this.failed.push(document);
	}

	private stopWith(error: () => ItemError): void {
		if (!mayContinue(this.first.context)) this.stopError ??= error();
	}

	private addOutput(output: INodeExecutionData): void {
		if (this.hasItems) this.extraOutputs.push(output);
	}
}

const SECOND_RUN =
	'A second run replaces documents that carry a UUID as ID and stores all others again';

const CONTINUE_HINT =
	'To have the others come out all the same, set "On Error" in the settings of the node to "Continue (using error output)"';

/** The reasons of failed documents, as many as fit into a message. */
const reasonsOf = (failed: FailedDocument[]) =>
	uniq(failed.map(({ reason }) => reason)).slice(0, 3);

/** Documents that an error names. */
const MAX_NAMED = 10;

/** Lists names, and the number of further ones. */
function someNames(names: string[]): string {
	const more = names.length - MAX_NAMED;
	const first = names.slice(0, MAX_NAMED).join(', ');
	return more > 0 ? `${first} and ${more} more` : first;
}

/** Counts in words, without zeros. */
function inWords(counts: Record<OutcomeName, number>): string {
	const parts = Object.entries(OUTCOMES).flatMap(([outcome, words]) => {
		const count = counts[outcome as OutcomeName];
		return count > 0 ? `${count} ${words}` : [];
	});
	return `Documents: ${parts.join(', ') || 'none'}`;
}
