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
 * 1. One run sends at a time (lease.ts). The number of a run is one more than lease, root and pages show.
 * 2. Each batch has a page of two notes (journal.ts): the IDs of its documents, and their contents. The first two rows
 *    of the request write the IDs and empty contents; the last row writes the contents, which are therefore there
 *    exactly if the batch was carried out. A page lists the pages that may not have arrived; any other missing page was
 *    deleted. A page whose request was not answered is written on its own before anything else is sent.
 * 3. Runs alternate between two slots for their pages. Pages of a later run than the root's mean that this run crashed:
 *    the next run writes the memory before it sends anything, and reads these pages again at its end.
 * 4. The memory consists of pieces, cut by ID, and a root. The root is written last and says which run is merged.
 * 5. Names are added when documents are first stored. An unreadable piece is rebuilt from them.
 * 6. What cannot be rebuilt is lost: the root says so until the user has taken note.
 * 7. `by hand` records what Disable and Enable changed. The next run merges it, and the root says so.
 */

/** `by`: the title of the run; `fresh`: send everything again; `forgetLost`: the user has taken note of losses. */
interface RunOptions {
	signal?: AbortSignal;
	clock?: Clock;
	by?: string;
	fresh?: boolean;
	forgetLost?: boolean;
}

/** The memory of a source, kept in its knowledgebase: what earlier runs stored. It survives crashes. */
export class SourceMemory extends StoredMemory {
	/** Documents known when the run began. */
	knownBefore = 0;
	/** Set if another run holds the lease: then nothing may be sent. */
	holder?: Holder;
	private readonly journal: Journal;
	private readonly lease: Lease;
	/** Keys of documents that no earlier run stored. */
	private readonly newKeys = new Set<string>();
	/** Serializes the writing of notes. */
	private queue: Promise<unknown> = Promise.resolve();

	/** Empty until it is opened. */
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

	/** Reads what earlier runs stored. Failures are in `refusal` and `troubles`. After `to send`, always call `close`. */
	async open(mode: 'to send' | 'to read' = 'to send'): Promise<this> {
		const { options, known, lease } = this;
		const failed = await orFailure(async () => {
			if (mode === 'to send') await this.begin();
			else await this.read(options.forgetLost);
		});
		if (failed && isRouteMissing(failed.failure)) this.troubles.noRoute = true;
		else lease.refusal ??= failed?.failure;
		if (options.fresh) known.forgetContents();
		this.knownBefore = known.size;
		return this;
	}

	/** A note that is certainly on the server: an answer without it does not count. */
	get witness(): string | undefined {
		return this.notes.witness;
	}

	/** Whether this run can be remembered. */
	get isUsable(): boolean {
		return !this.troubles.noRoute && !this.refusal;
	}

	/** Why nothing may be sent, as far as is known. */
	get refusal(): Failure | undefined {
		return this.lease.refusal;
	}

	/** After a long silence, makes sure that no other run has taken the lease. @returns why nothing may be sent */
	async check(): Promise<Failure | undefined> {
		return (await orFailure(async () => await this.lease.check()))?.failure;
	}

	/** Records documents before a change other than storing them whole. @returns why they must not be changed */
	async journalChange(ids: string[]): Promise<Failure | undefined> {
		if (this.troubles.noRoute) return undefined;
		const failed = await this.exclusively(async () => {
			await this.prepareToSend();
			for (const id of ids) this.known.markUnknown(id);
			await this.journal.writePage(ids);
		});
		return failed?.failure;
	}

	/**
	 * Records documents in the request that stores them. @param contents contents by ID
	 * @returns the journal's rows, or why nothing may be sent; `undefined` if the server does not support the memory
	 */
	async journalBatch(
		contents: Map<string, string>,
	): Promise<JournaledBatch | { failure: Failure } | undefined> {
		if (this.troubles.noRoute) return undefined;
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

	/** Records that the server has accepted a document with this content. */
	recordStored(id: string, content: string, name: DocumentName = {}): void {
		this.newKeys.delete(packId(id));
		this.names.add(id, name);
		if (this.journal.isCertain(id, content)) this.known.record(id, content);
	}

	/** Records that the server has rejected a document. A version that an earlier run stored may still exist. */
	recordRejected(id: string): void {
		if (this.newKeys.delete(packId(id)) && !this.journal.mayArriveLate(id)) this.known.remove(id);
	}

	/** Ends the run: writes the memory and releases the lease. */
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

	/** Takes the lease and reads the memory. */
	private async begin(): Promise<void> {
		const { journal, lease, notes } = this;
		const taken = await orFailure(async () => await lease.take());
		if (taken && 'failure' in taken) {
			// If notes cannot be written, unchanged documents can still be recognized.
			const { failure } = taken;
			if (failure.method === 'GET' || isRouteMissing(failure)) throw new NotesFailed(failure);
			lease.refusal = failure;
		} else if (taken) {
			this.holder = taken;
			return;
		}
		const hasTurn = notes.witness !== undefined;
		const turn = await this.read(this.options.forgetLost, lease.counters);
		// The server accepts notes but does not return them.
		if (hasTurn && !isReadable(turn)) this.troubles.noRoute = true;
		const { run: crashed } = this.unmergedJournal;
		lease.raiseCounters({ root: this.root.run, sent: crashed }, crashed);
		journal.run = lease.number;
	}

	/** Merges the journal of a crashed run before this run may write its own. */
	private async prepareToSend(): Promise<void> {
		const { journal, lease } = this;
		await lease.check();
		// The pages of a crashed run are read again at the end, unless they are damaged.
		const { isDamaged, run: crashed } = this.unmergedJournal;
		const last = isDamaged || crashed === 0 ? lease.number : crashed;
		if (this.isStale) await this.write(last - 1);
		lease.counters.root = this.root.run;
		await lease.beginToSend(journal.firstPage);
	}

	private async exclusively<T>(work: () => Promise<T>): Promise<T | { failure: Failure }> {
		const done = this.queue.then(async () => await orFailure(work));
		this.queue = done.catch(() => undefined);
		return await done;
	}
}
