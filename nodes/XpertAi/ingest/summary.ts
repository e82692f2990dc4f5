import { failureMessage } from '../transport/failure';
import { noRequests } from './storing';
import type { DocumentOutcome, StoringCounts } from './storing';

/** Failed documents named in a summary; the counts are always complete. */
const MAX_LISTED = 1000;

/** A document that was not stored, or may not have been, or that is stored but could not be processed. */
export interface FailedDocument {
	name?: string;
	outcome: DocumentOutcome<unknown>['outcome'];
	reason: string;
	id?: string;
	status?: number;
}

/** What documents are counted as. */
type Counted = keyof Summary['counts'];

/** How they are told, in this order. */
const WORDS: Array<[Counted, string]> = [
	['found', 'found'],
	['stored', 'stored'],
	['unchanged', 'unchanged and not sent'],
	['replaced', 'replaced by a later one'],
	['disabled', 'disabled'],
	['rejected', 'rejected'],
	['unknown', 'unknown'],
	['notSent', 'not sent'],
];

/** Counts over a whole run, kept without keeping the documents. */
export class Summary {
	/** `found` are processed, `stored` are only kept. */
	readonly counts = {
		documents: 0,
		found: 0,
		stored: 0,
		unchanged: 0,
		replaced: 0,
		disabled: 0,
		rejected: 0,
		unknown: 0,
		notSent: 0,
	};

	readonly requests = noRequests();

	readonly failed: FailedDocument[] = [];

	/** Counts one document. */
	add({ document: { id, record }, ...result }: DocumentOutcome<unknown>): void {
		this.counts.documents += 1;
		this.counts[result.outcome] += 1;
		if ('failure' in result) {
			const { outcome, failure } = result;
			const reason = failureMessage(failure);
			this.addFailed({
				name: record.name ?? undefined,
				outcome,
				reason,
				id,
				status: failure.status,
			});
		}
	}

	/** Counts a document that was not sent because an earlier run has stored it. */
	addUnchanged(): void {
		this.counts.documents += 1;
		this.counts.unchanged += 1;
	}

	/** Counts a document of an earlier run that was taken out of answers; it is none of this run's documents. */
	addDisabled(): void {
		this.counts.disabled += 1;
	}

	/** Counts a record that could not be sent at all. */
	addUnreadable(reason: string): void {
		this.counts.documents += 1;
		this.counts.rejected += 1;
		this.addFailed({ outcome: 'rejected', reason });
	}

	/** Counts a document otherwise than before. */
	move(from: Counted, to: Counted): void {
		this.counts[from] -= 1;
		this.counts[to] += 1;
	}

	/** Names a document, counted as stored already, that the server could not process. */
	addUnprocessed(id: string, reason: string, name?: string): void {
		this.addFailed({ name, id, outcome: 'stored', reason });
	}

	/** Adds the requests that stored documents. */
	addRequests(counts: StoringCounts): void {
		for (const key of Object.keys(this.requests) as Array<keyof StoringCounts>) {
			this.requests[key] += counts[key];
		}
	}

	/** The documents in words, without what there are none of. */
	words(notSent = this.counts.notSent): string {
		const all = { ...this.counts, notSent };
		const parts = WORDS.flatMap(([kind, words]) => (all[kind] > 0 ? `${all[kind]} ${words}` : []));
		return `Documents: ${parts.join(', ') || 'none'}`;
	}

	/** The run in one line. */
	line(): string {
		const { batches, retries } = this.requests;
		const tried = retries > 0 ? `, ${counted(retries, 'request')} tried again` : '';
		const sent = batches > 0 ? ` (${counted(batches, 'batch', 'batches')}${tried})` : '';
		return `${this.words()}${sent}.`;
	}

	private addFailed(document: FailedDocument): void {
		if (this.failed.length < MAX_LISTED) this.failed.push(document);
	}
}

/** A number with its word, or with words that fit it: `counted(1, 'was', 'were')`. */
export function counted(count: number, one: string, many = `${one}s`): string {
	return `${count} ${count === 1 ? one : many}`;
}
