import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

import type { Clock as SandboxClock } from '../../../sandbox/clock';
import { builtModule } from './builtModule';

type ClockModule = typeof import('../../../nodes/XpertAi/transport/clock');
type NodeClock = ClockModule['systemClock'];

/** So many turns of the event loop in which nothing happens are rest: the sandbox stores a document a turn, and a batch has a hundred. */
const QUIET_TURNS = 150;

/** While bytes are on their way, or one end of a connection is closed: a busy machine hands these over late. */
const TURNS_ON_THE_WAY = 2_000;

/** Work of other threads, which the event loop does not see until it is done. */
const THREAD_WORK = /^(FSReq|CloseReq|GetAddrInfo|GetNameInfo|TCPConnect)/;

/** After so much real time without anything, a test waits for what will not come. */
const HUNG_MS = 20_000;

const LONGEST_MS = 24 * 3_600_000;

/** A sleep that is no longer wanted ends at the next of these, as the node's own does. */
const SLICE_MS = 500;

/** Channels of Node that name each new socket, and each request that arrives. */
const NEW_SOCKETS = ['net.client.socket', 'net.server.socket'];
const REQUEST = 'http.server.request.start';

/**
 * Time of the built node and of the sandbox, which advances by itself.
 *
 * It stands still but while a test waits for a run of the fixture, for `until` or for `during`. Then, each time that
 * everything is at rest (nothing is on its way, there are only sleepers), the earliest sleeper is woken at its moment.
 * What takes the sandbox an hour takes no real time, and the speed of the machine changes the order of nothing.
 */
class EngineClock implements SandboxClock, NodeClock {
	private time = Date.UTC(2026, 0, 1);
	private readonly sleepers = new Set<{ at: number; wake: () => void }>();
	private readonly sockets = new Set<Socket>();
	private readonly arriving = new Set<IncomingMessage>();
	/** Counts whatever happens, but for bytes. */
	private events = 0;
	private waiting = 0;
	private passing?: Promise<void>;
	private stands = false;
	/** Streams that another thread packs or unpacks. */
	private packing = 0;
	/** How far time may pass for those who wait. */
	private last = 0;

	readonly now = (): number => this.time;

	readonly monotonic = (): number => this.time;

	readonly random = (): number => 0.5;

	readonly later = (ms: number, work: () => void): void => void this.sleep(ms).then(work);

	readonly sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
		this.events += 1;
		if (!(ms > 0) || signal?.aborted) return;
		const began = this.time;
		// Whole milliseconds, as the machine's time is.
		const sleeper = { at: Math.ceil(began + ms), wake: () => {} };
		const shorten = () => {
			const slices = Math.max(1, Math.ceil((this.time - began) / SLICE_MS));
			sleeper.at = Math.min(sleeper.at, began + slices * SLICE_MS);
		};
		signal?.addEventListener('abort', shorten);
		this.sleepers.add(sleeper);
		await new Promise<void>((wake) => (sleeper.wake = wake));
		signal?.removeEventListener('abort', shorten);
	};

	/** `AbortSignal.timeout` on this clock. */
	readonly timeout = (ms: number): AbortSignal => {
		const abort = new AbortController();
		this.later(ms, () => abort.abort(new DOMException('timed out', 'TimeoutError')));
		return abort.signal;
	};

	/** Lets time pass until something comes of the work. */
	async during<Result>(work: Promise<Result>): Promise<Result> {
		this.events += 1;
		this.waiting += 1;
		this.last = this.time + LONGEST_MS;
		this.passing ??= this.passes();
		const failed = this.passing.then(async () => await new Promise<never>(() => undefined));
		return await Promise.race([work, failed]).finally(() => (this.waiting -= 1));
	}

	async until(isSo: () => boolean): Promise<void> {
		let isOver = false;
		const waits = async () => {
			while (!isSo() && !isOver) await nextTurn();
		};
		await this.during(waits()).finally(() => (isOver = true));
	}

	/** Resolves when nothing happens any more unless time passes. */
	async settled(): Promise<void> {
		let before = -1;
		const isQuiet = (turns: number) =>
			turns >= TURNS_ON_THE_WAY || (turns >= QUIET_TURNS && !this.isOnTheWay());
		for (let quiet = 0; !isQuiet(quiet); quiet += 1) {
			await nextTurn();
			const happened = this.events + this.bytes();
			const isBusy = process.getActiveResourcesInfo().some((name) => THREAD_WORK.test(name));
			if (isBusy || this.packing > 0 || happened !== before) quiet = 0;
			before = happened;
		}
	}

	/** Has time stand still, whoever waits. */
	stand(): void {
		this.stands = true;
	}

	go(): void {
		this.stands = false;
	}

	/** Moves time on by hand, waking each sleeper at its moment. */
	async advance(ms: number): Promise<void> {
		const target = this.time + ms;
		await this.settled();
		while (this.wakeNext(target)) await this.settled();
		this.time = target;
	}

	/** Forgets who sleeps: what earlier tests left does not wake in this one. */
	reset(): void {
		this.sleepers.clear();
		this.stands = false;
	}

	/** Each request takes a moment: no two of them have come at the same time. */
	readonly tick = (message: unknown): void => {
		const { request } = message as { request: IncomingMessage };
		this.time += this.stands ? 0 : 1;
		this.arriving.add(request);
		request.once('close', () => this.arriving.delete(request));
	};

	readonly watch = (message: unknown): void => {
		const { socket } = message as { socket: Socket };
		this.events += 1;
		this.sockets.add(socket);
		socket.once('close', () => {
			this.events += socket.bytesRead + socket.bytesWritten + 1;
			this.sockets.delete(socket);
		});
	};

	/** Has streams of a kind count as work until they end: of what their thread does, Node tells nothing. @returns the end of that */
	readonly packs = ({ prototype }: { prototype: object }): (() => void) => {
		const before = Object.getOwnPropertyDescriptor(prototype, 'readable') ?? {};
		const started = (stream: unknown) => {
			const through = new TransformStream<Uint8Array, Uint8Array>();
			const ended = () => void (this.packing -= 1);
			this.packing += 1;
			const readable = before.get?.call(stream) as ReadableStream<Uint8Array>;
			void readable.pipeTo(through.writable).then(ended, ended);
			return through.readable;
		};
		const get = function (this: unknown) {
			return started(this);
		};
		Object.defineProperty(prototype, 'readable', { ...before, get });
		return () => void Object.defineProperty(prototype, 'readable', before);
	};

	/**
	 * Whether a request is still being sent (a form comes from another thread), an end of a connection has not got what the
	 * other has sent, or is open while the other is closed.
	 */
	private isOnTheWay(): boolean {
		if ([...this.arriving].some((request) => !request.complete)) return true;
		const open = [...this.sockets].filter(({ remotePort }) => remotePort !== undefined);
		return open.some(({ localPort, remotePort, bytesWritten }) => {
			const other = open.find(
				(one) => one.localPort === remotePort && one.remotePort === localPort,
			);
			return other?.bytesRead !== bytesWritten;
		});
	}

	private bytes(): number {
		return [...this.sockets].reduce((sum, one) => sum + one.bytesRead + one.bytesWritten, 0);
	}

	/** Wakes the earliest sleepers; false when there are none until then. */
	private wakeNext(until: number): boolean {
		const at = Math.min(...[...this.sleepers].map((sleeper) => sleeper.at));
		if (at > until) return false;
		this.time = Math.max(this.time, at);
		this.events += 1;
		for (const sleeper of [...this.sleepers].filter((one) => one.at <= at)) {
			this.sleepers.delete(sleeper);
			sleeper.wake();
		}
		return true;
	}

	/** Lets time pass as long as somebody waits for it. */
	private async passes(): Promise<void> {
		let movedAt = performance.now();
		while (performance.now() - movedAt < HUNG_MS) {
			await this.settled();
			if (this.waiting === 0) {
				this.passing = undefined;
				return;
			}
			if (!this.stands && this.wakeNext(this.last)) movedAt = performance.now();
		}
		this.passing = undefined;
		const state = `${this.sleepers.size} sleep, ${this.sockets.size} sockets are open`;
		throw new Error(
			`the test waits for what does not come: ${state}, time ${this.stands ? 'stands' : 'passes'}`,
		);
	}
}

/**
 * The clock of all tests on the engine: `useFixture()` has node and sandbox on it, elsewhere `useClock()` the node, and
 * `startSandbox({ clock })` the sandbox.
 *
 *     const running = fixture.run(...); // time passes, and takes no real time
 *     await clock.until(() => sent('runs').length > 0); // lets time pass until it is so
 *     await clock.during(post(...)); // lets time pass until somebody else has got an answer
 *     await clock.settled(); // lets everything happen that needs no time
 *     clock.stand(); // from now on only `clock.advance(ms)` moves time on, until `clock.go()`
 */
export const clock = new EngineClock();

/** Puts the built node on the clock for the tests that surround the call. */
export function useClock(): void {
	const { systemClock } = builtModule<ClockModule>('nodes/XpertAi/transport/clock.js');
	const { now, monotonic, random, later, sleep } = clock;
	const before = { ...systemClock };
	const { timeout } = AbortSignal;
	let restored: Array<() => void> = [];
	beforeAll(() => {
		Object.assign(systemClock, { now, monotonic, random, later, sleep } satisfies NodeClock);
		AbortSignal.timeout = clock.timeout;
		restored = [CompressionStream, DecompressionStream].map(clock.packs);
		NEW_SOCKETS.forEach((name) => subscribe(name, clock.watch));
		subscribe(REQUEST, clock.tick);
	});
	beforeEach(() => clock.reset());
	afterAll(() => {
		Object.assign(systemClock, before);
		AbortSignal.timeout = timeout;
		for (const restore of restored) restore();
		NEW_SOCKETS.forEach((name) => unsubscribe(name, clock.watch));
		unsubscribe(REQUEST, clock.tick);
	});
}
