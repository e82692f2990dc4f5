import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { mayContinue } from '../../execution/items';
import type { ItemError } from '../../execution/items';
import type { Prepared } from '../../ingest/batches';
import { processingWord } from '../../ingest/processing';
import type { ProcessingStatus } from '../../ingest/processing';
import type { DocumentOutcome } from '../../ingest/submit';
import { Summary } from '../../ingest/summary';
import type { DocumentRecord } from '../../payloads/document';
import { toNodeApiError } from '../../transport/failure';
import type { OperationContext } from '../operation';
import { flawItem, outcomeItem, processedItem, unchangedItem } from './outputs';
import type { SubmitSettings } from './settings';
import type { Origin } from './sources';

/** A document that is stored in this run, or whose processing an earlier run has started. */
interface ToProcess {
	id: string;
	/** Its place in the output. */
	position: number;
	/** Whether its processing is under way already. */
	running?: true;
}

/** What became of each document of one execution of Submit, each in its place. */
export class SubmitReport {
	readonly summary = new Summary();

	/** Items by their place in the output; left empty when only a summary is asked for. */
	readonly items: INodeExecutionData[] = [];

	/** The documents to be processed, by knowledgebase. */
	readonly stored = new Map<string, ToProcess[]>();

	/** The first failure with On Error set to Stop; nothing new is sent after it. */
	stopError?: ItemError;

	/** Documents that came with the id of an earlier one. */
	replaced = 0;

	/** Columns of input items that match no field of a document (Map Automatically). */
	readonly unusedColumns = new Set<string>();

	/** Documents whose pages or chunks bring ids. */
	withPartIds = 0;

	/** Documents that were stored, but that the server could not process. */
	processingFailed = 0;

	private readonly seenIds = new Set<string>();
	private places = 0;

	constructor(
		private readonly context: OperationContext['context'],
		private readonly settings: SubmitSettings,
	) {}

	/** Documents that were read, but whose turn did not come. */
	get notSent(): number {
		return this.places - this.summary.counts.documents;
	}

	/** The place in the output of the next document that was read. */
	nextPlace(): number {
		return this.places++;
	}

	/** Remembers that a document with this id is to be sent. */
	noteId(knowledgebaseId: string, id: string): void {
		if (this.settings.summaryOnly) return;
		const key = `${knowledgebaseId}/${id}`;
		if (this.seenIds.has(key)) this.replaced += 1;
		this.seenIds.add(key);
	}

	/** Remembers that a document brings pages or chunks with ids, which is seldom meant. */
	noteParts({ pages, chunks }: DocumentRecord): void {
		const hasId = ({ id }: { id?: string | null }) => Boolean(id);
		if (pages?.some(hasId) || chunks?.some(hasId)) this.withPartIds += 1;
	}

	/** A document that was sent has an outcome. */
	addOutcome(knowledgebaseId: string, result: DocumentOutcome<Origin>): void {
		const { document, outcome } = result;
		const { position, itemIndex } = document.origin;
		this.summary.add(result);
		this.place(position, () => outcomeItem(this.context, result, this.settings.simplify));
		if (outcome === 'stored') {
			const id = document.id ?? (result.record as IDataObject | undefined)?.id;
			this.noteStored(knowledgebaseId, id, { position });
		} else if (!mayContinue(this.context)) {
			this.stopError ??= toNodeApiError(result.failure, {
				node: this.context.getNode(),
				itemIndex,
			});
		}
	}

	/**
	 * A document is as an earlier run has stored it.
	 *
	 * @param status where its processing stands, if that was asked for
	 */
	addUnchanged(
		knowledgebaseId: string,
		document: Prepared<Origin>,
		status?: ProcessingStatus,
	): void {
		const { position } = document.origin;
		this.summary.addUnchanged();
		this.place(position, () => {
			const item = unchangedItem(document);
			return status ? processedItem(this.context, item, status, undefined) : item;
		});
		if (processingWord(status) === 'running')
			this.noteStored(knowledgebaseId, document.id, { position, running: true });
	}

	/** A document that is stored could not be processed. */
	addUnprocessed(id: string, reason: string): void {
		this.processingFailed += 1;
		this.summary.addUnprocessed(id, reason);
	}

	/** Something of an item is no document. */
	addFlaw(flaw: ItemError, itemIndex: number): void {
		this.summary.addUnreadable(flaw.message);
		this.place(this.nextPlace(), () => flawItem(flaw, itemIndex));
		if (!mayContinue(this.context)) this.stopError ??= flaw;
	}

	private place(position: number, item: () => INodeExecutionData): void {
		if (!this.settings.summaryOnly) this.items[position] = item();
	}

	private noteStored(knowledgebaseId: string, id: unknown, rest: Omit<ToProcess, 'id'>): void {
		if (!this.settings.process || typeof id !== 'string') return;
		const list = this.stored.get(knowledgebaseId) ?? [];
		list.push({ id, ...rest });
		this.stored.set(knowledgebaseId, list);
	}
}
