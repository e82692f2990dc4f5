import fc from 'fast-check';

import type { ConversationChange } from '../../../nodes/XpertAiTrigger/conversations';
import { makeItems } from '../../../nodes/XpertAiTrigger/items';
import {
	OVERLAP_MS,
	firstMemory,
	newChanges,
	nextMemory,
} from '../../../nodes/XpertAiTrigger/memory';
import type { Change, Memory } from '../../../nodes/XpertAiTrigger/memory';
import { readExisting, readPollChanges } from '../../../nodes/XpertAiTrigger/changes';
import { parsing } from '../support/send';
import { ChangingServer, countingUp, named } from './support/changingServer';
import { PROPERTY_RUNS } from '../../support/propertyRuns';

const NUM_RUNS = PROPERTY_RUNS;
const PAGE = 3;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const id = fc.integer({ min: 1, max: 20 }).map((n) => `conversation-${n}`);
const ids = fc.uniqueArray(id, { minLength: 1, maxLength: 14 });

const change = fc.record({
	kind: fc.constant('change' as const),
	ids,
	late: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: OVERLAP_MS - 1_000 })),
});
const wait = fc.record({
	kind: fc.constant('wait' as const),
	ms: fc.oneof(fc.integer({ min: 1, max: 60_000 }), fc.integer({ min: 1, max: 3 * OVERLAP_MS })),
});
const poll = fc.record({
	kind: fc.constant('poll' as const),
	/** How many conversations it gives at most. */
	most: fc.integer({ min: 1, max: 5 }),
	/** What part of its time a page takes. */
	pageTime: fc.constantFrom(0, 0.01, 0.3, 0.5, 0.9, 2),
	/** The page that does not come. */
	lost: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
	/** The threads that cannot be read. */
	unread: fc.oneof({ weight: 3, arbitrary: fc.constant<string[]>([]) }, fc.uniqueArray(id)),
	/** What changes before each page. */
	meanwhile: fc.array(ids, { maxLength: 3 }),
	/** How much our clock is wrong, and the server's for what changes before. */
	ourClock: fc.constantFrom(0, 0, 0, 0, DAY_MS, -DAY_MS),
	wrongly: fc.option(fc.record({ ids, by: fc.constantFrom(DAY_MS, OVERLAP_MS) }), { freq: 6 }),
});
/** n8n ends and starts again. */
const restart = fc.record({ kind: fc.constant('restart' as const) });

type Poll = typeof poll extends fc.Arbitrary<infer T> ? T : never;

const SETTINGS = {
	events: [],
	simplify: true,
	options: { conversationsPerPoll: 1, includeMessages: false, onlyWith: '' },
};

/** The trigger, without n8n: it reads, gives and remembers as `poll.ts` does. */
class Trigger {
	readonly given: string[] = [];

	/** What n8n has stored, and whether that was made by a wrong clock. */
	private stored: { memory: string; wrongly: boolean };

	private byWrongClock = false;

	private constructor(
		private readonly server: ChangingServer,
		private memory: Memory,
	) {
		this.stored = { memory: JSON.stringify(memory), wrongly: false };
	}

	static async activate(server: ChangingServer, hasTime = true): Promise<Trigger> {
		const limits = { hasTime: () => hasTime, pageSize: PAGE };
		const existing = await readExisting(server.fetch, server.now, limits);
		return new Trigger(server, firstMemory('', existing));
	}

	get remembered(): Memory {
		return this.memory;
	}

	/** n8n stores the memory when it starts an execution. */
	restart(): void {
		this.memory = JSON.parse(this.stored.memory) as Memory;
		this.byWrongClock = this.stored.wrongly;
	}

	/**
	 * A clock is wrong for one poll: after one that was, by what is remembered, the next is right.
	 *
	 * @returns whether it gave anything
	 */
	async poll({ most, pageTime, lost, unread, meanwhile, ourClock }: Omit<Poll, 'kind'>) {
		const { server, memory } = this;
		let pages = 0;
		server.beforePage = () => {
			pages += 1;
			const changing = meanwhile[pages - 1];
			if (changing) server.change(changing);
			if (pages === lost) throw new Error('the page did not come');
		};
		const { changes, ...progress } = await readPollChanges(server.fetch, memory, {
			isEnough: countingUp((read) => newChanges(memory, read).length >= most),
			hasTime: (share) => pages * pageTime < share,
			pageSize: PAGE,
		});
		server.beforePage = () => undefined;
		const dealt = await makeItems(newChanges(memory, changes).map(onThread), {
			settings: SETTINGS,
			send: parsing(({ path }) => answerOf(path, unread)),
			hasTime: () => true,
			most,
			triesOf: () => 0,
		});
		const handled = newChanges<Change>(memory, dealt.done);
		const wrongBy = this.byWrongClock ? 0 : ourClock;
		const rest = { wanted: changes, handled, unread: dealt.unread, now: server.now + wrongBy };
		this.byWrongClock = wrongBy !== 0;
		this.memory = nextMemory(memory, memory, { ...progress, ...rest });
		this.given.push(...handled.map(named));
		if (handled.length > 0)
			this.stored = { memory: JSON.stringify(this.memory), wrongly: this.byWrongClock };
		return handled.length > 0;
	}
}

/** Each conversation has a thread of its name. */
const onThread = (one: Change): ConversationChange => ({
	...one,
	threadId: one.id,
	event: undefined,
	assistantId: undefined,
	error: undefined,
	tasks: [],
	record: {},
});

async function answerOf(path: string, unread: string[]) {
	const threadId = path.replace('/threads/', '');
	const answer = { thread_id: threadId, status: 'idle', values: { messages: [] } };
	if (!unread.includes(threadId))
		return await Promise.resolve({ ok: true, status: 200, answer } as const);
	const failure = { kind: 'status', status: 500, path, method: 'GET' } as const;
	return { ok: false, failure } as const;
}

const orderly = { lost: undefined, unread: [], meanwhile: [], ourClock: 0, wrongly: null };

/** Polls once a minute, with little time, until none gives anything any more, in as many polls as what there is may take. */
async function pollToTheEnd(trigger: Trigger, server: ChangingServer): Promise<void> {
	// What a wrong clock has stamped ahead may be found as late as when its time is over: a page has room for few of a moment.
	const isAhead = server.visible.some(({ at }) => at > server.now);
	const enough = 6 + server.visible.length + (isAhead ? (2 * OVERLAP_MS) / MINUTE_MS : 0);
	for (let [quiet, polls] = [0, 0]; quiet < enough; polls++) {
		if (polls >= 10 * enough) throw new Error('The trigger gives items without end');
		server.now += MINUTE_MS;
		const gave = await trigger.poll({ ...orderly, most: 2, pageTime: 0.9 });
		quiet = gave ? 0 : quiet + 1;
	}
}

describe.each([false, true])('a server that ignores limits (%s)', (ignoresLimit) => {
	it('has each of its changes given once, whatever the order of changes, polls, faults, clocks and restarts', async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.array(ids, { maxLength: 4 }),
				fc.array(fc.oneof(change, wait, poll, restart), { maxLength: 40 }),
				async (before, steps) => {
					const server = new ChangingServer(ignoresLimit);
					for (const changing of before) server.change(changing);
					const old = server.visible.map(named);
					const trigger = await Trigger.activate(server);

					for (const step of steps) {
						if (step.kind === 'change') server.change(step.ids, step.late);
						else if (step.kind === 'wait') server.now += step.ms;
						else if (step.kind === 'restart') trigger.restart();
						else {
							if (step.wrongly) server.change(step.wrongly.ids, 0, step.wrongly.by);
							await trigger.poll(step);
						}
					}
					await pollToTheEnd(trigger, server);

					// Nothing twice, nothing that was there before, and nothing lost.
					expect(new Set(trigger.given).size).toBe(trigger.given.length);
					const fresh = server.visible.map(named).filter((one) => !old.includes(one));
					expect(fresh.filter((one) => !trigger.given.includes(one))).toEqual([]);
					expect(trigger.given.filter((one) => old.includes(one))).toEqual([]);
					// And no more remembered than is looked at again.
					const { floor, known, waiting } = trigger.remembered;
					const kept = [...known, ...waiting].map(([, at]) => at);
					expect(kept.filter((at) => at < floor)).toEqual([]);
				},
			),
			{ numRuns: NUM_RUNS },
		);
	});
});

it('gives nothing twice when the clock of the host goes back', async () => {
	const server = new ChangingServer();
	const trigger = await Trigger.activate(server);
	for (const name of ['conversation-1', 'conversation-2']) {
		server.now += 3 * OVERLAP_MS;
		server.change([name]);
		await pollToTheEnd(trigger, server);
	}
	await trigger.poll({ ...orderly, most: 2, pageTime: 0, ourClock: -DAY_MS });
	await pollToTheEnd(trigger, server);
	expect(trigger.given).toHaveLength(2);
});
