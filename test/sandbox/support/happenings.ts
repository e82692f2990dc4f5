import { findLast } from 'lodash';
import type { Sandbox } from '../../../sandbox';
import { asObject } from '../../../sandbox/values';
import { runOn, say } from './client';
import type { SequenceExchange } from './recordings';

type Happens = NonNullable<SequenceExchange['happens']>;

const MAIN = '12280b80-6642-447f-9ad9-dbbdb589e2c5';

/** No run says anything later, in milliseconds. */
const LONGEST_MS = 300_000;

const newestRun = ({ store }: Sandbox) =>
	findLast(store.runs, ({ assistantId }) => assistantId !== null);

/** The stream of the newest run is not kept any more. */
const streamIsGone: Happens = async ({ sandbox }) =>
	sandbox.expireStream(newestRun(sandbox)?.id ?? '');

const isKilled: Happens = async ({ sandbox }) => void (await sandbox.killRuns());

/** Waits until the assistant of a run has said this, as how quick it is differs from server to server. */
const untilSaid =
	(text: string, runId?: string): Happens =>
	async (player) => {
		const { sandbox, clock, substitution } = player;
		const id = runId ? substitution.apply(runId) : newestRun(sandbox)?.id;
		const last = () => {
			const data = asObject(sandbox.store.speeches.get(id ?? '')?.events.at(-1)?.data.data);
			return data.xpertName === undefined ? data.text : undefined;
		};
		for (let passed = 0; last() !== text; passed += 50) {
			if (passed > LONGEST_MS) throw new Error(`Nobody said "${text}"`);
			await clock.advance(50);
		}
	};

/** Asks questions on a thread, one after another, that were asked and not recorded. */
const asks =
	(thread: string, ...questions: string[]): Happens =>
	async (player) => {
		for (const question of questions)
			await player.ended(runOn(player.client, thread, question, MAIN));
	};

/** A conversation, a question in it, and then another conversation on its thread, with the ids of the recording. */
const twin =
	(threadId: string, ran: string, made: string): Happens =>
	async (player) => {
		const { store } = player.sandbox;
		store.putConversation({ id: ran, threadId, title: 'ran first' });
		await asks(threadId, 'first question')(player);
		store.putConversation({ id: made, threadId, title: 'made after the run' });
	};

const CURED = [
	'9d0f0522-011f-4fb6-ad93-5da3ddb0b347',
	'c4db93a4-3088-4814-84bf-a1bf3f555272',
	'7cfde661-41cb-44c9-b861-3d5d22ef6654',
] as const;

const inOrder =
	(...all: Happens[]): Happens =>
	async (player) => {
		for (const happens of all) await happens(player);
	};

/** A run that was under way when the server was killed. */
const deadRun =
	(threadId: string, conversationId: string, runId: string, last: string): Happens =>
	async (player) => {
		const { sandbox, client, substitution } = player;
		sandbox.store.putConversation({ id: conversationId, threadId, title: 'helper stopped' });
		await client.post(`/api/ai/threads/${threadId}/runs`, say('HELP SAY LONG200 DRIP300', MAIN));
		substitution.learn(runId, newestRun(sandbox)?.id);
		await inOrder(untilSaid(last, runId), isKilled)(player);
	};

/** What happened before an exchange, or after it, and was not recorded. */
interface Unrecorded {
	before?: string;
	after?: string;
	in?: RegExp;
	happens: Happens;
}

const UNRECORDED: Record<string, Unrecorded[]> = {
	'one-thread-two-conversations': [
		{
			before: 'after three more',
			happens: async (player) => {
				const shown = player.exchanges.find(({ endpoint }) => endpoint === 'E15');
				const [, thread = ''] = /threads\/([^/]+)/.exec(shown?.request.path ?? '') ?? [];
				await asks(thread, 'question 0', 'question 1', 'question 2')(player);
			},
		},
	],
	'one-thread-status-null': [
		{
			before: 'E15 null',
			happens: twin(
				'4c8a2fab-84a1-4ba3-b7ae-bd4885f678d1',
				'ea1584e7-8fd8-4dd2-ba6f-c1e3d503cdc1',
				'c4a29370-95c8-4552-835e-3de4d0b1bcff',
			),
		},
		{ before: 'before', in: /status idle/, happens: twin(...CURED) },
		{
			before: 'before',
			in: /another threadId/,
			happens: inOrder(twin(...CURED), asks(CURED[0], 'RECALL')),
		},
	],
	'server-killed': [
		{
			after: 'documents: before',
			happens: inOrder(untilSaid('w19 ', '92e115a7-255d-4a92-9799-e7ae99cca47d'), isKilled),
		},
	],
	'server-and-streams': [
		{
			before: '',
			in: /dead run/,
			happens: deadRun(
				'6f774435-dfa5-4715-b663-77de73748029',
				'f27e3525-d86e-4a15-b536-2896f8aa4245',
				'a8d2f8ea-a594-4415-92db-a00834e387ed',
				'w21 ',
			),
		},
		{ before: 'joined after it is gone', happens: streamIsGone },
	],
	'two-processes': [
		{ before: 'cancel at B', happens: untilSaid('w8 ') },
		{ after: 'start at B', happens: inOrder(untilSaid('w20 '), isKilled) },
	],
	'one-question-2': [{ before: 'cancel', happens: untilSaid('w14 ') }],
	'dead-run-next-question': [
		{
			before: 'e4 on first: run that will die',
			happens: inOrder(
				asks('c8c14315-6fed-416f-98ef-2cdf0810a226', 'before'),
				asks('1b673e92-2ff5-4c49-9ad9-436bf09b22f0', 'before'),
			),
		},
	],
};

/** What was noted of the server between the requests. */
const NOTED: Array<{ label: RegExp; happens: Happens }> = [
	{ label: /deleted in Redis/, happens: streamIsGone },
	{ label: /server is killed and up again/, happens: isKilled },
];

/** A sequence with what happened on the server meanwhile. */
export function withHappenings(exchanges: SequenceExchange[]): SequenceExchange[] {
	const noted = exchanges.map((one) => {
		const note = NOTED.find(({ label }) => label.test(one.label ?? ''));
		return note && !('request' in one && one.request) ? { ...one, happens: note.happens } : one;
	});
	const [{ recording = '', sequence = '' } = {}] = exchanges;
	const unrecorded = (UNRECORDED[recording] ?? []).flatMap((one) => {
		const { before, after, happens } = one;
		if (one.in && !one.in.test(sequence)) return [];
		const near = noted.find(({ label }) => label === (before ?? after));
		if (!near) return [];
		const atMs = (near.atMs ?? 0) + (after === undefined ? 0 : (near.tookMs ?? 0));
		return { ...near, label: `near ${near.label}`, atMs, happens };
	});
	return [...unrecorded, ...noted];
}
