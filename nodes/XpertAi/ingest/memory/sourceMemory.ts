import { systemClock } from '../../transport/clock';
import type { Clock } from '../../transport/clock';
import type { Failure } from '../../transport/failure';
import { isRouteMissing } from '../../transport/classifyFailure';
import { packId } from './fingerprints';
import { Journal } from './journal';
import type { JournaledBatch } from './journal';
import { Lease } from './lease';
import type { Holder } from './lease';
import { NotesFailed, NotesOnServer, SIZES, isReadable, orFailure } from './notes';
import type { MemoryPlace, MemoryRoutes } from './notes';
import { StoredMemory } from './storedMemory';
import type { DocumentName } from './storedMemory';

/*
 * The protocol. A note is a disabled document that holds a text; the server stores the rows of a request in order.
 * 1. One run at a time (lease.ts). Runs are numbered: one more than lease, root and pages show.
 * 2. Each batch has a page of two notes (journal.ts): the first two rows of its request, one with the IDs of documents.
 *    The last row is the other with their contents, which it has exactly when the batch was carried out. A
 *    page says which others may not have arrived; any other one that is missing was deleted. Before anything more is
 *    sent, a page whose request was not answered is written by itself.
 * 3. Runs write their pages in two places by turns. A run that finds pages of a later run than the root's, which has
 *    crashed, writes the memory before it sends anything, and reads these pages once more at its end.
 * 4. The memory: pieces, cut by ID, and a root, written last, that says which run it holds.
 * 5. Names are added to when documents are first stored. A piece that cannot be read is rebuilt from them.
 * 6. What cannot be rebuilt is lost: the root says so until the user has taken note.
 * 7. `by hand`: what Disable and Enable have changed. The next run takes it in, and the root says that it has.
 */

/** How a run begins: what people know it by, whether it sends everything again, whether the user knows what is lost. */
interface RunOptions {
	signal?: AbortSignal;
	clock?: Clock;
	by?: string;
	fresh?: boolean;
	forgetLost?: boolean;
}

/** What earlier runs of a source have stored in a knowledgebase, kept there. Whatever a crash leaves behind is known. */
export class SourceMemory extends StoredMemory {
	/** How many documents were known when the run began. */
	knownBefore = 0;
	/** The run that is at work, where this one may not begin. */
	holder?: Holder;
	/** Whether anything is remembered at all. */
	private isSupported = true;
	private readonly journal: Journal;
	private readonly lease: Lease;
	/** Documents that no run has stored before this one. */
	private readonly newKeys = new Set<string>();
	/** Notes are written one after another. */
	private queue: Promise<unknown> = Promise.resolve();

	/** Knows nothing until it is opened or recalled. */
	constructor(
		place: MemoryPlace,
		routes: MemoryRoutes,
		private readonly options: RunOptions = {},
	) {
		const { signal, clock = systemClock, by = '' } = options;
		super(new NotesOnServer(place, routes), clock);
		this.journal = new Journal(this.notes);
		const since = new Date(clock.now()).toISOString();
		this.lease = new Lease(this.notes, clock, signal, { by, since });
	}

	/** Reads what earlier runs have stored. To send, `close` has to follow in any case; with a `holder`, nothing may be sent. */
	async open(how: 'to send' | 'to read' = 'to send'): Promise<this> {
		const { options, known, lease } = this;
		const failed = await orFailure(async () => {
			if (how === 'to send') await this.begin();
			else await this.read(options.forgetLost);
		});
		if (failed && isRouteMissing(failed.failure)) this.markUnsupported();
		else lease.refusal ??= failed?.failure;
		if (options.fresh) known.forgetContents();
		this.knownBefore = known.size;
		return this;
	}

	/** A note that is certainly on the server: an answer without it does not count. */
	get witness(): string | undefined {
		return this.notes.witness;
	}

	/** Whether what is stored can be remembered. */
	get isUsable(): boolean {
		return this.isSupported && !this.refusal;
	}

	/** Why nothing may be sent, as far as it is known by now. */
	get refusal(): Failure | undefined {
		return this.lease.refusal;
	}

	/** Makes sure, after a long silence, that no other run of the source has taken this one's place. */
	async check(): Promise<Failure | undefined> {
		return (await orFailure(async () => await this.lease.check()))?.failure;
	}

	/** Notes documents before they are changed in another way than by storing them whole; returns why they must not be. */
	async journalChange(ids: string[]): Promise<Failure | undefined> {
		if (!this.isSupported) return undefined;
		const noted = await this.exclusively(async () => {
			await this.prepareToSend();
			for (const id of ids) this.known.markUnknown(id);
			await this.journal.writePage(ids);
		});
		return noted?.failure;
	}

	/** What notes documents, by their IDs with their contents, in the request that stores them; or why they must not be sent. */
	async journalBatch(
		contents: Map<string, string>,
	): Promise<JournaledBatch | { failure: Failure } | undefined> {
		if (!this.isSupported) return undefined;
		return await this.exclusively(async () => {
			await this.prepareToSend();
			await this.names.write(SIZES.names);
			for (const id of contents.keys()) {
				const sets = this.known.knows(id) ? [] : [this.newKeys, this.names.unnamed];
				for (const keys of sets) keys.add(packId(id));
				this.known.markUnknown(id);
			}
			return await this.journal.rowsFor(contents);
		});
	}

	/** The server has accepted a document with this content. */
	recordStored(id: string, content: string, called: DocumentName = {}): void {
		this.newKeys.delete(packId(id));
		this.names.add(id, called);
		if (this.journal.isCertain(id, content)) this.known.record(id, content);
	}

	/** The server has not taken a document; what an earlier run has stored of it may be there. */
	recordRejected(id: string): void {
		if (this.newKeys.delete(packId(id)) && !this.journal.mayArriveLate(id)) this.known.remove(id);
	}

	/** The last of a run: writes what has changed, and lets the next one begin. */
	async close(): Promise<void> {
		const { options, lease } = this;
		if (this.isUsable && !options.signal?.aborted && this.needsWrite) {
			const written = await this.exclusively(async () => {
				await lease.check();
				await this.finish(lease.number);
				lease.counters.root = this.root.run;
			});
			this.troubles.notWritten = written?.failure;
		}
		await lease.release();
	}

	/** Makes sure that this run is the only one, and reads. */
	private async begin(): Promise<void> {
		const { journal, lease, notes } = this;
		const taken = await orFailure(async () => await lease.take());
		if (taken && 'failure' in taken) {
			// Where a note is not taken, what is unchanged can be told all the same.
			const { failure } = taken;
			if (failure.method === 'GET' || isRouteMissing(failure)) throw new NotesFailed(failure);
			lease.refusal = failure;
		} else if (taken) {
			this.holder = taken;
			return;
		}
		const hasTurn = notes.witness !== undefined;
		const turn = await this.read(this.options.forgetLost, lease.counters);
		// A server that takes notes and does not give them back.
		if (hasTurn && !isReadable(turn)) this.markUnsupported();
		lease.raiseCounters({ root: this.root.run, sent: this.unmergedJournal.run }, this.unmergedJournal.run);
		journal.run = lease.number;
	}

	private markUnsupported(): void {
		this.troubles.noRoute = true;
		this.isSupported = false;
	}

	/** What a crash has left is in the memory before another one may leave more. */
	private async prepareToSend(): Promise<void> {
		const { journal, lease } = this;
		await lease.check();
		// A crashed run's pages are read once more at the end, unless they are damaged.
		const last = this.unmergedJournal.isDamaged || this.unmergedJournal.run === 0 ? lease.number : this.unmergedJournal.run;
		if (this.isStale) await this.write(last - 1);
		lease.counters.root = this.root.run;
		await lease.beginToSend(journal.firstPage);
	}

	private async exclusively<Result>(
		work: () => Promise<Result>,
	): Promise<Result | { failure: Failure }> {
		const done = this.queue.then(async () => await orFailure(work));
		this.queue = done.catch(() => undefined);
		return await done;
	}
}
