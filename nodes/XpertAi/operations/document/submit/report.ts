import isUndefined from 'lodash/isUndefined';
import omitBy from 'lodash/omitBy';
import uniq from 'lodash/uniq';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import type { Item } from '../../../execution/item';
import { mayContinue } from '../../../execution/outputs';
import type { ItemError } from '../../../execution/outputs';
import type { ReadyDocument } from '../../../ingest/batches';
import type { Plan } from '../../../ingest/planDocuments';
import type { DocumentName } from '../../../ingest/memory';
import { processingEndOf } from '../../../ingest/processingStatus';
import type { ProcessingEnd, ProcessingStatus } from '../../../ingest/processingStatus';
import { noRequests } from '../../../ingest/storing';
import type { DocumentOutcome, StoringCounts } from '../../../ingest/storing';
import { failureMessage } from '../../../transport/failure';
import { storingError } from './advice';
import { counted, noCounts, planInWords, runInWords } from './counts';
import type { Counts } from './counts';
import {
	flawItem,
	outcomeItem,
	processedItem,
	processingFlaw,
	replacedItem,
	unchangedItem,
} from './outcomeItems';
import type { SubmitSettings } from './settings';
import type { Origin } from './sources/identity';

/** Failed documents that are listed; the counts are always complete. */
const MAX_FAILED_LISTED = 1000;

/** A document that was not stored, may not have been stored, or could not be processed. */
export interface FailedDocument {
	name?: string;
	outcome: DocumentOutcome<unknown>['outcome'];
	reason: string;
	id?: string;
	status?: number;
}

/** Collects the outcome of each document of one execution of Submit, and its output. */
export class SubmitReport {
	readonly counts = noCounts();
	readonly requests = noRequests();
	readonly failed: FailedDocument[] = [];
	/** Documents read so far, including records that are no documents. */
	read = 0;
	/** The first failure with On Error set to Stop; nothing is sent after it. */
	stopError?: ItemError;
	/** Documents that were stored but could not be processed. */
	processingFailed = 0;
	/** Input items that were not read, because the run had ended. */
	notRead = 0;
	/** Whether processing could not be started or followed at all, so that nothing is known of the documents. */
	processingBroken = false;
	/** Remarks for the user, in sentences no longer than a hint. */
	private readonly sentences: string[] = [];
	/** Output items by input item and position; empty if only a summary is wanted. */
	private readonly outputs: INodeExecutionData[][] = [];
	/** Origins of documents that later ones replaced. */
	private readonly replaced: Origin[] = [];
	/** Output items that belong to no document of the input. */
	private readonly extraOutputs: INodeExecutionData[] = [];

	/** Documents by what the next run would do with them. */
	private readonly plans: Record<Plan, number> = {
		new: 0,
		changed: 0,
		back: 0,
		unchanged: 0,
		gone: 0,
	};

	constructor(
		/** The first item, which output without a document is paired with. */
		private readonly first: Item,
		private readonly settings: SubmitSettings,
	) {}

	/** The output, in the order of the input. */
	get items(): INodeExecutionData[] {
		for (const origin of this.replaced) {
			const output = this.outputs[origin.item.index]?.[origin.position];
			if (output) this.setOutput(origin, () => replacedItem(origin.item, output));
		}
		return [...this.outputs.flat(), ...this.extraOutputs];
	}

	/** Documents that were read and not sent. */
	get notSent(): number {
		const { documents, notSent } = this.counts;
		return this.read - documents + notSent;
	}

	/** Whether batches were stored concurrently, after which servers count too few documents (service behaviour, E3). */
	get countMayBeLow(): boolean {
		const { counts, requests } = this;
		return (
			this.settings.concurrency > 1 && requests.batches > 1 && counts.found + counts.stored > 0
		);
	}

	get remarks(): string[] {
		return uniq(this.sentences);
	}

	/** The number of documents that are stored and not found, in words. */
	get notFound(): string {
		return `${counted(this.processingFailed, 'document is', 'documents are')} stored but not found`;
	}

	/** The remarks, and the number of documents that are not found. */
	get notes(): string[] {
		const { notFound, processingFailed, remarks } = this;
		return processingFailed === 0 ? remarks : [...remarks, `${notFound}: not processed.`];
	}

	/** The run in one line. */
	get line(): string {
		const { counts, plans, requests, settings } = this;
		return settings.dryRun ? planInWords(plans, counts) : runInWords(counts, requests);
	}

	remark(...sentences: string[]): void {
		this.sentences.push(...sentences);
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
			...(this.notes.length > 0 ? { notes: this.notes } : {}),
			failed: failed as unknown as IDataObject[],
			seconds: Math.round(seconds * 1000) / 1000,
			...(dryRun ? {} : { attempts, ...others }),
		};
		return { json, pairedItem: this.first.context.getInputData().map((_, item) => ({ item })) };
	}

	/** Records the outcome of a document that was sent, or whose upload failed. */
	addOutcome(result: DocumentOutcome<Origin>): void {
		const { document, outcome } = result;
		const { id, origin, record } = document;
		this.count(outcome);
		this.setOutcome(origin, outcome);
		this.setOutput(origin, () => outcomeItem(result, this.settings));
		if (!('failure' in result)) return;
		const { failure } = result;
		const reason = failureMessage(failure);
		this.addFailed({ name: record.name ?? undefined, outcome, reason, id, status: failure.status });
		this.stopWith(() => storingError(document, failure));
	}

	/**
	 * Records a document that is unchanged since an earlier run.
	 *
	 * @param status the status of its processing, if it was fetched
	 */
	addUnchanged(document: ReadyDocument<Origin>, status?: ProcessingStatus): void {
		this.count('unchanged');
		this.setOutcome(document.origin, 'unchanged');
		this.setOutput(document.origin, () => {
			const output = unchangedItem(document);
			return status
				? processedItem(document.origin.item, output, processingEndOf(status), undefined)
				: output;
		});
	}

	/** Records that a later document had the key or ID of this one, and replaces it on the server. */
	addReplaced(origin: Origin): void {
		if (origin.isReplaced) return;
		origin.isReplaced = true;
		this.setOutcome(origin, origin.outcome);
	}

	/** Records that a document missing from the source was disabled. It belongs to no item. */
	addDisabled(id: string, { name, key }: DocumentName = {}): void {
		this.counts.disabled += 1;
		this.addOutput(this.first.output(omitBy({ name, outcome: 'disabled', key, id }, isUndefined)));
	}

	/**
	 * Records what the next run would do with a document.
	 *
	 * @param origin the origin of the document; `undefined` if it is missing from the source
	 */
	addPlanned(plan: Plan, facts: IDataObject, origin?: Origin): void {
		this.plans[plan] += 1;
		const json = omitBy({ ...facts, plan }, isUndefined);
		if (origin) this.setOutput(origin, () => origin.item.output(json));
		else this.addOutput(this.first.output(json));
	}

	/** Records a refusal that concerns no single document. */
	addRefusal(error: ItemError): void {
		this.addOutput(this.first.failed(error));
	}

	/**
	 * Records the last known state of the processing of a stored document.
	 *
	 * @param origins of all documents with its ID
	 */
	addProcessed(id: string, end: ProcessingEnd, origins: Origin[]): void {
		const flaw = processingFlaw(end);
		const current = origins.filter(({ isReplaced }) => !isReplaced);
		if (end.state === 'finish') this.addFound(origins, current);
		for (const origin of current) {
			const { item } = origin;
			const output = this.outputs[item.index]?.[origin.position];
			if (output) this.setOutput(origin, () => processedItem(item, output, end, flaw));
		}
		if (flaw === undefined) return;
		this.processingFailed += 1;
		this.addFailed({ name: current[0]?.name, id, outcome: 'stored', reason: flaw });
	}

	/** Counts processed documents as found. A document whose origin is not tracked was stored by this run. */
	private addFound(origins: Origin[], live: Origin[]): void {
		const stored = live.filter(({ outcome }) => outcome === 'stored');
		for (const origin of stored) origin.outcome = 'found';
		const count = origins.length === 0 ? 1 : stored.length;
		this.recount('stored', 'found', count);
	}

	/** Sets the outcome of a document, and counts it as replaced if a later one replaced it. */
	private setOutcome(origin: Origin, outcome: Origin['outcome']): void {
		origin.outcome = outcome;
		if (!origin.isReplaced || !isStored(outcome)) return;
		this.recount(outcome, 'replaced');
		this.replaced.push(origin);
	}

	/** Records a flaw in place of a document. */
	addFlaw(origin: Origin, caught: unknown): void {
		this.read += 1;
		this.addUnreadable(origin, caught);
	}

	/** Records a document that cannot be read, and is not sent. */
	addUnreadable(origin: Origin, caught: unknown): void {
		const flaw = origin.item.asError(caught);
		this.count('rejected');
		this.addFailed({ outcome: 'rejected', reason: flaw.message });
		this.setOutput(origin, () => flawItem(origin.item, flaw));
		this.stopWith(() => flaw);
	}

	/** Adds the requests that stored documents. */
	addRequests(counts: StoringCounts): void {
		for (const key of Object.keys(this.requests) as Array<keyof StoringCounts>)
			this.requests[key] += counts[key];
	}

	private count(outcome: keyof Counts): void {
		this.counts.documents += 1;
		this.counts[outcome] += 1;
	}

	/** Moves documents from one count to another. */
	private recount(from: keyof Counts, to: keyof Counts, count = 1): void {
		this.counts[from] -= count;
		this.counts[to] += count;
	}

	private addFailed(document: FailedDocument): void {
		if (this.failed.length < MAX_FAILED_LISTED) this.failed.push(document);
	}

	private stopWith(error: () => ItemError): void {
		if (!mayContinue(this.first.context)) this.stopError ??= error();
	}

	private setOutput({ item, position }: Origin, output: () => INodeExecutionData): void {
		if (this.settings.output === 'summary') return;
		const ofItem = (this.outputs[item.index] ??= []);
		ofItem[position] = output();
	}

	private addOutput(output: INodeExecutionData): void {
		if (this.settings.output !== 'summary') this.extraOutputs.push(output);
	}
}

function isStored(outcome: Origin['outcome']): outcome is 'found' | 'stored' | 'unchanged' {
	return outcome === 'found' || outcome === 'stored' || outcome === 'unchanged';
}
