import { FakeClock, startSandbox, type FaultRule, type Sandbox } from '../../sandbox';
import { clientFor } from './support/client';
import { NOT_SENT } from './support/notReproduced';
import { RECORDED_LATER } from './support/recordedServers';
import { sequences, type SequenceExchange } from './support/recordings';
import { Player } from './support/sequences';
import { playInTime } from './support/timeline';

/** How long the runs of E4 took, one after another, where the recording says no times of answers. */
const RUNS: Record<string, Array<{ label: string; ms: number }>> = {
	'decision-watched-confirm': [
		{ label: 'a run that waits for a decision', ms: 4700 },
		{ label: 'confirm', ms: 8571 },
	],
	'decision-watched-reject': [
		{ label: 'a run that waits for a decision', ms: 7900 },
		{ label: 'reject', ms: 1118 },
	],
};

const RECORDINGS = [
	'decisions',
	'decision-watched-confirm',
	'decision-watched-reject',
	'one-thread-two-owners',
	'version',
	'replaced-while-processing',
	'disabled-while-processing',
	'conversations-search-operators',
	'files-processed',
	'background',
	'turns',
	'conversations',
	'memory',
	'streams',
	'sources',
];

/** The copilot whose embedding model the recorded knowledgebases have, and how long processing took. */
const COPILOT = 'f527aa6c-301b-4e2a-a82d-81ac9cf295b4';
const PROCESS_MS: Record<string, number> = {
	'replaced-while-processing': 8000,
	'disabled-while-processing': 8000,
	'files-processed': 1500,
};

/** How long a run takes that nothing makes slow, in milliseconds. */
const RUN_MS: Record<string, number> = { background: 250, turns: 250, streams: 2000 };

/** What was looked at sooner than the recording says, in milliseconds, as the server was slow to begin. */
const SOONER: Record<string, Record<string, number>> = {
	'files-processed': { 'status right after': 3040 },
};

/** What was on the server before: conversations that a search lists come as they were then, oldest request last. */
const BEFORE: Record<string, (sandbox: Sandbox, exchanges: SequenceExchange[]) => void> = {
	'conversations-search-operators': ({ store }, exchanges) => {
		const listed = exchanges.flatMap(({ response }) =>
			'body' in response ? ((response.body as { items?: Listed[] }).items ?? []) : [],
		);
		const all = exchanges.find(({ label }) => label === '$gte what is no date');
		const first =
			all && 'body' in all.response ? (all.response.body as { items: Listed[] }) : undefined;
		for (const item of [...(first?.items ?? []), ...listed]) store.putConversation(item);
	},
	conversations: ({ store }, exchanges) => {
		const searches = exchanges.filter(({ endpoint }) => endpoint === 'POST /threads/search');
		for (const { response } of searches) {
			for (const row of 'body' in response ? (response.body as ListedThread[]) : []) {
				const { id, title, assistant_id: xpertId } = row.metadata;
				const { thread_id: threadId, created_at: createdAt, status } = row;
				store.putConversation({ id, title, xpertId, threadId, createdAt, status });
			}
		}
	},
};

type Listed = Record<string, unknown>;
type ListedThread = Listed & { metadata: Listed };

const BEGAN = Date.parse('2026-11-22T15:00:00.000Z');

/** Whether more of a sequence is sent than what it makes first: the rest is named, with the reasons, in `notReproduced`. */
const hasContent = ([, exchanges]: [string, SequenceExchange[]]): boolean =>
	exchanges.some((one) => one.endpoint !== 'E13' && !NOT_SENT(one));

describe.each(RECORDINGS)('the recording %s', (name) => {
	let sandbox: Sandbox;

	afterEach(() => sandbox.close());

	it.each([...sequences(name)].filter(hasContent))(
		'is replayed in time: %s',
		async (_title, exchanges) => {
			const clock = new FakeClock(BEGAN);
			sandbox = await startSandbox({
				...RECORDED_LATER,
				runMs: RUN_MS[name],
				processMs: PROCESS_MS[name],
				clock,
			});
			sandbox.store.copilots.add(COPILOT);
			BEFORE[name]?.(sandbox, exchanges);
			const runs = RUNS[name] ?? [];
			const faults = runs.map(
				({ ms }, n): FaultRule => ({ endpoint: 'E4', nth: n + 1, do: 'run', ms }),
			);
			sandbox.faults.add(...faults);
			const timed = exchanges.map((one) => ({
				...one,
				atMs: SOONER[name]?.[one.label] ?? one.atMs,
				tookMs: one.tookMs ?? runs.find(({ label }) => label === one.label)?.ms,
			}));
			await playInTime(new Player(timed, sandbox, clientFor(sandbox), clock));
		},
	);
});
