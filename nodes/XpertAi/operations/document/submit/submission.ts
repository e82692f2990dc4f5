import type { ItemError } from '../../../execution/apiError';
import type { Item } from '../../../execution/item';
import { mayContinue, outermostMode } from '../../../execution/n8nExecution';
import { CircuitBreaker } from '../../../ingest/circuitBreaker';
import { isNotFoundFromOtherServer } from '../../../transport/failure';
import type { Send } from '../../../transport/request';
import type { DocumentReport, SubmitFact } from './documentReport';
import type { SubmitSettings } from './settings';
import type { ItemDocuments } from './sources/inputDocument';
import { readDocuments } from './sources/readDocuments';
import { addFact, newTally } from './tally';
import { joinSentences } from '../textHelpers';

/**
 * Marks failures as `hasServerNeverAnswered` until a server answers. A 404 of a proxy or an unrelated server does not count as an
 * answer. The node gives up early on such failures. A wrong Base URL is therefore reported quickly.
 */
function withNeverAnsweredMark(send: Send): Send {
	let hasAnswered = false;
	return async (request) => {
		const outcome = await send(request);
		if (outcome.ok) hasAnswered = true;
		else if (outcome.failure.status !== undefined && !isNotFoundFromOtherServer(outcome.failure))
			hasAnswered = true;
		if (outcome.ok || hasAnswered) return outcome;
		return { ok: false, failure: { ...outcome.failure, hasServerNeverAnswered: true } };
	};
}

/** The state of one execution of Submit or Find Changes. */
export class Submission {
	readonly tally = newTally();
	readonly circuitBreaker: CircuitBreaker;
	/** Sends requests with the credential of the first item. All items must have the same credential. */
	readonly send: Send;
	/** Aborted when the execution is stopped. */
	readonly signal?: AbortSignal;
	/** The first failed document, if On Error is Stop Workflow. Its failure stops the run. */
	stoppedBy?: DocumentReport;
	/** The first error about a whole source, if On Error is Stop Workflow. Thrown at the end of the run. */
	sourceError?: ItemError;
	/** Number of items that were rejected before the node assigned them to a source. */
	unassigned = 0;
	/** Number of items after the one that stopped the run. 0 if the run stopped after all items were grouped. */
	itemsNotRead = 0;
	/** Number of sources that the items belong to. */
	sourceCount = 0;

	constructor(
		/** The item whose settings apply to all items. */
		readonly first: Item,
		readonly settings: SubmitSettings,
		private readonly reader: (item: Item) => ItemDocuments = readDocuments,
	) {
		const { send } = first.connection;
		this.send = outermostMode(first.context) === 'manual' ? withNeverAnsweredMark(send) : send;
		this.signal = first.context.getExecutionCancelSignal();
		this.circuitBreaker = new CircuitBreaker(settings.stopAfterFailures);
		if (settings.linkedNodesHint) this.addHint(settings.linkedNodesHint);
	}

	/** Whether this is a run of Find Changes, which reads only the keys and versions of documents. */
	get isFindChanges(): boolean {
		return this.reader !== readDocuments;
	}

	/** Reads the documents of an item. */
	readItemDocuments(item: Item): ItemDocuments {
		try {
			return this.reader(item);
		} finally {
			item.forgetValues();
		}
	}

	/** Whether the run ends with an error, because the server could not process all stored documents. */
	get failsAtEnd(): boolean {
		return this.tally.processingFailed > 0 && !mayContinue(this.first.context);
	}

	get canSend(): boolean {
		return !this.stoppedBy && !this.signal?.aborted && this.circuitBreaker.reason === undefined;
	}

	/**
	 * Adds a fact to the tally. With On Error = Stop Workflow, a document that could not be read, uploaded or stored stops
	 * the run. For failed processing, see `failsAtEnd`.
	 */
	recordFact(fact: SubmitFact): void {
		const failed = addFact(this.tally, fact, this.settings);
		if (failed && !mayContinue(this.first.context)) this.stoppedBy ??= failed;
	}

	/** Counts an item with an error as a rejected document. */
	addFailedItem(item: Item, error: unknown): void {
		const report: DocumentReport = { item };
		this.recordFact({ outcome: 'read', report });
		this.recordFact({ outcome: 'unreadable', document: { report }, error });
	}

	addHint(...texts: string[]): void {
		for (const text of texts) this.tally.hints.set(text, 0);
	}

	/** Adds a hint that begins with a number of documents. The numbers of hints with the same text are added up. */
	addCountedHint(count: number, text: string): void {
		const { hints } = this.tally;
		if (count > 0) hints.set(text, (hints.get(text) ?? 0) + count);
	}

	/** Adds hints about one source. If the run has several sources, each hint names the sources that it is about. */
	addSourceHints(name: string, texts: string[]): void {
		this.addHint(...texts);
		for (const text of texts) {
			const names = this.tally.hintSources.get(text) ?? new Set();
			this.tally.hintSources.set(text, names.add(name || 'without a name'));
		}
	}

	/** Records an error about a whole source. */
	addSourceError(error: ItemError): void {
		this.addHint(joinSentences(error.message));
		if (mayContinue(this.first.context)) this.tally.sourceErrors.push(error);
		else this.sourceError ??= error;
	}
}
