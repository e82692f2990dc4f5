import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';

import { OVERLAP_MS, createPollState, readPollState } from 'nodes/XpertAiTrigger/pollState';
import { pollWithState } from 'nodes/XpertAiTrigger/poll';

import { parsing } from '../support/send';
import { ChangingServer, named } from './support/changingServer';
import { PROPERTY_RUNS } from 'test/support/propertyRuns';

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
	/** How much the time that the server tells is ahead, or its stamps of what changes before. */
	datesBy: fc.constantFrom(0, 0, 0, DAY_MS),
	wrongly: fc.option(fc.record({ ids, by: fc.constantFrom(DAY_MS, OVERLAP_MS) }), { freq: 6 }),
});
/** n8n ends and starts again. */
const restart = fc.record({ kind: fc.constant('restart' as const) });

type Poll = typeof poll extends fc.Arbitrary<infer T> ? T : never;

/** The trigger without n8n. */
class Trigger {
	readonly given: string[] = [];

	/** What it remembers, and what n8n has stored of that. */
	private memory: IDataObject = {};
	private stored = '';

	private constructor(private readonly server: ChangingServer) {}

	static async activate(server: ChangingServer): Promise<Trigger> {
		const trigger = new Trigger(server);
		Object.assign(trigger.memory, await createPollState(server.fetch, ''));
		trigger.stored = JSON.stringify(trigger.memory);
		return trigger;
	}

	get remembered() {
		const memory = readPollState(this.memory, '');
		if (!memory) throw new Error('The memory is lost');
		return memory;
	}

	/** n8n stores the memory when it starts an execution. */
	restart(changed: IDataObject = {}): void {
		this.memory = { ...(JSON.parse(this.stored) as IDataObject), ...changed };
	}

	/** @returns whether it gave anything */
	async poll({ most, pageTime, lost, unread, meanwhile }: Omit<Poll, 'kind' | 'datesBy'>) {
		const { server } = this;
		let pages = 0;
		server.beforePage = () => {
			pages += 1;
			const changing = meanwhile[pages - 1];
			if (changing) server.change(changing);
			if (pages === lost) throw new Error('the page did not come');
		};
		const polled = pollWithState(this.remembered, {
			settings: {
				events: ['answered'],
				simplify: true,
				options: { conversationsPerPoll: most, includeMessages: false, onlyWith: '' },
			},
			send: parsing(async ({ path }) => await answerOf(path, unread)),
			fetchChanges: server.fetch,
			watched: '',
			stored: this.memory,
			hasTime: (share = 1) => pages * pageTime < share,
			pageSize: PAGE,
		});
		// A poll that got nowhere throws what its page failed with.
		const [items = []] = (await polled.catch(() => null)) ?? [];
		server.beforePage = () => undefined;
		this.given.push(...items.map(({ json }) => `${json.conversationId} ${json.updatedAt}`));
		if (items.length > 0) this.stored = JSON.stringify(this.memory);
		return items.length > 0;
	}
}

async function answerOf(path: string, unread: string[]) {
	const threadId = path.replace('/threads/', '');
	const answer = { thread_id: threadId, status: 'idle', values: { messages: [] } };
	if (!unread.includes(threadId))
		return await Promise.resolve({ ok: true, status: 200, answer } as const);
	const failure = { kind: 'status', status: 500, path, method: 'GET' } as const;
	return { ok: false, failure } as const;
}

const orderly = { lost: undefined, unread: [], meanwhile: [], wrongly: null };

/** Polls once a minute, with little time, until none gives anything any more, in as many polls as what there is may take. */
async function pollToTheEnd(trigger: Trigger, server: ChangingServer): Promise<void> {
	const enough = 4 + server.visible.length;
	for (let [quiet, polls] = [0, 0]; quiet < enough; polls++) {
		if (polls >= 10 * enough) throw new Error('The trigger gives items without end');
		server.now += MINUTE_MS;
		const gave = await trigger.poll({ ...orderly, most: 2, pageTime: 0.9 });
		quiet = gave ? 0 : quiet + 1;
	}
}

describe.each([
	['that ignores limits', true, 0],
	['that tells its time', false, 0],
	['that does not tell its time', false, undefined],
])('a server %s', (_, ignoresLimit, dated) => {
	it('has each of its changes given once, whatever the order of changes, polls, faults, clocks and restarts', async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.array(ids, { maxLength: 4 }),
				fc.array(fc.oneof(change, wait, poll, restart), { maxLength: 40 }),
				fc.boolean(),
				async (before, steps, stampsWrongly) => {
					const server = new ChangingServer(ignoresLimit);
					for (const changing of before) server.change(changing);
					const old = server.visible.map(named);
					server.datesBy = dated;
					const trigger = await Trigger.activate(server);

					for (const step of steps) {
						if (step.kind === 'change') server.change(step.ids, step.late);
						else if (step.kind === 'wait') server.now += step.ms;
						else if (step.kind === 'restart') trigger.restart();
						else {
							const { wrongly, datesBy } = step;
							if (dated === 0 && stampsWrongly && wrongly)
								server.change(wrongly.ids, 0, wrongly.by);
							if (dated === 0 && !stampsWrongly) server.datesBy = datesBy;
							await trigger.poll(step);
							server.datesBy = dated;
						}
					}
					await pollToTheEnd(trigger, server);

					// Nothing twice, nothing that was there before, and nothing lost.
					expect(new Set(trigger.given).size).toBe(trigger.given.length);
					const fresh = server.visible.map(named).filter((one) => !old.includes(one));
					expect(fresh.filter((one) => !trigger.given.includes(one))).toEqual([]);
					expect(trigger.given.filter((one) => old.includes(one))).toEqual([]);
					// And no more remembered than is looked at again.
					const { again, known } = trigger.remembered;
					expect(known.filter(({ at }) => at < again)).toEqual([]);
				},
			),
			{ numRuns: PROPERTY_RUNS },
		);
	});
});
