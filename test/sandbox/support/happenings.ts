import { findLast, isPlainObject } from 'lodash';
import { addMessage } from '../../../sandbox/runs/chat';
import { asObject } from '../../../sandbox/values';
import { runOn, say } from './client';
import type { Player } from './player';
import { AS_STREAM, routeOf } from './read';
import type { SequenceExchange } from './recordings';
import { MAIN } from './servers';

type Happens = (player: Player) => Promise<void> | void;

/** No run says anything later, in milliseconds. */
const LONGEST_MS = 300_000;

const newestRun = ({ sandbox }: Player) =>
	findLast(sandbox.store.runs, ({ assistantId }) => assistantId !== null);

/** The stream of the newest run is not kept any more. */
const streamIsGone: Happens = (player) => player.sandbox.expireStream(newestRun(player)?.id ?? '');

const isKilled: Happens = async ({ sandbox }) => void (await sandbox.killRuns());

/** Waits until the assistant of a run has said this, as how quick it is differs from server to server. */
const untilSaid =
	(text: string, runId?: string): Happens =>
	async (player) => {
		const { sandbox, clock, substitution } = player;
		const id = runId ? substitution.apply(runId) : newestRun(player)?.id;
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

const inOrder =
	(...all: Happens[]): Happens =>
	async (player) => {
		for (const happens of all) await happens(player);
	};

/** A conversation, a question in it, and then another conversation on its thread, with the ids of the recording. */
const twin = (threadId: string, ran: string, made: string): Happens =>
	inOrder(
		({ sandbox }) => void sandbox.store.putConversation({ id: ran, threadId, title: 'ran first' }),
		asks(threadId, 'first question'),
		({ sandbox }) =>
			void sandbox.store.putConversation({ id: made, threadId, title: 'made after the run' }),
	);

const CURED = [
	'9d0f0522-011f-4fb6-ad93-5da3ddb0b347',
	'c4db93a4-3088-4814-84bf-a1bf3f555272',
	'7cfde661-41cb-44c9-b861-3d5d22ef6654',
] as const;

/** A run that was under way when the server was killed. */
const deadRun =
	(threadId: string, id: string, runId: string, last: string): Happens =>
	async (player) => {
		player.sandbox.store.putConversation({ id, threadId, title: 'helper stopped' });
		const body = say('HELP SAY LONG200 DRIP300', MAIN);
		await player.client.post(`/api/ai/threads/${threadId}/runs`, body);
		player.substitution.learn(runId, newestRun(player)?.id);
		await inOrder(untilSaid(last, runId), isKilled)(player);
	};

const fails =
	(message: string | null): Happens =>
	({ sandbox }) =>
		void (sandbox.store.embeddingError = message);

const OVERLOADED = '400 The model is overloaded';

/** What happened before an exchange, or after it, and was not recorded. */
interface Unrecorded {
	before?: string | RegExp;
	after?: string;
	in?: RegExp;
	happens: Happens;
}

const UNRECORDED: Record<string, Unrecorded[]> = {
	knowledge: [
		{ before: 'change to a model that fails', happens: fails(OVERLOADED) },
		{ before: /now it works$/, happens: fails(null) },
	],
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
			...{ before: 'before', in: /another threadId/ },
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
			...{ before: '', in: /dead run/ },
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
const NOTED: Array<[label: RegExp, happens: Happens]> = [
	[/deleted in Redis/, streamIsGone],
	[/server is killed and up again/, isKilled],
];

/** What the node never asks, of which more than the request was not recorded, or that two orders are right for. */
const UNPLAYABLE: Array<[in_: RegExp, label: RegExp]> = [
	[/^knowledge-filter-4\/(?:only id and metadata sent|hr again)$/, /^/],
	[/^(?:knowledge-filter|folder-).*/, /^upload|E16/],
	[/\/the routes under v1 kb$/, /^/],
	[/^decisions\/(?:follow up, steer|steer while E4 waits)$/, /^/],
	[
		/POST \/threads|^conversations\/(?:threads|whose conversation it is)$|^streams\/refused$|\/references$|\/five at once$|too early$/,
		/^/,
	],
	[/\/(?:nobody gives way, one says it was interrupted|the older ends while the younger)/, /^/],
	[/\/(?:nginx E4|the chat route of v1|joined after a restart of the server)$/, /^/],
	[/^server-killed/, /^documents: (?:just|35|after)|^upload/],
	[/\/an embedding/, /^ask/],
	[/\/what is refused at once$/, /^no assistant$/],
	[/^/, /^create \d$|^ask something like it$|with the Last-Event-ID that was seen last$/],
];

/** Whether a DOCX was uploaded or asked for (`file-context-parsing`): what is in it was not recorded. */
const isOfDocx = ({ label, atMs = 0 }: SequenceExchange): boolean =>
	(/^zeta/.test(label) && atMs >= 35_179 && atMs < 51_618) ||
	(label.startsWith('ask with it') && atMs >= 35_179 && atMs < 77_061);

/** What is played of an exchange: what the node sends, or what it leaves on the server. */
function played(one: SequenceExchange): SequenceExchange[] {
	if (one.happens) return [one];
	const { recording = '', sequence = '', label } = one;
	const place = `${recording}/${sequence}`;
	const isOf16 = /^(?:knowledge-filter|folder-)/.test(recording) && one.endpoint === 'E16';
	if (one.request === undefined || isOf16 || isOfDocx(one)) return [];
	if (UNPLAYABLE.some(([of, labels]) => of.test(place) && labels.test(label))) return [];
	if (/\/store\/items$/.test(one.request.path.replace(/\?.*/, ''))) {
		return 'status' in one.response && one.response.status < 300
			? [
					{
						...one,
						happens: ({ sandbox, substitution }) => keep(sandbox, substitution.apply(one.request)),
					},
				]
			: [];
	}
	if (one.request.method === 'POST' && /\/conversations\/[^/]+\/messages$/.test(one.request.path)) {
		return [{ ...one, happens: (player) => isTold(player, one) }];
	}
	return routeOf(one.request) === undefined && !AS_STREAM.test(one.request.path) ? [] : [one];
}

/** A message that somebody puts into a conversation, and no assistant hears. */
function isTold({ sandbox, clock, substitution }: Player, { request, response }: SequenceExchange) {
	const [, conversationId = ''] = /conversations\/([^/]+)/.exec(request.path) ?? [];
	const { role, content } = asObject(request.body);
	const place = { conversationId: substitution.apply(conversationId), role, content };
	const { id } = addMessage({ store: sandbox.store, clock }, place);
	substitution.learn(asObject('body' in response ? response.body : {}).id, id);
}

/** The node only searches what an assistant remembers: items come and go without a request. */
async function keep({ store }: Player['sandbox'], { method, body }: SequenceExchange['request']) {
	const { namespace, key, value } = asObject(body);
	if (method === 'PUT' && value !== null) store.putItem(namespace as string[], String(key), value);
	if (method !== 'DELETE') return;
	const prefix = (namespace as string[]).join(':');
	const place = store.items.findIndex((one) => one.prefix === prefix && one.key === key);
	if (place >= 0) store.items.splice(place, 1);
}

/** How long the answers took of which a recording does not say it, in milliseconds. */
const TOOK: Array<[label: RegExp, ms: number]> = [
	[/goes away after 1.5 s$/, 1500],
	[/cancels after 4 s$/, 4100],
	[/^(?:confirm|reject)$/, 1000],
	[/^one of two runs at once$|^the other$/, 2000],
];

/** A recording without times: each request comes right after the answer before it, but for two. */
function timed(all: SequenceExchange[]): SequenceExchange[] {
	let end = 0;
	return all.flatMap((one): SequenceExchange[] => {
		if (one.atMs !== undefined) return [one];
		const tookMs = TOOK.find(([label]) => label.test(one.label))?.[1] ?? 0;
		if (one.label === 'when it has ended') end += 6000;
		const atMs = {
			'while the decision is carried out': end - 700,
			'one of two runs at once': end + 11,
			'the other': end - 2001,
		}[one.label];
		const began = atMs ?? end + 10;
		end = Math.max(end, began + tookMs);
		const exchange = { ...one, atMs: began, tookMs };
		if (!one.label.includes('cancels')) return [exchange];
		const [, thread = ''] = /threads\/([^/]+)/.exec(one.request.path) ?? [];
		const happens: Happens = ({ sandbox, substitution }) =>
			void sandbox.cancelRuns(substitution.apply(thread));
		return [exchange, { ...one, label: '', atMs: began + 4000, tookMs: 0, happens }];
	});
}

/** Where a recording says otherwise than it was: a server that was slow to begin, and decisions without a time. */
const AS_IT_WAS: Record<string, Record<string, Partial<SequenceExchange>>> = {
	'conversation-by-id': { 'without a key': { key: 'none' } },
	'files-processed': { 'status right after': { atMs: 3040 } },
	'decision-watched-confirm': {
		'a run that waits for a decision': { tookMs: 4700 },
		confirm: { tookMs: 8571 },
	},
	'decision-watched-reject': {
		'a run that waits for a decision': { tookMs: 7900 },
		reject: { tookMs: 1118 },
	},
};

/** A sequence as it is played, with what happened on the server meanwhile. */
export function asPlayed(exchanges: SequenceExchange[]): SequenceExchange[] {
	const [{ recording = '', sequence = '' } = {}] = exchanges;
	const noted = timed(exchanges).map((one) => {
		const [, happens] = NOTED.find(([label]) => label.test(one.label ?? '')) ?? [];
		const changed = { ...one, ...AS_IT_WAS[recording]?.[one.label] };
		return happens && !one.request ? { ...changed, happens } : changed;
	});
	const unrecorded = (UNRECORDED[recording] ?? []).flatMap(
		({ before, after, happens, ...rest }) => {
			if (rest.in && !rest.in.test(sequence)) return [];
			const isNear = ({ label }: SequenceExchange) =>
				before instanceof RegExp ? before.test(label) : label === (before ?? after);
			return noted
				.filter(isNear)
				.slice(0, 1)
				.map((near) => {
					const atMs = (near.atMs ?? 0) + (after === undefined ? 0 : (near.tookMs ?? 0));
					return { ...near, label: `near ${near.label}`, atMs, tookMs: 0, happens };
				});
		},
	);
	if (sequence === 'a rebuild that fails on the way') {
		const at = noted.find(({ atMs }) => atMs === 2760);
		if (at)
			unrecorded.push({ ...at, atMs: 2760, label: 'fails', tookMs: 0, happens: fails(OVERLOADED) });
	}
	return [...unrecorded, ...noted].flatMap(played);
}

/** Which of several conversations on a thread a database gives first is chance: it is what was recorded. */
export function comesFirst(
	{ sandbox, substitution }: Player,
	{ response }: SequenceExchange,
): void {
	const body = 'body' in response && isPlainObject(response.body) ? response.body : {};
	const { metadata } = body as { metadata?: { id?: string } };
	const conversation = sandbox.store.conversations.get(substitution.apply(metadata?.id ?? ''));
	if (conversation) sandbox.store.comesFirst(conversation);
}
