import { randomUUID } from 'crypto';

import type { Clock } from '../../transport/clock';
import type { Failure } from '../../transport/failure';
import { sanitizedLine } from '../../transport/sanitizedLine';
import { SLOT_COUNT } from './journal';
import {
	isReadable,
	type NoteNameAndTitle,
	type NoteReadResult,
	NotesError,
	type NotesOnServer,
	type NoteToWrite,
	orFailure,
} from './notes';

const TURN_NOTE: NoteNameAndTitle = ['turn', 'when * began'];

export const LEASE_NOTE: NoteNameAndTitle = ['lease', 'whether * is at work'];

/**
 * Durations in milliseconds. Each run measures them with its own clock, so the clocks of runs may differ.
 * `renew`: interval at which a run renews its lease.
 * `overdue`: after this time without a renewal, a run checks that no other run has taken its lease.
 * `expired`: a waiting run takes the lease if it has seen no renewal for this time.
 * `contended`: time to wait for the winner if several runs compete for the lease.
 * `poll`: interval at which a waiting run reads the notes.
 */
const MS = { renew: 20_000, overdue: 45_000, expired: 60_000, contended: 30_000, poll: 5000 };

/**
 * The run that holds a lease.
 * `by`: a description of the run, e.g. `execution 7`.
 * `since`: the start time of the run (ISO 8601).
 */
export type Holder = Record<'by' | 'since', string>;

type LeaseNotes = Record<'turn' | 'lease', NoteReadResult> & { others: NoteReadResult[] };

/** The lease of a source. Only the run that holds the lease may send. */
export class Lease {
	/** Number of this run. At least 2: a root note may contain `number - 1`, which must not be 0 (no root note). */
	number = 2;
	/**
	 * Run numbers in the note `lease`.
	 * `sent`: number of the last run that began to send.
	 * `root`: number in the root note, to detect the loss of the root note.
	 */
	readonly counters = { sent: 0, root: 0 };
	/** Why this run must not send, e.g. because another run holds the lease. */
	sendBlockedBy?: Failure;
	/** Whether the note `lease` existed before this run. Set by `peek`. */
	existedBefore = false;
	/** The run that held the lease when this run began. That run may have crashed. */
	holderBefore?: Holder;
	/** The notes that `peek` has read. */
	private before?: LeaseNotes;
	private readonly leaseOwnerId = randomUUID();
	private writeCount = 0;
	private renewedAt = 0;
	private isHeld = false;
	private crashedWriteId?: string;
	private renewal: Promise<unknown> = Promise.resolve();

	constructor(
		private readonly notes: NotesOnServer,
		private readonly clock: Clock,
		private readonly signal: AbortSignal | undefined,
		/** This run, as the note `lease` describes it. */
		readonly thisRun: Holder,
	) {}

	/**
	 * Reads `turn`, `lease` and the notes in `others`, without taking the lease. To be called before `take`.
	 *
	 * @returns `turn`, followed by the notes in `others`
	 */
	async peek(others: NoteNameAndTitle[]): Promise<NoteReadResult[]> {
		this.before = await this.readNotes(others);
		const { turn, lease } = this.before;
		this.existedBefore = lease !== undefined;
		if (this.isHeldByOther(lease)) this.holderBefore = holderIn(lease);
		this.raiseCountersFrom(lease);
		return [turn, ...this.before.others];
	}

	/**
	 * Takes the lease. If another run holds it, first waits until that run renews or releases it, or counts as crashed.
	 * If that run has renewed it, gives up. Otherwise writes the note `turn`, then the note `lease`. After that, this
	 * run gets the lease if no other run holds it, and `turn` is still its own. If another run has written `turn`,
	 * waits for that run to write `lease`, and tries again if no other run holds the lease then. This may last a
	 * minute, or longer if several runs compete.
	 *
	 * @param others names of notes to read when this run holds the lease
	 * @returns the notes in `others`; or the run that holds the lease; or `undefined` if the server does not return
	 * notes
	 * @throws NotesError
	 */
	async take(others: NoteNameAndTitle[] = []): Promise<NoteReadResult[] | Holder | undefined> {
		let current = await this.waitForRenewalOrExpiry(this.before ?? (await this.readNotes()));
		while (!this.isHeldByOther(current.lease)) {
			await this.notes.write({
				nameAndTitle: TURN_NOTE,
				header: { writeId: this.leaseOwnerId },
			});
			this.notes.requiredId = this.notes.idOf(TURN_NOTE);
			current = await this.readNotes();
			if (this.isHeldByOther(current.lease)) break;
			// If the server does not return the note, it cannot keep a lease.
			if (!isReadable(current.turn)) return undefined;
			// The run that held the lease may have sent documents since `peek`.
			if (!this.isOwn(current.lease)) this.raiseCountersFrom(current.lease);
			await this.writeLease();
			current = await this.readNotes(others);
			if (this.isHeldByOther(current.lease)) break;
			// Of runs that compete, the last one to write `turn` gets the lease.
			if (this.isOwn(current.turn)) {
				this.isHeld = true;
				this.scheduleRenewal();
				return current.others;
			}
			current = await this.waitForChange(current, MS.contended);
		}
		return this.yieldTo(current.lease);
	}

	/** If another run holds the lease, waits until that run renews the lease, or counts as crashed. */
	private async waitForRenewalOrExpiry(initial: LeaseNotes): Promise<LeaseNotes> {
		if (!this.isHeldByOther(initial.lease)) return initial;
		const writeId = writeIdOf(initial.lease);
		const current = await this.waitForChange(initial, MS.expired);
		if (writeIdOf(current.lease) === writeId) this.crashedWriteId = writeId;
		return current;
	}

	private raiseCountersFrom(lease: NoteReadResult): void {
		if (isReadable(lease)) this.raiseCounters({ ...lease.lease, run: lease.run });
	}

	/**
	 * Raises `counters` to at least the given numbers. Raises `number` above all of them. Avoids the journal slot of a
	 * crashed run, because late requests may still write to this slot.
	 */
	raiseCounters({ run = 0, sent = 0, root = 0 }, crashedRun = 0): void {
		this.counters.sent = Math.max(this.counters.sent, sent);
		this.counters.root = Math.max(this.counters.root, root);
		this.number = Math.max(this.number, run + 1, sent + 1, root + 1);
		if (crashedRun > 0 && (this.number - crashedRun) % SLOT_COUNT === 0) this.number += 1;
	}

	/**
	 * Records in `lease` that this run sends, and writes the first journal page. Further calls do nothing.
	 *
	 * @throws NotesError
	 */
	async recordSending(firstPage: NoteToWrite[]): Promise<void> {
		if (this.counters.sent === this.number) return;
		// A renewal that arrives later would write the old number.
		await this.renewal;
		await this.writeLease({ sent: this.number }, firstPage);
		this.counters.sent = this.number;
	}

	/**
	 * Renews the lease if a renewal is overdue.
	 *
	 * @throws NotesError if this run must not send, e.g. because another run has taken the lease
	 */
	async renewIfOverdue(): Promise<void> {
		if (this.isHeld && this.isOverdue) await this.renew();
		if (this.sendBlockedBy) throw new NotesError(this.sendBlockedBy);
	}

	/** Releases the lease if this run holds it. Does nothing if the execution was stopped. */
	async release(): Promise<void> {
		if (!this.isHeld || this.signal?.aborted) return;
		const isStillHeld = await this.stopHolding();
		if (isStillHeld) await orFailure(async () => await this.writeLease({ ended: true }));
	}

	/**
	 * Writes notes, and releases the lease with the same request. If the notes cannot be written, releases the lease without
	 * them. If this run does not hold the lease, or if the execution was stopped, writes nothing and does not throw.
	 *
	 * @throws NotesError if the request failed, or another run has just taken the lease
	 */
	async writeAndRelease(notes: NoteToWrite[]): Promise<void> {
		if (!this.isHeld || this.signal?.aborted) return;
		const isStillHeld = await this.stopHolding();
		const failure = isStillHeld ? await this.writeEnd(notes) : this.sendBlockedBy;
		if (!failure) return;
		// The notes could not be written. Releases the lease without them. `stopHolding` has reset `isHeld`, but `release`
		// needs it.
		this.isHeld = isStillHeld;
		await this.release();
		throw new NotesError(failure);
	}

	/** Writes notes, and releases the lease with the same request. Returns the failure, if any. */
	private async writeEnd(notes: NoteToWrite[]): Promise<Failure | undefined> {
		const changes = { ended: true, root: this.number };
		return (await orFailure(async () => await this.writeLease(changes, notes)))?.failure;
	}

	/** Stops holding and renewing the lease, but does not release it. Returns whether this run held it until now. */
	private async stopHolding(): Promise<boolean> {
		if (this.isOverdue) await orFailure(async () => await this.renew());
		const { isHeld } = this;
		this.isHeld = false;
		await this.renewal;
		return isHeld;
	}

	/** Renews the lease every `MS.renew`, until this run no longer holds the lease. */
	private scheduleRenewal(): void {
		this.clock.later(MS.renew, () => {
			if (!this.isHeld || this.signal?.aborted) return;
			// A failed renewal is repeated after the next interval.
			this.renewal = orFailure(async () => await this.renew()).then(() => this.scheduleRenewal());
		});
	}

	/** Whether the last renewal is so long ago that another run may soon take over. */
	private get isOverdue(): boolean {
		return this.clock.now() - this.renewedAt >= MS.overdue;
	}

	/** Renews the lease. If the renewal is overdue, first checks whether another run took the lease, and yields to it. */
	private async renew(): Promise<void> {
		if (this.isOverdue) {
			const { turn, lease } = await this.readNotes();
			const isTakenOver = !this.isOwn(turn) && !this.isOwn(lease);
			if (isTakenOver) return void this.yieldTo(lease, TAKEN_OVER_TEXT);
		}
		await this.writeLease();
	}

	/** Polls until another run writes `lease`, or until `ms` have passed. */
	private async waitForChange(initial: LeaseNotes, ms: number): Promise<LeaseNotes> {
		const writeId = writeIdOf(initial.lease);
		let current = initial;
		for (let left = ms; left > 0 && writeIdOf(current.lease) === writeId; left -= MS.poll) {
			await this.clock.sleep(MS.poll, this.signal);
			current = await this.readNotes();
		}
		return current;
	}

	private async readNotes(names: NoteNameAndTitle[] = []): Promise<LeaseNotes> {
		const [turn, lease, ...others] = await this.notes.read([TURN_NOTE, LEASE_NOTE, ...names]);
		return { turn, lease, others };
	}

	/** Writes the notes in `others` and, after them, the note `lease` with `changes`. */
	private async writeLease(changes = {}, others: NoteToWrite[] = []): Promise<void> {
		const { number, thisRun, leaseOwnerId } = this;
		const lease = { ...thisRun, ended: false, ...this.counters, ...changes };
		const header = { writeId: `${leaseOwnerId}:${++this.writeCount}`, run: number, lease };
		// The lease counts as renewed when the request starts, because another run may see the note long before the answer
		// arrives.
		const startedAt = this.clock.now();
		await this.notes.write(...others, { nameAndTitle: LEASE_NOTE, header });
		this.renewedAt = startedAt;
	}

	/** Whether another run holds the lease. */
	private isHeldByOther(note: NoteReadResult): boolean {
		if (!note || this.isOwn(note) || writeIdOf(note) === this.crashedWriteId) return false;
		// An unreadable note counts as held: if a run holds the lease, the run soon writes a readable note.
		return !isReadable(note) || note.lease?.ended === false;
	}

	/**
	 * Sets `sendBlockedBy`, because another run holds the lease.
	 *
	 * @param activity what the other run does, for the reason
	 * @returns the run that holds the lease
	 */
	private yieldTo(note: NoteReadResult, activity = 'is at work'): Holder {
		const holder = holderIn(note);
		const reason = `Another run of this source ${activity}: ${holder.by}, since ${holder.since}`;
		this.sendBlockedBy = { kind: 'unsuccessful', reason, path: '', method: 'GET' };
		this.isHeld = false;
		return holder;
	}

	private isOwn(note: NoteReadResult): boolean {
		return isReadable(note) && note.writeId?.split(':')[0] === this.leaseOwnerId;
	}
}

const TAKEN_OVER_TEXT = 'has taken over, as this one had not renewed its lease for a minute';

/** Returns the run that wrote a lease. Missing values become `unknown`. */
function holderIn(note: NoteReadResult): Holder {
	const { by = '', since = '' } = (isReadable(note) && note.lease) || {};
	return { by: sanitizedLine(by) ?? 'unknown', since: sanitizedLine(since) ?? 'unknown' };
}

/** Returns a value that changes with each write of a readable note `lease`. */
const writeIdOf = (note: NoteReadResult) => (isReadable(note) ? (note.writeId ?? '') : note);
