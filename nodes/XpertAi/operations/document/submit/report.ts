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

/** Failed documents that are named; the counts are always complete. */
const MAX_FAILED_LISTED = 1000;

/** A document that was not stored, or may not have been, or that is stored but could not be processed. */
export interface FailedDocument {
	name?: string;
	outcome: DocumentOutcome<unknown>['outcome'];
	reason: string;
	id?: string;
	status?: number;
}

/** What became of each document of one execution of Submit, each in its place. */
export class SubmitReport {
	readonly counts = noCounts();
	readonly requests = noRequests();
	readonly failed: FailedDocument[] = [];
	/** Documents, and things that are none, that were read by now. */
	read = 0;
	/** The first failure with On Error set to Stop; nothing new is sent after it. */
	stopError?: ItemError;
	/** Documents that were stored, but that the server could not process. */
	processingFailed = 0;
	/** Input items that were not looked at, as the run had ended before. */
	notRead = 0;
	/** Whether processing could not be started or followed at all, which says nothing of the documents. */
	processingBroken = false;
	/** What else the user should know, in sentences as long as a hint is. */
	private readonly sentences: string[] = [];
	/** Output by the item it is of; left empty when only a summary is asked for. */
	private readonly outputs: INodeExecutionData[][] = [];
	/** Documents that later ones have replaced. */
	private readonly replaced: Origin[] = [];
	/** Output that no document of the input has led to. */
	private readonly extraOutputs: INodeExecutionData[] = [];

	/** How many documents the next run would treat in each way. */
	private readonly plans: Record<Plan, number> = {
		new: 0,
		changed: 0,
		back: 0,
		unchanged: 0,
		gone: 0,
	};

	constructor(
		/** Which stands for what no item has brought. */
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

	/** Documents that were read, but were not sent as their turn came, or whose turn did not come. */
	get notSent(): number {
		const { documents, notSent } = this.counts;
		return this.read - documents + notSent;
	}

	/** Whether batches were stored side by side, after which servers count too few documents (service behaviour, E3). */
	get countMayBeLow(): boolean {
		const { counts, requests } = this;
		return (
			this.settings.concurrency > 1 && requests.batches > 1 && counts.found + counts.stored > 0
		);
	}

	get remarks(): string[] {
		return uniq(this.sentences);
	}

	/** How many documents no assistant finds. */
	get notFound(): string {
		return `${counted(this.processingFailed, 'document is', 'documents are')} stored but not found`;
	}

	/** The remarks, and how many documents no assistant finds. */
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
	 * The one item of Output = Summary.
	 *
	 * @param seconds how long it all took
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

	/** A document that was sent, or whose file could not be uploaded, has an outcome. */
	addOutcome(result: DocumentOutcome<Origin>): void {
		const { document, outcome } = result;
		const { id, origin, record } = document;
		this.count(outcome);
		this.setOutcome(origin, outcome);
		this.setOutput(origin, () => outcomeItem(result, this.settings.simplify));
		if (!('failure' in result)) return;
		const { failure } = result;
		const reason = failureMessage(failure);
		this.addFailed({ name: record.name ?? undefined, outcome, reason, id, status: failure.status });
		this.stopWith(() => storingError(document, failure));
	}

	/**
	 * A document is as an earlier run has stored it.
	 *
	 * @param status where its processing stands, if that was asked for
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

	/** A later document came with the key or ID of an earlier one, whose place it takes on the server. */
	addReplaced(origin: Origin): void {
		if (origin.isReplaced) return;
		origin.isReplaced = true;
		this.setOutcome(origin, origin.outcome);
	}

	/** A document that is gone from the source was taken out of answers; no item has brought it. */
	addDisabled(id: string, { name, key }: DocumentName = {}): void {
		this.counts.disabled += 1;
		this.addOutput(this.first.output(omitBy({ name, outcome: 'disabled', key, id }, isUndefined)));
	}

	/**
	 * The next run would do this with a document.
	 *
	 * @param origin that of the document; none of one that is gone
	 */
	addPlanned(plan: Plan, facts: IDataObject, origin?: Origin): void {
		this.plans[plan] += 1;
		const json = omitBy({ ...facts, plan }, isUndefined);
		if (origin) this.setOutput(origin, () => origin.item.output(json));
		else this.addOutput(this.first.output(json));
	}

	/** Something was not done that concerns no document alone. */
	addRefusal(error: ItemError): void {
		this.addOutput(this.first.failed(error));
	}

	/**
	 * The processing of a stored document has come to its end, or as far as this run follows it.
	 *
	 * @param origins those of all documents that came to its id
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

	/** What is processed is found; one whose origin is not kept was stored by this run. */
	private addFound(origins: Origin[], live: Origin[]): void {
		const stored = live.filter(({ outcome }) => outcome === 'stored');
		for (const origin of stored) origin.outcome = 'found';
		const count = origins.length === 0 ? 1 : stored.length;
		this.recount('stored', 'found', count);
	}

	/** Notes what became of a document, which counts as replaced where that is in vain. */
	private setOutcome(origin: Origin, outcome: Origin['outcome']): void {
		origin.outcome = outcome;
		if (!origin.isReplaced || !isStored(outcome)) return;
		this.recount(outcome, 'replaced');
		this.replaced.push(origin);
	}

	/** What stands in a place is no document. */
	addFlaw(origin: Origin, caught: unknown): void {
		this.read += 1;
		this.addUnreadable(origin, caught);
	}

	/** A document cannot be read, and is not sent. */
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

	/** Counts documents otherwise than before. */
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
