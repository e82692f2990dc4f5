import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mapValues } from 'lodash';
import type { AssistantSeed, Sandbox, SandboxOptions } from '../../../sandbox';
import type { Exchange } from './recordings';

/** From the exchange with this number on, a fresh sandbox with these options is used. */
interface Stage {
	from: number;
	options: SandboxOptions;
}

type Row = Record<string, unknown>;

/** What the servers of the endpoints' recordings had, and where one was made on more than one server. */
const KNOWN = JSON.parse(readFileSync(join(__dirname, 'endpoints.json'), 'utf8')) as {
	noAssistants: SandboxOptions;
	twoAssistants: AssistantSeed[];
	stages: Record<string, Array<[from: number, server: keyof typeof SERVERS]>>;
	/** Keys other than the plain one, where the label or the course of the recording says so. */
	keys: Record<string, string>;
	found: Record<
		string,
		{
			knowledgebases?: Array<Row & { name: string }>;
			documents?: Array<Row & { knowledgebaseId: string }>;
			conversations?: Row[];
			items?: Array<[prefix: string[], key: string, value: unknown]>;
		}
	>;
};

const SERVERS = {
	noAssistants: KNOWN.noAssistants,
	twoAssistants: { ...KNOWN.noAssistants, assistants: KNOWN.twoAssistants },
	noModel: { ...KNOWN.noAssistants, embeddingModel: false },
};

export const STAGES = mapValues(KNOWN.stages, (all) =>
	all.map(([from, server]): Stage => ({ from, options: SERVERS[server] })),
);

const UNKNOWN = ['11111111-1111-4111-8111-111111111111', '99999999-9999-4999-8999-999999999999'];

/** The ids that stand in the paths of an endpoint's exchanges, but for those recorded as unknown. */
const idsInPaths = (exchanges: Exchange[]) =>
	new Set(
		exchanges
			.flatMap(
				({ request }) => request.path.match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/) ?? [],
			)
			.filter((id) => !UNKNOWN.includes(id)),
	);

type Arrange = (sandbox: Sandbox, exchanges: Exchange[], from: number) => void;

const knowledgebases: Arrange = ({ store }, exchanges) => {
	for (const id of idsInPaths(exchanges))
		store.putKnowledgebase({ id, name: `Knowledgebase ${id}` });
};
const conversations: Arrange = ({ store }, exchanges) => {
	for (const threadId of idsInPaths(exchanges)) store.putConversation({ threadId });
};

/** What each endpoint's recordings found on the server. */
const FOUND: Record<string, Arrange> = {
	E03: knowledgebases,
	E04: (sandbox, exchanges, from) => {
		conversations(sandbox, exchanges, from);
		if (from === 0) return;
		// The thread of "retry after error": its first run failed.
		const threadId = '8fabf328-18dc-4d80-8f36-c4c495a38571';
		const { store } = sandbox;
		const echo = KNOWN.twoAssistants[1]?.id;
		const failed = { xpertId: echo, status: 'error', error: 'BOOM' };
		Object.assign(store.conversationOf(threadId) ?? {}, failed);
		store.putThread({ threadId, assistantId: echo, status: 'error', input: 'BOOM' });
	},
	E05: ({ store }, exchanges) => {
		const all = exchanges.find((one) => one.label === 'empty')?.response.body;
		for (const item of (all as { items: Array<Record<string, unknown>> }).items)
			store.putConversation(item);
	},
	E10: conversations,
	// The file context of "by storageFileId" has an id of its own that E14 does not take.
	E14: ({ store }, exchanges) => {
		const recorded = exchanges.find((one) => one.label === 'by storageFileId');
		const [, id = ''] = /file\/(.*)$/.exec(recorded?.request.path ?? '') ?? [];
		store.putFile({ id, originalName: 'hello.txt', size: 11, url: '' });
		store.contexts.set(id, { id: 'd5550000-0000-4000-8000-000000000000', storageFileId: id });
	},
	E15: conversations,
	E17: knowledgebases,
};

/** Puts onto the sandbox what an endpoint's recordings found on the server; items were on the first one. */
export function arrangeEndpoint(
	endpoint: string,
	from: number,
	sandbox: Sandbox,
	exchanges: Exchange[],
): void {
	const { store } = sandbox;
	const {
		knowledgebases: bases = [],
		documents = [],
		conversations: made = [],
		items = [],
	} = KNOWN.found[endpoint] ?? {};
	FOUND[endpoint]?.(sandbox, exchanges, from);
	bases.forEach((row) => store.putKnowledgebase(row));
	documents.forEach((row) => store.putDocument(row));
	made.forEach((row) => store.putConversation(row));
	if (from === 0) items.forEach((item) => store.putItem(...item));
}

/** The token an exchange was recorded with; undefined for none. Of the keys, E04 tells them apart. */
export function tokenOf(
	endpoint: string,
	index: number,
	{ label, auth }: Pick<Exchange, 'label' | 'auth'> = { label: '', auth: '' },
): string | undefined {
	if (auth === 'none') return undefined;
	const key = KNOWN.keys[`${endpoint} ${label}`];
	if (key !== undefined) return key;
	if (auth === 'wrong token' || label === 'garbage jwt') return 'wrong';
	if (auth === 'user JWT') return auth;
	// From "run legacy" on, the recordings of E04 were made with the key of the assistant "echo".
	return endpoint === 'E04' && index >= 25 && label !== 'plain key' ? 'echo' : 'plain';
}
