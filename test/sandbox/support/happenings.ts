import { findLast, isPlainObject, remove } from 'lodash';
import type { FaultRule, Sandbox } from '../../../sandbox';
import { addMessage } from '../../../sandbox/runs/chat';
import type { StoredDocument } from '../../../sandbox/entities';
import { asObject } from '../../../sandbox/values';
import { say } from '../../engine/support/conversations';
import type { Player } from './player';
import type { SequenceExchange } from './recordings';
import { MAIN } from './servers';

/** What was on a server, or happened there without a request that is replayed: what, and of what. */
export type Step = [what: string, ...of: unknown[]];

type Put = (sandbox: Sandbox, ...of: never[]) => void;
type Happens = (player: Player, ...of: never[]) => Promise<void> | void;

const LONGEST_MS = 300_000;

const PUT: Record<string, Put> = {
	fault: ({ faults }, rule: FaultRule) => faults.add(rule),
	putWorkspace: ({ store }, id: string) => void store.workspaces.add(id),
	putContext: ({ store }, context: { id: string; storageFileId: string }) =>
		void store.contexts.set(context.storageFileId, context),
	putText: ({ store }, row: StoredDocument, ...chunks: string[]) =>
		store.putFindable(store.putDocument(row), chunks),
	putFile: ({ store }, row: Parameters<typeof store.putFile>[0], text?: string) => {
		const head = Buffer.from(text ?? '');
		store.putFile(row, text === undefined ? undefined : { size: head.length, head });
	},
	removeItem: ({ store }, namespace: string[], key: string) =>
		void remove(store.items, (one) => one.prefix === namespace.join(':') && one.key === key),
	embeddingFails: ({ store }, message: string | null) => void (store.embeddingError = message),
};

/** Puts something onto a server: with a function of its store, where there is no other here. */
export function put(sandbox: Sandbox, [what, ...of]: Step): void {
	const { store } = sandbox;
	const own = PUT[what] as ((sandbox: Sandbox, ...of: unknown[]) => void) | undefined;
	const stores = store as unknown as Record<string, (...of: unknown[]) => void>;
	if (own) own(sandbox, ...of);
	else stores[what]?.call(store, ...of);
}

const newestRun = ({ sandbox }: Player) =>
	findLast(sandbox.store.runs, ({ assistantId }) => assistantId !== null);

const HAPPENINGS: Record<string, Happens> = {
	/** The stream of the newest run is not kept any more. */
	streamExpires: (player) => player.sandbox.expireStream(newestRun(player)?.id ?? ''),
	serverIsKilled: async ({ sandbox }) => void (await sandbox.killRuns()),
	runsAreCancelled: ({ sandbox }, threadId: string) => void sandbox.cancelRuns(threadId),
	/** Asks a question on a thread that was asked and not recorded. */
	isAsked: async (player, threadId: string, question: string) =>
		void (await player.ended(say(player.sandbox, threadId, question, MAIN))),
	runBegins: async (player, threadId: string, question: string, runId: string) => {
		const input = { action: 'send', message: { input: { input: question } } };
		const asked = { assistant_id: MAIN, input };
		await player.client.post(`/api/ai/threads/${threadId}/runs`, asked);
		player.substitution.learn(runId, newestRun(player)?.id);
	},
	/** Waits until the assistant of a run has said this, as how quick it is differs from server to server. */
	untilSaid: async (player, text: string, runId?: string) => {
		const { sandbox, clock } = player;
		const id = player.substitution.apply(runId) ?? newestRun(player)?.id ?? '';
		const last = () => {
			const data = asObject(sandbox.store.speeches.get(id)?.events.at(-1)?.data.data);
			return data.xpertName === undefined ? data.text : undefined;
		};
		for (let passed = 0; last() !== text; passed += 50) {
			if (passed > LONGEST_MS) throw new Error(`Nobody said "${text}"`);
			await clock.advance(50);
		}
	},
	/** A message that somebody puts into a conversation, and no assistant hears. */
	isTold: (player, conversationId: string, role: string, content: string, recorded: string) => {
		const { sandbox, clock, substitution } = player;
		const place = { conversationId, role, content };
		substitution.learn(recorded, addMessage({ store: sandbox.store, clock }, place).id);
	},
	/** Lets time pass until every document that was queued has been processed. */
	allIsProcessed: async ({ sandbox, clock }) => {
		const isWaiting = () => [...sandbox.store.processing.values()].some(({ end }) => !end);
		while (isWaiting()) await clock.advance(100);
	},
};

/** Lets time pass until no run is under way, but for those that never end. */
export async function untilAllRan({ sandbox, clock }: Player): Promise<void> {
	const isUnderWay = (run: (typeof sandbox.store.runs)[number]) =>
		run.status === 'running' && run.assistantId !== null;
	while (sandbox.store.runs.some(isUnderWay)) await clock.advance(10);
}

export async function happen(player: Player, [what, ...of]: Step): Promise<void> {
	const own = HAPPENINGS[what] as ((player: Player, ...of: unknown[]) => unknown) | undefined;
	const values = player.substitution.apply(of);
	if (own) await own(player, ...values);
	else put(player.sandbox, [what, ...values]);
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
