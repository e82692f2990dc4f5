import { groupBy, uniqBy } from 'lodash';
import { FakeClock, startSandbox, type FaultRule, type Sandbox } from '../../sandbox';
import { OWNER } from '../../sandbox/entities';
import { clientFor } from './support/client';
import { NOT_SENT } from './support/notReproduced';
import { LOOKED_INTO, RECORDED_LATER, RECORDED_WORKSPACE } from './support/recordedServers';
import { sequence, sequences, type SequenceExchange } from './support/recordings';
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
	'tool-calls',
	'answers-in-parts',
	'chatSession',
	'knowledge',
	'file-context-parsing',
];

/** The copilots whose embedding models the recorded knowledgebases have, and how long processing took. */
const COPILOTS = ['f527aa6c-301b-4e2a-a82d-81ac9cf295b4', 'c37bd141-8e7a-49b2-9684-170578645a8d'];
const MODEL = 'f0000000-0000-4000-8000-000000000001';
const PROCESS_MS: Record<string, number> = {
	'replaced-while-processing': 8000,
	'disabled-while-processing': 8000,
	'files-processed': 1500,
	knowledge: 500,
};

/** How long a run takes that nothing makes slow, in milliseconds. */
const RUN_MS: Record<string, number> = {
	background: 250,
	turns: 250,
	streams: 2000,
	'answers-in-parts': 1000,
};

/** How long it took to embed a knowledgebase anew. */
const REBUILD_MS: Record<string, number> = { knowledge: 22_000 };

/** Recorded where no embedding model is set for what assistants remember. */
const WITHOUT_MODEL = ['chatSession', 'memory', 'file-context-parsing'];

/** What was looked at sooner than the recording says, in milliseconds, as the server was slow to begin. */
const SOONER: Record<string, Record<string, number>> = {
	'files-processed': { 'status right after': 3040 },
};

/** What was on the server before: conversations that a search lists come as they were then, oldest request last. */
const BEFORE: Record<string, (sandbox: Sandbox, exchanges: SequenceExchange[]) => void> = {
	knowledge: uploadedBefore,
	'tool-calls': ({ store }) => {
		store.putKnowledgebase({ id: LOOKED_INTO, name: 'Knowledge', copilotModelId: MODEL });
	},
	'conversations-search-operators': ({ store }, exchanges) => {
		const listed = exchanges.flatMap(({ response }) =>
			'body' in response ? ((response.body as { items?: Listed[] }).items ?? []) : [],
		);
		const all = exchanges.find(({ label }) => label === '$gte what is no date');
		const first =
			all && 'body' in all.response ? (all.response.body as { items: Listed[] }) : undefined;
		for (const item of [...(first?.items ?? []), ...listed]) store.putConversation(item);
	},
	'file-context-parsing': ({ store }, exchanges) => {
		for (const { request } of exchanges) {
			const [, threadId] = /threads\/([^/]+)/.exec(request.path) ?? [];
			if (threadId) store.putConversation({ threadId });
		}
	},
	sources: (sandbox) => foundBefore(sandbox, 'sources'),
	conversations: (sandbox, exchanges) => {
		foundBefore(sandbox, 'conversations');
		const { store } = sandbox;
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

/** The documents in which something was found, as they were processed before. */
function foundBefore({ store, url }: Sandbox, recording: string): void {
	const found = foundIn(sequence(recording));
	for (const [documentId, chunks] of Object.entries(groupBy(found, 'documentId'))) {
		const { knowledgebaseId, documentName: name, fileUrl } = chunks[0] ?? {};
		const document = store.putDocument({
			id: documentId,
			knowledgebaseId: String(knowledgebaseId),
			name,
			fileUrl: String(fileUrl).replace('{base_url}', url),
			category: 'text',
		});
		const texts = uniqBy(chunks, 'chunkId').map(({ content }) => String(content));
		store.putFindable(document, texts);
	}
}

/** The passages in what the tools of a recording have answered. */
function foundIn(exchanges: SequenceExchange[]): Listed[] {
	const threads = exchanges.flatMap(({ endpoint, response }) =>
		endpoint === 'E15' && 'body' in response ? [response.body as { values?: Values }] : [],
	);
	const messages = threads.flatMap(({ values }) => values?.messages ?? []);
	const looks = messages.filter(({ name }) => String(name).startsWith('retriever-'));
	return looks.flatMap(({ content }) => (JSON.parse(String(content)) as Found).chunks);
}

interface Values {
	messages: Listed[];
}
interface Found {
	chunks: Listed[];
}

/** When the embedding model of `knowledge` began to fail, and when it worked again. */
function embedding({ store }: Sandbox, { sequence: name, label, atMs }: SequenceExchange): void {
	const failsOnTheWay = name === 'a rebuild that fails on the way' && atMs === 2760;
	if (failsOnTheWay || label === 'change to a model that fails') {
		store.embeddingError = '400 The model is overloaded';
	} else if (label.endsWith('now it works')) store.embeddingError = null;
}

/** Files that documents have and whose upload was not recorded, with a text of their length. */
function uploadedBefore({ store }: Sandbox, exchanges: SequenceExchange[]): void {
	const sent = exchanges.flatMap(({ request: { body } }) => (Array.isArray(body) ? body : []));
	for (const { storageFileId: id, fileUrl, name, size } of sent as Listed[]) {
		if (typeof id !== 'string' || isUploaded(exchanges, id)) continue;
		const file = String(fileUrl).replace(/^.*\/(?=[^/]*$)/, `files/${OWNER.tenantId}/`);
		const head = Buffer.from(`${String(name)} `.padEnd(Number(size), 'a word '));
		const fields = {
			id,
			file,
			originalName: String(name),
			size: head.length,
			url: String(fileUrl),
		};
		store.putFile(fields, { size: head.length, head });
	}
}

const isUploaded = (exchanges: SequenceExchange[], id: string): boolean =>
	exchanges.some(
		({ endpoint, response }) =>
			endpoint === 'E16' && 'body' in response && (response.body as Listed).id === id,
	);

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
				rebuildMs: REBUILD_MS[name],
				embeddingModel: !WITHOUT_MODEL.includes(name),
				clock,
			});
			COPILOTS.forEach((id) => sandbox.store.copilots.add(id));
			sandbox.store.workspaces.add(RECORDED_WORKSPACE);
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
			const before = (one: SequenceExchange) => embedding(sandbox, one);
			await playInTime(new Player(timed, sandbox, clientFor(sandbox), clock, before));
		},
	);
});
