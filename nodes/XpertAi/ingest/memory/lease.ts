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

/** Milliseconds, by the clock of the run that waits: no two clocks have to agree. */
const MS = { renew: 20_000, overdue: 45_000, expired: 60_000, contended: 30_000, poll: 5000 };

/** A run that is at work: what people know it by, and since when, by its own clock (ISO 8601). */
export type Holder = Record<'by' | 'since', string>;

type LeaseNotes = Record<'turn' | 'lease', ReadNote>;

/*
 * The protocol. Two notes; of each the server keeps what was written last.
 * 1. A run reads the lease. If another run has it, this one waits for its renewal, then leaves. A run that does not
 *    renew for a minute has crashed, and its lease no longer counts.
 * 2. It writes its name into `turn` and reads the lease; if another run has it by now, it leaves. It writes the lease
 *    and reads `turn`. If its own name is still there, the lease is its own: of two runs, the one that wrote `turn`
 *    first finds the other's name there or, before that, the other's lease.
 * 3. Otherwise perhaps nobody has the lease. It waits half a minute for a renewal; without one it tries once more.
 *    All that came later have left by rule 2.
 * 4. A run that renews every 20 s keeps the lease, even if a slow rival overwrote a note. After a longer silence it
 *    first checks that its name still stands in `lease` or `turn`.
 */

/** One run of a source at a time. */
export class Lease {
	/** The number of this run. The first one is the second, so that what is written before it has a number, too. */
	number = 2;
	/** What the next run is to expect: the last run that has begun to send, and the run of the root. */
	readonly counters = { sent: 0, root: 0 };
	/** Why nothing may be sent: another run is at work, or what is sent could not be remembered. */
	refusal?: Failure;
	private readonly runId = randomUUID();
	private writeCount = 0;
	private renewedAt = 0;
	private isHeld = false;
	/** The last writing of the lease of a run that has crashed. */
	private crashedMark?: string;
	private renewal: Promise<unknown> = Promise.resolve();

	constructor(
		private readonly notes: NotesOnServer,
		private readonly clock: Clock,
		private readonly signal: AbortSignal | undefined,
		private readonly holder: Holder,
	) {}

	/** Takes the lease, perhaps after a minute; or returns the other run that has it. */
	async take(): Promise<Holder | undefined> {
		let seen = await this.readNotes();
		this.raiseCounters(leaseCounters(seen.lease));
		for (;;) {
			if (this.isHeldByOther(seen.lease)) seen = await this.waitForHolder(seen);
			if (this.isHeldByOther(seen.lease)) return this.yieldTo(seen.lease);
			await this.notes.write({ note: TURN, header: { mark: this.runId } });
			this.notes.witness = this.notes.idOf(TURN);
			seen = await this.readNotes();
			if (this.isHeldByOther(seen.lease)) return this.yieldTo(seen.lease);
			// A server that gives nothing back keeps no lease either.
			if (!isReadable(seen.turn)) return undefined;
			await this.write();
			seen = await this.readNotes();
			if (this.isHeldByOther(seen.lease)) return this.yieldTo(seen.lease);
			this.isHeld = this.isOwn(seen.turn);
			if (this.isHeld) return this.scheduleRenewal();
			seen = await this.waitForChange(seen, MS.contended);
			if (this.isHeldByOther(seen.lease)) return this.yieldTo(seen.lease);
		}
	}

	/** Takes in what notes show. Of a run that has crashed, rows may still come: this one gets another place for its journal. */
	raiseCounters({ run = 0, sent = 0, root = 0 }, crashed = 0): void {
		this.counters.sent = Math.max(this.counters.sent, sent);
		this.counters.root = Math.max(this.counters.root, root);
		this.number = Math.max(this.number, run + 1, sent + 1, root + 1);
		if (crashed > 0 && (this.number - crashed) % SLOTS === 0) this.number += 1;
	}

	/** Notes, before the first document, that this run sends some; with the first page of its journal. */
	async beginToSend(firstPage: WrittenNote[]): Promise<void> {
		if (this.counters.sent === this.number) return;
		await this.write({ sent: this.number }, firstPage);
		this.counters.sent = this.number;
	}

	/** Makes sure, after a long silence, that no other run has taken this one's place. */
	async check(): Promise<void> {
		if (this.isHeld && this.isOverdue) await this.renew();
		if (this.refusal) throw new NotesFailed(this.refusal);
	}

	/** Gives the lease back, unless it is another's or the execution is stopped: then it expires by itself. */
	async release(): Promise<void> {
		if (!this.isHeld || this.signal?.aborted) return;
		if (this.isOverdue) await orFailure(async () => await this.renew());
		const { isHeld } = this;
		this.isHeld = false;
		await this.renewal;
		if (isHeld) await orFailure(async () => await this.write({ ended: true }));
	}

	private scheduleRenewal(): undefined {
		this.clock.later(MS.renew, () => {
			if (!this.isHeld || this.signal?.aborted) return;
			// A renewal that fails is tried again later, and before anything is sent.
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

	/** Waits until the run that has the lease renews it or counts as crashed. */
	private async waitForHolder(seen: LeaseNotes): Promise<LeaseNotes> {
		const later = await this.waitForChange(seen, MS.expired);
		if (markOf(later.lease) === markOf(seen.lease)) this.crashedMark = markOf(seen.lease);
		return later;
	}

	/** Looks until the lease is written anew, or the time is over. */
	private async waitForChange(before: LeaseNotes, ms: number): Promise<LeaseNotes> {
		let seen = before;
		for (let left = ms; left > 0 && markOf(seen.lease) === markOf(before.lease); left -= MS.poll) {
			await this.clock.sleep(MS.poll, this.signal);
			seen = await this.readNotes();
		}
		return seen;
	}

	private async readNotes(): Promise<LeaseNotes> {
		const [turn, lease] = await this.notes.read([TURN, LEASE]);
		return { turn, lease };
	}

	private async write(changes = {}, others: WrittenNote[] = []): Promise<void> {
		const { number, holder, runId } = this;
		const lease = { ...holder, ended: false, ...this.counters, ...changes };
		const header = { mark: `${runId}:${++this.writeCount}`, run: number, lease };
		const at = this.clock.now();
		await this.notes.write(...others, { note: LEASE, header });
		this.renewedAt = at;
	}

	/** Whether another run has the lease, has not given it back, and is not known to have crashed. */
	private isHeldByOther(note: ReadNote): boolean {
		if (note === undefined || this.isOwn(note) || markOf(note) === this.crashedMark) return false;
		// The holder of a lease that somebody has overwritten soon renews it.
		return !isReadable(note) || note.lease?.ended === false;
	}

	/** Another run is at work: this one sends nothing. */
	private yieldTo(note: ReadNote, what = 'is at work'): Holder {
		const lease = (isReadable(note) && note.lease) || { by: '', since: '' };
		const holder = mapValues(pick(lease, 'by', 'since'), (words) => sanitize(words) ?? 'unknown');
		const reason = `Another run of this source ${what}: ${holder.by}, since ${holder.since}`;
		this.refusal = { kind: 'unsuccessful', reason, path: '', method: 'GET' };
		this.isHeld = false;
		return holder;
	}

	private isOwn(note: ReadNote): boolean {
		return isReadable(note) && note.mark?.split(':')[0] === this.runId;
	}
}

/** Tells one writing of a note from others. */
const markOf = (note: ReadNote) => (isReadable(note) ? note.mark : note);

/** What the lease of the last run says of it, and of other notes; 0 for what there is not, or what cannot be read. */
export function leaseCounters(lease: ReadNote): Record<'run' | 'sent' | 'root', number> {
	const { sent = 0, root = 0 } = (isReadable(lease) && lease.lease) || {};
	return { run: isReadable(lease) ? lease.run : 0, sent, root };
}

const TAKEN_OVER = 'has taken over, as this one had not renewed its lease for a minute';
