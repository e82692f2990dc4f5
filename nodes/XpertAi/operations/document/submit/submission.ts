import type { Item } from '../../../execution/item';
import type { Execution } from '../../../execution/operation';
import { mayContinue } from '../../../execution/outputs';
import type { Documents, ReadyDocument } from '../../../ingest/batches';
import { changedOnly } from '../../../ingest/changedOnly';
import { askWhere } from '../../../ingest/listedIds';
import type { ProcessingStart } from '../../../ingest/processing';
import type { SourceMemory } from '../../../ingest/sourceMemory';
import { submitDocuments } from '../../../ingest/submit';
import type { DocumentOutcome } from '../../../ingest/submit';
import { uploaded } from '../../../ingest/uploads';
import type { Clock } from '../../../transport/clock';
import { UPLOADS_AT_ONCE } from '../../../transport/multipart';
import { buildPath } from '../../../transport/api';
import { derivedId } from '../../../payloads/derivedId';
import { BULK_PATH } from '../paths';
import { keyOwner } from './identity';
import type { Memories } from './memories';
import { processingOf } from './processing';
import { inWords, isForeignId } from './rejections';
import { SubmitReport } from './report';
import { memoryRoutes, processingRoutes, uploadRoute } from './routes';
import type { SubmitSettings } from './settings';
import {
	contentOf,
	itemDocuments,
	mayHaveFiles,
	readyDocument,
	recordsOf,
	sourceOf,
} from './sources';
import type { FoundDocument, Origin } from './sources';

const PROGRESS_EVERY_MS = 1000;

/** A document whose turn comes; read when it does, unless it was read before. */
interface Turn {
	found?: FoundDocument;
	origin: Origin;
}

/** One execution of Submit: reads the sources, sends, and has what became of each document reported. */
export class Submission {
	readonly report: SubmitReport;

	/** The processing of what is stored, by knowledgebase. */
	readonly starts = new Map<string, ProcessingStart>();

	private progressShownAt = 0;

	/** The ids of the documents that the source brought, by knowledgebase; needed to tell what is gone. */
	private readonly brought = new Map<string, Set<string>>();

	/** The ids of documents that were brought, by the ids they had before the source had a name. */
	private readonly renamed = new Map<string, Map<string, string>>();

	/** What is in the files of documents that may be unchanged. */
	private readonly contents = new WeakMap<
		ReadyDocument<Origin>,
		NonNullable<FoundDocument['contents']>
	>();

	constructor(
		private readonly execution: Execution,
		readonly settings: SubmitSettings,
		private readonly clock: Clock,
		/** What earlier runs have stored; left out where nothing is remembered. */
		readonly memories?: Memories,
	) {
		this.report = new SubmitReport(execution.context, settings);
	}

	/** The ids, in lower case, of the documents that were brought for a knowledgebase. */
	readonly broughtTo = (knowledgebaseId: string): Set<string> => {
		const ids = this.brought.get(knowledgebaseId) ?? new Set();
		this.brought.set(knowledgebaseId, ids);
		return ids;
	};

	/** The ids of documents that were brought for a knowledgebase, by those they had before the source had a name. */
	readonly renamedIn = (knowledgebaseId: string): Map<string, string> => {
		const ids = this.renamed.get(knowledgebaseId) ?? new Map<string, string>();
		this.renamed.set(knowledgebaseId, ids);
		return ids;
	};

	/** Submits the documents of all input items. */
	async submitAll(): Promise<void> {
		const [first] = this.execution.items;
		if (!first) return;
		if (sourceOf(first) === 'records') await this.submitRecords();
		else await this.submitItems(first);
	}

	/**
	 * With Stop, every item is read before anything is sent, so that a bad one leaves nothing stored; else
	 * each is read when its turn comes. JSON is read first in any case: it alone says how many documents it is.
	 */
	private async submitItems(first: Item): Promise<void> {
		const readFirst = !mayContinue(this.execution.context) || sourceOf(first) === 'json';
		const turns = new Map<string, Turn[]>();
		for (const item of this.execution.items) {
			try {
				const knowledgebaseId = item.id('knowledgebaseId');
				const own = turns.get(knowledgebaseId) ?? [];
				turns.set(knowledgebaseId, own);
				const found = readFirst ? this.read(item, knowledgebaseId) : [undefined];
				for (const document of found)
					own.push({ found: document, origin: { item, position: this.report.nextPlace() } });
			} catch (caught) {
				this.addFlaw(caught, item);
			}
			if (this.report.stopError) return;
		}
		for (const [knowledgebaseId, own] of turns) {
			if (this.report.stopError) return;
			const documents = this.inTurn(own, knowledgebaseId);
			await this.submit(knowledgebaseId, documents, mayHaveFiles(first));
		}
	}

	/** The documents whose turn comes as they are asked for; none is kept any longer. */
	private *inTurn(turns: Turn[], knowledgebaseId: string): Generator<ReadyDocument<Origin>> {
		turns.reverse();
		for (let turn = turns.pop(); turn; turn = turns.pop()) {
			const { origin } = turn;
			try {
				const found = turn.found ? [turn.found] : this.read(origin.item, knowledgebaseId);
				for (const document of found) yield this.ready(document, origin, knowledgebaseId);
			} catch (caught) {
				this.addUnreadable({ origin }, caught);
				if (this.report.stopError) return;
			}
		}
	}

	private read(item: Item, knowledgebaseId: string): FoundDocument[] {
		return itemDocuments(item, this.ownerOf(knowledgebaseId), this.report.unusedColumns);
	}

	private async submitRecords(): Promise<void> {
		for (const item of this.execution.items) {
			if (this.report.stopError) return;
			try {
				const knowledgebaseId = item.id('knowledgebaseId');
				const documents = this.documentsOf(item, knowledgebaseId);
				await this.submit(knowledgebaseId, documents, mayHaveFiles(item));
			} catch (caught) {
				this.addFlaw(caught, item);
			}
		}
	}

	/** The documents of an item's file of records; with Stop, the first flaw ends them. */
	private async *documentsOf(
		item: Item,
		knowledgebaseId: string,
	): AsyncGenerator<ReadyDocument<Origin>> {
		const places = this.report.placesGiven;
		try {
			for await (const entry of recordsOf(item, this.ownerOf(knowledgebaseId))) {
				if ('flaw' in entry) {
					this.report.addFlaw(entry.flaw, item);
					if (this.report.stopError) return;
					continue;
				}
				const origin = { item, position: this.report.nextPlace() };
				yield this.ready(entry, origin, knowledgebaseId);
			}
			if (this.report.placesGiven === places) this.report.emptyFiles += 1;
		} catch (caught) {
			// The file broke off; what came before is sent all the same.
			this.addFlaw(caught, item);
		}
	}

	private ready(
		found: FoundDocument,
		origin: Origin,
		knowledgebaseId: string,
	): ReadyDocument<Origin> {
		const ready = readyDocument(found, origin, this.ownerOf(knowledgebaseId));
		this.noteId(ready, found, knowledgebaseId);
		this.noteRenamed(ready, knowledgebaseId);
		this.report.noteRecord(found.record, found.readAsText);
		if (this.settings.skipUnchanged && found.contents) this.contents.set(ready, found.contents);
		return ready;
	}

	/** A second run can only know a document by its id. */
	private noteId(
		{ id, key, file }: ReadyDocument<Origin>,
		{ idByServer }: FoundDocument,
		knowledgebaseId: string,
	): void {
		const { report, settings } = this;
		if (!id) {
			report.withoutId += 1;
			if (!idByServer) report.idMissed += 1;
			return;
		}
		// Records are too many to remember where nothing else of them is.
		if (file || !settings.summaryOnly) report.noteId(knowledgebaseId, id, key);
		if (settings.disableGone) this.broughtTo(knowledgebaseId).add(id.toLowerCase());
	}

	private noteRenamed({ id, key }: ReadyDocument<Origin>, knowledgebaseId: string): void {
		const unnamed = this.memories?.unnamed.get(knowledgebaseId);
		if (!unnamed || !id || key === undefined) return;
		const before = derivedId(knowledgebaseId, key);
		if (unnamed.knows(before)) this.renamedIn(knowledgebaseId).set(before, id);
	}

	private ownerOf(knowledgebaseId: string): string {
		return keyOwner(knowledgebaseId, this.settings.sourceName);
	}

	/** Sends documents on their way: what is unchanged is left out, files are uploaded, the rest is stored and processed. */
	private async submit(
		knowledgebaseId: string,
		documents: Documents<Origin>,
		haveFiles: boolean,
	): Promise<void> {
		const { context, send } = this.execution;
		const { settings, clock, report } = this;
		const memory = await this.memories?.of(knowledgebaseId);
		const routes = processingRoutes(this.execution, settings, knowledgebaseId, clock);
		if (settings.process && !this.starts.has(knowledgebaseId))
			this.starts.set(knowledgebaseId, processingOf(this, knowledgebaseId, routes, memory));
		const read = haveFiles && settings.skipUnchanged ? this.withContents(documents) : documents;
		const wanted =
			memory && settings.skipUnchanged ? this.changedOnly(read, memory, knowledgebaseId) : read;
		const path = buildPath(BULK_PATH, { knowledgebaseId });
		const counts = await submitDocuments({
			documents: haveFiles ? this.uploaded(wanted, memory, knowledgebaseId) : wanted,
			batchLimits: settings.batchLimits,
			retryLimits: settings.retryLimits,
			concurrency: settings.concurrency,
			isolateWithoutIds: settings.isolateWithoutIds,
			noKnowledgebase: (failure) => isForeignId(failure, knowledgebaseId),
			send,
			beforeBatch: memory && (async (ids) => await memory.expect(ids)),
			request: (body) => ({ method: 'POST', path, body, timeoutMs: settings.timeoutMs }),
			onOutcome: (result) => this.addOutcome(knowledgebaseId, result, memory),
			goOn: () => mayContinue(context),
			clock,
			signal: context.getExecutionCancelSignal(),
		});
		report.summary.addRequests(counts);
	}

	private uploaded(
		documents: Documents<Origin>,
		memory: SourceMemory | undefined,
		knowledgebaseId: string,
	): AsyncGenerator<ReadyDocument<Origin>> {
		const signal = this.execution.context.getExecutionCancelSignal();
		return uploaded(documents, {
			upload: uploadRoute(this.execution, this.settings, this.clock),
			atOnce: UPLOADS_AT_ONCE,
			onFailed: (document, failure, attempts) =>
				this.addOutcome(
					knowledgebaseId,
					{ document, failure, attempts, batch: 0, outcome: 'rejected' },
					memory,
				),
			onUnreadable: (document, caught) => this.addUnreadable(document, caught),
			goOn: () => this.report.stopError === undefined && !signal?.aborted,
		});
	}

	private changedOnly(
		documents: Documents<Origin>,
		memory: SourceMemory,
		knowledgebaseId: string,
	): AsyncGenerator<ReadyDocument<Origin>> {
		const { execution, settings, report, clock } = this;
		const args = [execution, settings, knowledgebaseId, clock] as const;
		const routes = { ...processingRoutes(...args), ...memoryRoutes(...args) };
		return changedOnly(documents, {
			memory: memory.known,
			processed: settings.process,
			statusesOf: async (ids) => {
				const asked = await askWhere(ids, memory.witness, routes);
				memory.troubles.notAsked ??= asked.failure;
				return asked;
			},
			onUnchanged: (document, status) => {
				const runningId = report.addUnchanged(knowledgebaseId, document, status);
				if (runningId !== undefined) this.starts.get(knowledgebaseId)?.add(runningId);
			},
		});
	}

	/** Reads what is in the files of documents, so that unchanged ones need not be uploaded. */
	private async *withContents(documents: Documents<Origin>): AsyncGenerator<ReadyDocument<Origin>> {
		for await (const document of documents) {
			const contents = this.contents.get(document);
			try {
				yield contents ? { ...document, content: await contentOf(document, contents) } : document;
			} catch (caught) {
				this.addUnreadable(document, caught);
				if (this.report.stopError) return;
			}
		}
	}

	private addOutcome(
		knowledgebaseId: string,
		result: DocumentOutcome<Origin>,
		memory?: SourceMemory,
	): void {
		const { id, json, content = json } = result.document;
		if (id && result.outcome === 'stored') memory?.stored(id, content);
		else if (id && result.outcome === 'rejected') memory?.refused(id);
		const storedId = this.report.addOutcome(knowledgebaseId, inWords(result, knowledgebaseId));
		if (storedId !== undefined) this.starts.get(knowledgebaseId)?.add(storedId);
		this.showProgress();
	}

	private addFlaw(caught: unknown, item: Item): void {
		this.report.addFlaw(item.asError(caught), item);
	}

	private addUnreadable(document: Pick<ReadyDocument<Origin>, 'origin'>, caught: unknown): void {
		this.report.addUnreadable(document, document.origin.item.asError(caught));
	}

	/** In manual executions, says once a second in the browser's console how far it has come. */
	private showProgress(): void {
		const { context } = this.execution;
		const now = this.clock.now();
		if (context.getMode() !== 'manual' || now - this.progressShownAt < PROGRESS_EVERY_MS) return;
		this.progressShownAt = now;
		context.sendMessageToUI(this.report.summary.line());
	}
}
