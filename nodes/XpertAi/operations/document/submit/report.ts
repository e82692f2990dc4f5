import {
	compact,
	escapeRegExp,
	find,
	keys,
	omit,
	pick,
	sortBy,
	sum,
	trimEnd,
	truncate,
} from 'lodash';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import type { ItemError } from '../../../execution/apiError';
import type { Item } from '../../../execution/item';
import {
	type AnswerOutput,
	asJson,
	mayContinue,
	outermostMode,
	rawOutput,
} from '../../../execution/outputs';
import { CircuitBreaker } from '../../../ingest/circuitBreaker';
import type { DocumentFact } from '../../../ingest/facts';
import { type ProcessingEnd, processingEndOf, processingFlaw } from '../../../ingest/statuses';
import { isForeignNotFound } from '../../../transport/failure';
import type { Send } from '../../../transport/request';
import {
	affectsAll,
	documentsError,
	errorOf,
	plainFailure,
	processingAdvice,
} from './documentErrors';
import { type Origin, OUTCOMES, PLANS, type SubmitFact } from './outcomes';
import type { SubmitSettings } from './settings';
import { readDocuments, type SourceDocuments } from './sources';
import {
	addDoubts,
	count,
	DOUBTS,
	isOnServer,
	MAX_FAILED_LISTED,
	MAX_REPLACED_NAMED,
	newTally,
	recount,
	type Tally,
} from './tally';
import { asHint, counted, HINT_LENGTH, sentences, someNames } from './wording';

/* Texts */

/** Writes counts as text, such as `Documents: 2 stored, 1 rejected`. Leaves out zeros. */
function inWords(counts: Record<string, number>, words: Record<string, string> = OUTCOMES): string {
	const parts = Object.entries(words).map(([name, word]) => {
		const count = counts[name];
		return count && `${count.toLocaleString('en')} ${word}`;
	});
	return `Documents: ${compact(parts).join(', ') || 'none'}`;
}

/* Errors */

const MAY_BE_STORED = 'It is not known whether this document is stored';

const SECOND_RUN =
	'A second run replaces documents that carry a UUID as ID and stores all others again';

const CONTINUE_HINT =
	'To have the others come out all the same, set "On Error" in the settings of the node to "Continue (using error output)", and connect that output';

/** Maximum number of reasons, and of pieces of advice, in one message. */
const MAX_REASONS = 3;

const firstOf = (texts: string[]) => [...new Set(texts)].slice(0, MAX_REASONS);

/* The tally of a run */

/** Sources with which each item is one document. */
const ONE_IN_ITEM: unknown[] = ['text', 'files', 'addresses', 'fields'];

/* The execution */

/**
 * Marks failures as `unanswered` until a server answers. A 404 of a proxy or an unrelated server does not count as an
 * answer. The node gives up early on `unanswered` failures. A wrong Base URL is therefore reported quickly.
 */
function markUnanswered(send: Send): Send {
	let hasAnswered = false;
	return async (request) => {
		const outcome = await send(request);
		if (outcome.ok) hasAnswered = true;
		else if (outcome.failure.status !== undefined && !isForeignNotFound(outcome.failure))
			hasAnswered = true;
		if (outcome.ok || hasAnswered) return outcome;
		return { ok: false, failure: { ...outcome.failure, unanswered: true } };
	};
}

/** The output item or error item of a document. Empty for a document without an outcome or plan. */
export function documentItem(origin: Origin, output: AnswerOutput): INodeExecutionData[] {
	const { item, key, outcome, plan, sent, end, record } = origin;
	if (!outcome && !plan) return [];
	const { name = origin.name, id = origin.id } = record ?? {};
	const { state = record && 'none', processMsg } = end ?? {};
	const processing = { processing: state, processMsg };
	const facts: IDataObject = { name, outcome, ...processing, key, id, ...sent, plan };
	const known: IDataObject = {};
	for (const name of keys(facts)) if (facts[name] !== undefined) known[name] = facts[name];
	const error = errorOf(origin);
	if (error && outcome === 'unknown') error.message = `${error.message}. ${MAY_BE_STORED}`;
	if (error) return [item.failed(error, facts)];
	const isRaw = record && !output.simplify && outcome !== 'replaced';
	return [item.output(isRaw ? { ...rawOutput(output, record), ...(end && processing) } : known)];
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
	stoppedBy?: Origin;
	/** The first error about a whole source, if On Error is Stop Workflow. Thrown at the end of the run. */
	refusal?: ItemError;
	/** Number of items that were rejected before the node assigned them to a source. */
	unassigned = 0;
	/** Number of items after the one that stopped the run. */
	itemsNotRead = 0;
	/** Number of sources that the items belong to. */
	sourceCount = 0;

	constructor(
		/** The item whose settings apply to all items. */
		readonly first: Item,
		readonly settings: SubmitSettings,
		/** Reads the documents of an item. */
		readonly read: (item: Item) => SourceDocuments = readDocuments,
	) {
		const { send } = first.connection;
		this.send = outermostMode(first.context) === 'manual' ? markUnanswered(send) : send;
		this.signal = first.context.getExecutionCancelSignal();
		this.circuitBreaker = new CircuitBreaker(settings.stopAfterFailures);
		first.progress = () => this.progress();
		if (settings.otherSource) this.remark(settings.otherSource);
	}

	/** Whether this is a run of Find Changes, which has no documents but their keys. */
	get isListing(): boolean {
		return this.read !== readDocuments;
	}

	/** Whether the run ends with an error, because the server could not process all stored documents. */
	get failsAtEnd(): boolean {
		return this.tally.processingFailed > 0 && !mayContinue(this.first.context);
	}

	get canSend(): boolean {
		return !this.stoppedBy && !this.signal?.aborted && this.circuitBreaker.reason === undefined;
	}

	/** Adds a fact to the tally. */
	take(fact: SubmitFact): void {
		const { counts, doubts, missing, origins, plans, replaced, requests } = this.tally;
		const isListed = this.settings.output !== 'summary';
		if (fact.outcome === 'begun') {
			if (isListed) origins.push(fact.origin);
			for (const column of fact.unusedColumns ?? []) this.tally.unusedColumns.add(column);
		} else if (fact.outcome === 'noRecords') doubts.emptyFiles += 1;
		else if (fact.outcome === 'uploaded') doubts.hadNul += Number(fact.hadNul ?? false);
		else if (fact.outcome === 'sent') {
			for (const name of ['attempts', 'batches', 'retries'] as const)
				requests[name] += fact.counts[name];
		} else if (fact.outcome === 'processed') this.takeProcessed(fact.id, fact.end, fact.origin);
		else if (fact.outcome === 'replaced') {
			const { name, key, id = '' } = fact.origin;
			replaced.count += 1;
			if (replaced.names.length < MAX_REPLACED_NAMED) replaced.names.push(name ?? key ?? id);
			fact.origin.isReplaced = true;
			if (isOnServer(fact.origin.outcome))
				recount(this.tally, fact.origin.outcome, 'replaced', fact.origin);
		} else if (fact.outcome === 'disabled') {
			counts.disabled += 1;
			if (isListed) missing.push(pick(fact, 'name', 'outcome', 'key', 'id'));
		} else if (fact.outcome === 'planned') {
			plans[fact.plan] += 1;
			if (fact.origin) fact.origin.plan = fact.plan;
			else if (isListed) missing.push(pick(fact, 'name', 'key', 'id', 'plan'));
		} else if (fact.outcome === 'unreadable') {
			const { origin } = fact.document;
			count(this.tally, origin, 'rejected');
			this.fail(origin, origin.item.asError(fact.error));
		} else this.takeOutcome(fact);
	}

	/** Adds the outcome of a readable document to the tally. */
	private takeOutcome(fact: Exclude<DocumentFact<Origin>, { outcome: 'unreadable' }>): void {
		const { document, outcome } = fact;
		const { isUploaded, origin, record: sent } = document;
		const isDisabled = outcome === 'stored' && sent.disabled === true;
		count(this.tally, origin, isDisabled ? 'disabled' : outcome);
		if (outcome === 'stored' || outcome === 'unknown') addDoubts(this.tally, document);
		if (outcome === 'unchanged') origin.end = fact.status && processingEndOf(fact.status);
		else if (outcome === 'stored') {
			const record = asJson(fact.record);
			origin.record = this.settings.simplify ? { id: record.id, name: record.name } : record;
			const { status, attempts, batch } = fact;
			origin.sent = { status, attempts, batch };
		} else if (fact.failure) {
			const failure = plainFailure(document, fact.failure);
			origin.sent = { status: failure.status, ...pick(fact, 'attempts', 'batch') };
			const id = isUploaded ? undefined : sent.storageFileId;
			const ids = id ? [{ field: '"Storage File ID"', id }] : [];
			origin.affectsAll = affectsAll(failure, id);
			this.fail(origin, documentsError(origin.item, failure, ids));
		} else origin.reason = fact.reason;
	}

	/** Adds the processing state of a stored document to the tally. */
	private takeProcessed(id: string, end: ProcessingEnd, origin?: Origin): void {
		if (end.state === 'finish' && (!origin || origin.outcome === 'stored'))
			recount(this.tally, 'stored', 'found', origin);
		if (origin && isOnServer(origin.outcome)) origin.end = end;
		const reason = processingFlaw(end);
		if (reason === undefined) return;
		this.tally.processingFailed += 1;
		this.list({ ...pick(origin, 'name', 'key'), id, outcome: 'stored', reason });
	}

	/** Records the error of a document. Stops the run if On Error is Stop Workflow. */
	private fail(origin: Origin, error: ItemError): void {
		origin.error = error;
		const status = origin.sent?.status;
		this.list({ ...pick(origin, 'name', 'outcome', 'key', 'id'), reason: error.message, status });
		if (!mayContinue(this.first.context)) this.stoppedBy ??= origin;
	}

	private list(document: Tally['failed'][number]): void {
		if (this.tally.failed.length < MAX_FAILED_LISTED) this.tally.failed.push(document);
	}

	/** Counts an item with an error as a rejected document. */
	takeFlaw(item: Item, error: unknown): void {
		const origin: Origin = { item };
		this.take({ outcome: 'begun', origin });
		this.take({ outcome: 'unreadable', document: { origin }, error });
	}

	remark(...texts: string[]): void {
		for (const text of texts) this.tally.remarks.set(text, 0);
	}

	/** Adds a hint that begins with a number of documents. The numbers of hints with the same text are added up. */
	remarkOn(count: number, text: string): void {
		const { remarks } = this.tally;
		if (count > 0) remarks.set(text, (remarks.get(text) ?? 0) + count);
	}

	/** Adds hints about one source. If the run has several, the hint names those it is about. */
	remarkOfSource(name: string, texts: string[]): void {
		this.remark(...texts);
		for (const text of texts) {
			const names = this.tally.remarkedSources.get(text) ?? new Set();
			this.tally.remarkedSources.set(text, names.add(name || 'without a name'));
		}
	}

	private get remarks(): string[] {
		return [...this.tally.remarks].map(([text, count]) => {
			const documents = counted(count, 'document was', 'documents were');
			if (count > 0) return asHint(`${documents} ${text}`);
			const names = this.tally.remarkedSources.get(text);
			return names && this.sourceCount > 1 ? `${text} Sources: ${someNames([...names])}.` : text;
		});
	}

	/** Adds the hints of the run to an error that ends the run, because n8n shows no hints then. */
	withRemarks(error: ItemError): ItemError {
		const others = this.remarks.filter((text) => text !== sentences(error.message));
		error.description = sentences(error.description, ...others);
		return error;
	}

	/** Records an error about a whole source. */
	refuse(error: ItemError): void {
		this.remark(sentences(error.message));
		if (mayContinue(this.first.context)) this.tally.refusals.push(error);
		else this.refusal ??= error;
	}

	/**
	 * The output items. With Output = Summary, there is a single item with counts.
	 *
	 * @param seconds duration of the run, for the summary
	 */
	output(seconds = 0): INodeExecutionData[] {
		const { first, settings } = this;
		const { counts, failed, missing, origins, plans, refusals, requests } = this.tally;
		if (settings.output !== 'summary')
			return [
				...sortBy(origins, 'item.index').flatMap((one) => documentItem(one, settings)),
				...refusals.map((error) => first.failed(error)),
				...missing.map((json) => first.output(json)),
			];
		const { dryRun } = settings;
		const notes = [...this.remarks, ...this.notFoundNote()];
		const json = {
			...(dryRun ? { ...plans, rejected: counts.rejected, plan: this.line() } : counts),
			...(notes.length > 0 && { notes }),
			failed: failed as unknown as IDataObject[],
			seconds: Math.round(seconds * 1000) / 1000,
			...(!dryRun && requests),
		};
		return [{ json, pairedItem: first.context.getInputData().map((_, item) => ({ item })) }];
	}

	/** All hints for the user. The summary line comes first. */
	hints(): string[] {
		const { doubts } = this.tally;
		const kinds = Object.entries(DOUBTS) as Array<[keyof typeof DOUBTS, [string, string]]>;
		const seldom = kinds.map(
			([kind, [what, meaning]]) => doubts[kind] > 0 && `${what}: ${doubts[kind]}.${meaning}`,
		);
		return [
			this.line(),
			...this.remarks,
			...this.notFoundNote(),
			...compact([this.replacedHint(), ...seldom, this.unusedColumnsHint()]),
		];
	}

	/** Names the columns that match no field. Leaves out columns that an expression of the node uses. */
	private unusedColumnsHint(): string | undefined {
		const { unusedColumns } = this.tally;
		if (unusedColumns.size === 0) return undefined;
		const parameters = JSON.stringify(this.first.node.parameters);
		// Matches `$json.name`, `$json?.name` and `$json["name"]`, whose quotes are escaped here.
		const used = (name: string) =>
			new RegExp(`json\\W{1,5}${escapeRegExp(name)}(?![\\p{L}\\p{N}_])`, 'u');
		const names = [...unusedColumns].filter((name) => !used(name).test(parameters));
		if (names.length === 0) return undefined;
		const hint = `Columns that match no field of a document: ${names.join(', ')}`;
		return truncate(hint, { length: HINT_LENGTH, separator: ', ' });
	}

	/** Names documents that a later document of the run replaces. */
	private replacedHint(): string | undefined {
		const { count: replaced, names } = this.tally.replaced;
		if (replaced === 0) return undefined;
		const documents = counted(replaced, 'document has', 'documents have');
		const them = replaced === 1 ? 'it' : 'them';
		return asHint(
			`${documents} the key or ID of a later one, which replaces ${them}: ${names.join(', ')}`,
		);
	}

	/** The summary line: what this run did, what it found (Find Changes), or what the next run would do (dry run). */
	private line(): string {
		const { counts, plans, requests } = this.tally;
		const { disabled, rejected } = OUTCOMES;
		if (this.isListing)
			return `${inWords({ ...counts, ...plans }, { ...PLANS, disabled, rejected })}.`;
		if (this.settings.dryRun) {
			const sent = `send ${plans.new} new, ${plans.changed} changed, ${plans.back} back again`;
			const refused = counts.rejected > 0 ? `, refuse ${counts.rejected}` : '';
			return `The next run would ${sent}, leave out ${plans.unchanged}, disable ${plans.gone}${refused}.`;
		}
		const { batches, retries } = requests;
		const tried = retries > 0 ? `, ${counted(retries, 'request')} tried again` : '';
		const sent = batches > 0 ? ` (${counted(batches, 'batch', 'batches')}${tried})` : '';
		return `${inWords(counts)}${sent}.`;
	}

	/** How far the run is. The number of all documents is known only if each item is one document. */
	private progress(): string {
		const { counts, plans } = this.tally;
		const { first, isListing, settings } = this;
		const isOneEach = isListing || ONE_IN_ITEM.includes(first.node.parameters.source);
		const inFull = (count: number) => count.toLocaleString('en');
		const all = isOneEach ? ` of ${inFull(first.context.getInputData().length)}` : '';
		if (isListing || settings.dryRun)
			return `${inFull(counts.documents + sum(Object.values(omit(plans, 'gone'))))}${all} compared`;
		const stored = counts.found + counts.stored;
		return `${inFull(counts.documents)}${all} done, ${inFull(stored)} stored, ${inFull(counts.found)} found`;
	}

	private notFound(): string {
		const { processingFailed } = this.tally;
		return `${counted(processingFailed, 'document is', 'documents are')} stored but not found`;
	}

	/** The hint about stored documents that assistants cannot find. May name the cause for one document. */
	private notFoundNote(): string[] {
		const { counts, failed, processingFailed } = this.tally;
		if (processingFailed === 0) return [];
		// If documents were not sent, `remarkEnd` may already have added a hint with the same cause.
		const first = counts.notSent > 0 ? undefined : find(failed, { outcome: 'stored' });
		return [asHint(sentences(this.notFound(), first?.reason))];
	}

	/** The error that ends a run after a document failed. Adds facts about the run to the error of the document. */
	stopError(stopped: Origin): ItemError {
		const { counts, doubts, failed } = this.tally;
		const { item } = stopped;
		const error = errorOf(stopped) ?? item.operationError('A document was not stored');
		const names = failed.flatMap(({ name, outcome }) => {
			if (name === undefined || outcome === 'stored') return [];
			return outcome === 'unknown' ? `${name} (stored or not)` : name;
		});
		const reasons = failed.flatMap((one) => (one.outcome === 'stored' ? [] : one.reason));
		const hasOthers = item.context.getInputData().length > 1 || counts.documents > 1;
		const unread = this.itemsNotRead > 0 && `, ${counted(this.itemsNotRead, 'item')} not read`;
		error.message = trimEnd(sentences(error.message, `${inWords(counts)}${unread || ''}`), '.');
		error.description = sentences(
			error.description,
			names.length > 0 && `Failed: ${someNames(names)}`,
			new Set(reasons).size > 1 && `Reasons: ${firstOf(reasons).join('; ')}`,
			...this.remarks,
			doubts.withoutStableId > 0 && SECOND_RUN,
			hasOthers && !stopped.affectsAll && CONTINUE_HINT,
		);
		return error;
	}

	/** The error that ends a run if the server could not process stored documents. */
	processingError(): ItemError {
		const failed = this.tally.failed.filter(({ outcome }) => outcome === 'stored');
		const names = failed.map(({ name, id = 'one without a name' }) => name ?? id);
		return this.first.operationError(
			`${this.notFound()}: ${someNames(names)}`,
			sentences(
				...firstOf(failed.map(({ reason }) => reason)),
				...firstOf(failed.map(({ reason, name }) => processingAdvice(reason, name))),
				...this.remarks,
				inWords(this.tally.counts),
				this.tally.processingFailed < this.tally.counts.documents && CONTINUE_HINT,
			),
		);
	}
}
