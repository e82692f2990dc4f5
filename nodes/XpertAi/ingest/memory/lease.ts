import { randomUUID } from 'crypto';

import mapValues from 'lodash/mapValues';
import pick from 'lodash/pick';

import type { Clock } from '../../transport/clock';
import type { Failure } from '../../transport/failure';
import { sanitize } from '../../transport/sanitize';
import { SLOTS } from './journal';
import { NotesFailed, isReadable, orFailure } from './notes';
import type { NoteName, NotesOnServer, ReadNote, WrittenNote } from './notes';

export const TURN: NoteName = ['turn', 'when … began'];
export const LEASE: NoteName = ['lease', 'whether … is at work'];

/** Durations in milliseconds. A run measures them by its own clock: clocks of different runs need not agree. */
const MS = { renew: 20_000, overdue: 45_000, expired: 60_000, contended: 30_000, poll: 5000 };

/** A run that holds the lease: its title, and when it began, by its own clock (ISO 8601). */
export type Holder = Record<'by' | 'since', string>;

type LeaseNotes = Record<'turn' | 'lease', ReadNote> & { others: ReadNote[] };

/*
 * The protocol. It uses two notes, `turn` and `lease`; the server keeps the last write of each.
 * 1. A run reads the lease. If another run holds it, this one waits for a renewal; if one comes, it leaves. A run that
 *    does not renew for a minute has crashed, and its lease no longer counts.
 * 2. The run writes its ID into `turn` and reads the lease; if another run holds it by now, this one leaves. Then it
 *    writes the lease and reads `turn`. If its own ID is still there, it holds the lease: of two runs, the first to
 *    write `turn` either finds the other's ID there or has found the other's lease before.
 * 3. Otherwise perhaps nobody holds the lease. The run waits half a minute for a renewal; without one it tries once
 *    more. All runs that came later have left by rule 2.
 * 4. A run that renews every 20 s keeps the lease, even if a slow rival overwrote a note. After a longer silence, it
 *    first checks that its ID is still in `lease` or `turn`.
 */

/** The lease of a source: it lets one run at a time send. */
export class Lease {
	/** Number of this run. The first run is number 2, so that anything written before it has a number, too. */
	number = 2;
	/** What the lease tells the next run: the last run that began to send, and the run that wrote the root. */
	readonly counters = { sent: 0, root: 0 };
	/** Why nothing may be sent: another run holds the lease, or the memory cannot be written. */
	refusal?: Failure;
	/** The notes before this run wrote them. */
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
		private readonly holder: Holder,
	) {}

	/** Whether there was a lease before this run. */
	get wasThere(): boolean {
		return this.before?.lease !== undefined;
	}

	/** The run that had not ended its lease before this run. */
	get holderBefore(): Holder | undefined {
		const lease = this.before?.lease;
		return this.isHeldByOther(lease) ? holderIn(lease) : undefined;
	}

	/** Reads the notes of the lease, and others with them. @returns the turn and the others */
	async look(others: NoteName[]): Promise<ReadNote[]> {
		const notes = await this.readNotes(others);
		this.before ??= notes;
		this.raiseCounters(leaseCounters(notes.lease));
		return [notes.turn, ...notes.others];
	}

	/**
	 * Takes the lease, which may take a minute.
	 *
	 * @param others notes to read once it is held
	 * @returns these; or the other run, if that holds the lease; nothing from a server that does not return notes
	 */
	async take(others: NoteName[] = []): Promise<ReadNote[] | Holder | undefined> {
		if (!this.before) await this.look([]);
		let current = this.before ?? (await this.readNotes());
		if (this.isHeldByOther(current.lease)) {
			const writeId = writeIdOf(current.lease);
			current = await this.waitForChange(current, MS.expired);
			if (writeIdOf(current.lease) === writeId) this.crashedWriteId = writeId;
		}
		while (!this.isHeldByOther(current.lease)) {
			await this.notes.write({ note: TURN, header: { writeId: this.leaseOwnerId } });
			this.notes.requiredId = this.notes.idOf(TURN);
			current = await this.readNotes();
			if (this.isHeldByOther(current.lease)) break;
			// A server that does not return notes keeps no lease either.
			if (!isReadable(current.turn)) return undefined;
			await this.write();
			current = await this.readNotes(others);
			if (this.isHeldByOther(current.lease)) break;
			this.isHeld = this.isOwn(current.turn);
			if (this.isHeld) this.scheduleRenewal();
			if (this.isHeld) return current.others;
			current = await this.waitForChange(current, MS.contended);
		}
		return this.yieldTo(current.lease);
	}

	/** Raises the counters to what notes show. A crashed run may still write, so this run takes the other slot. */
	raiseCounters({ run = 0, sent = 0, root = 0 }, crashed = 0): void {
		this.counters.sent = Math.max(this.counters.sent, sent);
		this.counters.root = Math.max(this.counters.root, root);
		this.number = Math.max(this.number, run + 1, sent + 1, root + 1);
		if (crashed > 0 && (this.number - crashed) % SLOTS === 0) this.number += 1;
	}

	/** Records, before the first document, that this run sends; writes the first page of its journal with that. */
	async beginToSend(firstPage: WrittenNote[]): Promise<void> {
		if (this.counters.sent === this.number) return;
		await this.write({ sent: this.number }, firstPage);
		this.counters.sent = this.number;
	}

	/** After a long silence, renews the lease if no other run has taken it. @throws NotesFailed if nothing may be sent */
	async check(): Promise<void> {
		if (this.isHeld && this.isOverdue) await this.renew();
		if (this.refusal) throw new NotesFailed(this.refusal);
	}

	/**
	 * Releases the lease, unless another run holds it or the execution was stopped: then it expires.
	 *
	 * @param last the last notes of the run: they are written before it ends, if they can be
	 * @throws NotesFailed if they were not written
	 */
	async release(last: WrittenNote[] = []): Promise<void> {
		if (!this.isHeld || this.signal?.aborted) return;
		if (this.isOverdue) await orFailure(async () => await this.renew());
		const { isHeld } = this;
		this.isHeld = false;
		await this.renewal;
		const end = async (root = this.counters.root, notes: WrittenNote[] = []) =>
			isHeld
				? await orFailure(async () => await this.write({ ended: true, root }, notes))
				: undefined;
		if (last.length === 0) return void (await end());
		const failure = isHeld ? (await end(this.number, last))?.failure : this.refusal;
		if (!failure) return;
		await end();
		throw new NotesFailed(failure);
	}

	private scheduleRenewal(): void {
		this.clock.later(MS.renew, () => {
			if (!this.isHeld || this.signal?.aborted) return;
			// A failed renewal is repeated at the next interval, and before anything is sent.
			this.renewal = orFailure(async () => await this.renew()).then(() => this.scheduleRenewal());
		});
	}

	private get isOverdue(): boolean {
		return this.clock.now() - this.renewedAt >= MS.overdue;
	}

	private async renew(): Promise<void> {
		if (this.isOverdue) {
			const { turn, lease } = await this.readNotes();
			if (!this.isOwn(turn) && !this.isOwn(lease)) return void this.yieldTo(lease, TAKEN_OVER);
		}
		await this.write();
	}

	/** Polls until the lease is rewritten, or the time is over. */
	private async waitForChange(initial: LeaseNotes, ms: number): Promise<LeaseNotes> {
		const writeId = writeIdOf(initial.lease);
		let current = initial;
		for (let left = ms; left > 0 && writeIdOf(current.lease) === writeId; left -= MS.poll) {
			await this.clock.sleep(MS.poll, this.signal);
			current = await this.readNotes();
		}
		return current;
	}

	private async readNotes(names: NoteName[] = []): Promise<LeaseNotes> {
		const [turn, lease, ...others] = await this.notes.read([TURN, LEASE, ...names]);
		return { turn, lease, others };
	}

	private async write(changes = {}, others: WrittenNote[] = []): Promise<void> {
		const { number, holder, leaseOwnerId } = this;
		const lease = { ...holder, ended: false, ...this.counters, ...changes };
		const header = { writeId: `${leaseOwnerId}:${++this.writeCount}`, run: number, lease };
		const at = this.clock.now();
		await this.notes.write(...others, { note: LEASE, header });
		this.renewedAt = at;
	}

	/** Whether another run holds the lease: not released, and not known to have crashed. */
	private isHeldByOther(note: ReadNote): boolean {
		if (note === undefined || this.isOwn(note) || writeIdOf(note) === this.crashedWriteId)
			return false;
		// An unreadable lease counts as held: its holder soon renews it.
		return !isReadable(note) || note.lease?.ended === false;
	}

	/** Yields to another run: this one sends nothing. @returns the other run */
	private yieldTo(note: ReadNote, activity = 'is at work'): Holder {
		const holder = holderIn(note);
		const reason = `Another run of this source ${activity}: ${holder.by}, since ${holder.since}`;
		this.refusal = { kind: 'unsuccessful', reason, path: '', method: 'GET' };
		this.isHeld = false;
		return holder;
	}

	private isOwn(note: ReadNote): boolean {
		return isReadable(note) && note.writeId?.split(':')[0] === this.leaseOwnerId;
	}
}

/** The run that wrote a lease. */
function holderIn(note: ReadNote): Holder {
	const lease = (isReadable(note) && note.lease) || { by: '', since: '' };
	return mapValues(pick(lease, 'by', 'since'), (words) => sanitize(words) ?? 'unknown');
}

/** Identifies one write of a note; undefined only if there is none. */
const writeIdOf = (note: ReadNote) => (isReadable(note) ? (note.writeId ?? '') : note);

/** The counters in the lease of the last run; 0 for those that are missing or unreadable. */
export function leaseCounters(lease: ReadNote): Record<'run' | 'sent' | 'root', number> {
	const { sent = 0, root = 0 } = (isReadable(lease) && lease.lease) || {};
	return { run: isReadable(lease) ? lease.run : 0, sent, root };
}

const TAKEN_OVER = 'has taken over, as this one had not renewed its lease for a minute';
