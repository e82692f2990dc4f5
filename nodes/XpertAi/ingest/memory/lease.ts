import type { Clock } from '../../transport/clock';
import type { Failure } from '../../transport/failure';
import { serverWords } from '../../transport/serverWords';
import type { Fingerprints } from './fingerprints';
import type { NoteName, NotesOnServer, ReadNote } from './notesOnServer';

export const TURN: NoteName = { name: 'turn', title: 'n8n: when … began' };
export const LEASE: NoteName = { name: 'lease', title: 'n8n: whether … is at work' };

/** Milliseconds, by the clock of who waits: no two clocks have to agree. */
const MS = {
	/** So often a run says that it is at work. */
	renew: 20_000,
	/** After so long without a word it makes sure that no other has taken its place before it goes on. */
	overdue: 45_000,
	/** One that says nothing for so long is gone. */
	gone: 60_000,
	/** So long a run whose lease it is not yet waits whether the other one says a word. */
	contended: 30_000,
	/** So often it is looked whether another one says a word. */
	look: 5000,
};

/** A run that is at work: what people know it by, and since when, by its own clock (ISO 8601). */
export interface Holder {
	by: string;
	since: string;
}

/** What the two notes say. */
export interface Looked {
	turn: ReadNote;
	lease: ReadNote;
}

type Unknown = { failure: Failure };

/** What came of taking the lease: it is taken, it is another's, or that is not known. */
export type Taken = { version: number } | { holder: Holder } | Unknown;

interface Options {
	clock: Clock;
	signal?: AbortSignal;
	/** What people know the run by. */
	by: string;
}

/*
 * The protocol. Two notes, of which the server keeps what was written last; no two writes are one.
 * 1. A run reads the lease. Is it another's, it waits whether that one says a word within a minute: then it leaves.
 *    One that says none is gone, and its lease counts for nothing.
 * 2. It writes its name in the turn, reads the lease, and leaves if it is another's by now. It writes the lease and
 *    reads the turn. Is its own name still there, the lease is its own: of two runs, whoever wrote the turn first
 *    finds either the other's name there or, before that, the other's lease.
 * 3. Else it may be that nobody has the lease. It waits for half a minute: who has it says a word meanwhile and so
 *    puts its own name back. If nobody does, it tries once more; all that came later have left by 2.
 * 4. A run that says a word each twenty seconds holds the lease, whatever somebody slow has written over its name. After
 *    a longer silence it makes sure that its name still stands in the lease or the turn.
 */

/** One run of a source at a time. */
export class Lease {
	private readonly since: string;

	private writings = 0;

	private renewedAt = 0;

	private isHeld = false;

	/** A note that is certainly there, once it is: an answer without it is none. */
	private witness?: string;

	/** Why nothing more may be sent: another run has taken this one for gone. */
	lost?: Failure;

	/** Writings of the lease that count for nothing: their runs are gone. */
	private readonly gone = new Set<string>();

	/** What the notes said when this run began. */
	before?: Looked;

	private renewing: Promise<unknown> = Promise.resolve();

	/**
	 * @param run tells this run from all others
	 */
	constructor(
		private readonly notes: NotesOnServer,
		private readonly known: Fingerprints,
		private readonly run: string,
		private readonly options: Options,
	) {
		this.since = new Date(options.clock.now()).toISOString();
	}

	/** Takes the lease, which may take a minute where a run has ended without giving it back. */
	async take(): Promise<Taken> {
		let seen: Looked | Unknown | undefined;
		for (;;) {
			seen = await this.waitWhileHeld(seen ?? (await this.firstLook()));
			if ('failure' in seen || this.isTaken(seen.lease)) return leaving(seen);
			const begun = await this.begin(false);
			if ('failure' in begun) return begun;
			seen = await this.look();
			if ('failure' in seen || this.isTaken(seen.lease)) return leaving(seen);
			// A server that gives nothing back keeps no lease either.
			if (typeof seen.turn !== 'object') return begun;
			const written = await this.write();
			if ('failure' in written) return written;
			seen = await this.look();
			if ('failure' in seen || this.isTaken(seen.lease)) return leaving(seen);
			if (this.isOwn(seen.turn)) return this.hold(begun);
			seen = await this.lookWhile(seen, MS.contended);
			if ('failure' in seen || this.isTaken(seen.lease)) return leaving(seen);
		}
	}

	/** Begins beside whoever is at work, without the lease. */
	async beginBeside(): Promise<{ version: number } | Unknown> {
		const seen = await this.firstLook();
		return 'failure' in seen ? seen : await this.begin(true);
	}

	private async firstLook(): Promise<Looked | Unknown> {
		const seen = await this.look();
		if ('lease' in seen) this.before = seen;
		return seen;
	}

	/** Whether no other run of the source has been at work since this one began; or why that is not known. */
	async standing(): Promise<{ alone: boolean } | Unknown> {
		const unsure = await this.makeSure();
		if (unsure && !this.lost) return { failure: unsure };
		const seen = await this.look();
		if ('failure' in seen) return seen;
		const { turn, lease } = seen;
		if (typeof turn !== 'object') return { alone: false };
		if (this.isHeld) {
			// Another's name is of one that has left since, unless it works beside this one or has ended its work.
			if (this.isOwn(lease)) return { alone: this.isOwn(turn) || !turn.beside };
			return { alone: this.isOwn(turn) && !hasEnded(lease) };
		}
		return { alone: this.isOwn(turn) && markOf(lease) === markOf(this.before?.lease) };
	}

	/**
	 * Makes sure, after a long silence, that no other run has taken this one for gone.
	 *
	 * @returns why nothing more may be sent
	 */
	async makeSure(): Promise<Failure | undefined> {
		return this.lost ?? (this.isHeld && this.isOverdue ? await this.renew() : undefined);
	}

	private get isOverdue(): boolean {
		return this.options.clock.now() - this.renewedAt >= MS.overdue;
	}

	/**
	 * Gives the lease back, unless it is another's by now or the execution is stopped: then it ends by itself.
	 *
	 * @param left whether the memory does not hold all that this run has noted
	 */
	async giveBack(left = false): Promise<void> {
		if (!this.isHeld) return;
		const isLost = this.options.signal?.aborted === true || (await this.makeSure()) !== undefined;
		this.isHeld = false;
		await this.renewing;
		if (!isLost) await this.write({ ended: true, ...(left && { left }) });
	}

	private hold<Begun>(begun: Begun): Begun {
		this.isHeld = true;
		this.renewLater();
		return begun;
	}

	private renewLater(): void {
		const { clock, signal } = this.options;
		clock.later(MS.renew, () => {
			if (!this.isHeld || signal?.aborted) return;
			// What fails here is tried again, and asked for before anything is sent.
			this.renewing = this.renew().then(() => this.renewLater());
		});
	}

	/** Says that this run is at work, as long as that is so. */
	private async renew(): Promise<Failure | undefined> {
		if (this.isOverdue) {
			const seen = await this.look();
			if ('failure' in seen) return seen.failure;
			if (!this.isOwn(seen.turn) && !this.isOwn(seen.lease)) {
				this.isHeld = false;
				this.lost = lostTo(leaving(seen));
				return this.lost;
			}
		}
		const written = await this.write();
		return 'failure' in written ? written.failure : undefined;
	}

	/** Waits as long as another one may be at work, until it says a word or is gone. */
	private async waitWhileHeld(seen: Looked | Unknown): Promise<Looked | Unknown> {
		if ('failure' in seen || !this.isTaken(seen.lease)) return seen;
		const mark = markOf(seen.lease);
		const later = await this.lookWhile(seen, MS.gone);
		if ('lease' in later && mark !== undefined && markOf(later.lease) === mark) this.gone.add(mark);
		return later;
	}

	/** Looks until the lease is written anew, or the time is over. */
	private async lookWhile(before: Looked, ms: number): Promise<Looked | Unknown> {
		const { clock, signal } = this.options;
		let seen: Looked | Unknown = before;
		for (let left = ms; left > 0; left -= MS.look) {
			await clock.sleep(MS.look, signal);
			seen = await this.look();
			if ('failure' in seen || markOf(seen.lease) !== markOf(before.lease)) return seen;
		}
		return seen;
	}

	private async look(): Promise<Looked | Unknown> {
		const read = await this.notes.read([TURN, LEASE], this.witness);
		if ('failure' in read) return read;
		const [turn, lease] = read.notes;
		return { turn, lease };
	}

	private async begin(beside: boolean) {
		const facts = { mark: this.run, ...(beside && { beside }) };
		const written = await this.notes.write({ note: TURN, facts }, this.known);
		if ('version' in written) this.witness = this.notes.idOf(TURN);
		return written;
	}

	private async write(end: { ended: boolean; left?: boolean } = { ended: false }) {
		const { options, since, run } = this;
		const facts = { mark: `${run}:${++this.writings}`, lease: { by: options.by, since, ...end } };
		const written = await this.notes.write({ note: LEASE, facts }, this.known);
		if ('version' in written) this.renewedAt = options.clock.now();
		return written;
	}

	/** Whether a lease is another's, who has not given it back and is not known to be gone. */
	private isTaken(note: ReadNote): boolean {
		if (note === undefined || this.isOwn(note) || this.gone.has(markOf(note) ?? '')) return false;
		// Who holds a lease that somebody has overwritten soon says its next word over it.
		return typeof note !== 'object' || note.lease?.ended === false;
	}

	private isOwn(note: ReadNote): boolean {
		return typeof note === 'object' && note.mark.split(':')[0] === this.run;
	}
}

/** Tells one writing of a note from others. */
const markOf = (note: ReadNote) => (typeof note === 'object' ? note.mark : note);

const hasEnded = (note: ReadNote) => typeof note === 'object' && note.lease?.ended === true;

/** Whether a run before may have noted what the memory does not hold: it has not ended, or not with all of it written. */
export function mayHaveLeft({ turn, lease }: Looked): boolean {
	if (turn === undefined && lease === undefined) return false;
	if (typeof turn === 'object' && turn.beside) return true;
	if (typeof lease !== 'object' || !lease.lease) return true;
	return !lease.lease.ended || lease.lease.left === true;
}

/** What keeps a run from the lease. */
function leaving(seen: Looked | Unknown): { holder: Holder } | Unknown {
	if ('failure' in seen) return seen;
	const { lease } = seen;
	const { by = '', since = '' } = (typeof lease === 'object' ? lease.lease : undefined) ?? {};
	return { holder: { by: serverWords(by) ?? 'unknown', since: serverWords(since) ?? 'unknown' } };
}

/** Why a run that was taken for gone sends nothing more. */
function lostTo(left: { holder: Holder } | Unknown): Failure {
	if ('failure' in left) return left.failure;
	const { by, since } = left.holder;
	return {
		kind: 'unsuccessful',
		reason: `Another run of this source has taken over, as this one had not said a word for a minute: ${by}, since ${since}`,
		path: '',
		method: 'GET',
	};
}
