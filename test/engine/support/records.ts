import { mapValues } from 'lodash';

import { ECHO_ASSISTANT_ID, INTERRUPTING_INPUT, type Sandbox } from '../../../sandbox';

/** An ID as servers give them. */
export const ID = '2f78e81b-096f-42ff-8ac0-8403fd81392d';

/** A sandbox, and the records that are on it by now. */
interface Made {
	sandbox: Sandbox;
	/** Sends a body, and gives the first record of the answer. */
	post: (path: string, body: FormData | object) => Promise<Record<string, string>>;
	world: Record<string, string>;
}

type Make = (made: Made) => Promise<string | undefined> | string | undefined;

/** Says something to the echoing assistant. */
const asked = (input: string) => ({
	assistant_id: ECHO_ASSISTANT_ID,
	input: { action: 'send', message: { input: { input } } },
});

/** The ID of a new conversation's thread. */
const threadOf = async ({ post }: Made, title: string) =>
	String((await post('/conversations', { title })).threadId);

const conversationOf = ({ sandbox }: Made, threadId: string | undefined) =>
	[...sandbox.store.conversations.values()].find((one) => one.threadId === threadId)?.id;

const runOf = ({ sandbox }: Made, threadId: string | undefined) =>
	sandbox.store.runs.find((one) => one.threadId === threadId)?.id;

/**
 * The records that cases need, by the names they call them, and how each comes to be on a fresh sandbox, in this order.
 * Where the sandbox has no such records, any ID is one: `() => ID`.
 */
const RECORDS = {
	knowledgebaseId: async ({ post }) =>
		(await post('/knowledges', { name: 'Existing', description: 'Old' })).id,
	threadId: async (made) => await threadOf(made, 'T'),
	/** A thread that has run and can be read, its conversation, the message that answers in it, and its run. */
	ranThreadId: async (made) => await ranThread(made, 'T ran', 'hi'),
	conversationId: (made) => conversationOf(made, made.world.ranThreadId),
	answerId: ({ sandbox, world }) =>
		sandbox.store.messages.find(
			(one) => one.conversationId === world.conversationId && one.role === 'ai',
		)?.id,
	ranRunId: (made) => runOf(made, made.world.ranThreadId),
	/** A conversation in which nothing has run: servers delete no other that has run twice. */
	unusedConversationId: async ({ post }) =>
		(await post('/conversations', { title: 'T unused' })).id,
	/** A thread on which a run goes on, and that run. */
	busyThreadId: async (made) => await threadOf(made, 'T runs'),
	busyRunId: async ({ post, sandbox, world }) => {
		sandbox.faults.add({ endpoint: 'runs', do: 'run', ms: 60_000 });
		const run = await post(`/threads/${world.busyThreadId}/runs`, asked('hi'));
		sandbox.faults.clear();
		return run.run_id;
	},
	/** A thread whose run waits for a person, and that run. */
	waitingThreadId: async (made) => await ranThread(made, 'T waits', INTERRUPTING_INPUT),
	waitingRunId: (made) => runOf(made, made.world.waitingThreadId),
	/** A file, and the context it belongs to. */
	storageFileId: async ({ post }) => {
		const form = new FormData();
		form.append('file', new Blob(['hello world']), 'hello.txt');
		return (await post('/contexts/file', form)).storageFileId;
	},
	fileContextId: ({ sandbox, world }) =>
		sandbox.store.contexts.get(String(world.storageFileId))?.id,
	/** A knowledgebase with one document in it. */
	filledKnowledgebaseId: async ({ post }) => (await post('/knowledges', { name: 'Filled' })).id,
	documentId: async ({ post, world }) =>
		(await post(`/knowledges/${world.filledKnowledgebaseId}/bulk`, [{ name: 'guide.md' }])).id,
	assistantId: () => ECHO_ASSISTANT_ID,
} satisfies Record<string, Make>;

/** The ID of a thread on which something was said, and answered. */
async function ranThread(made: Made, title: string, input: string): Promise<string> {
	const threadId = await threadOf(made, title);
	await made.post(`/threads/${threadId}/runs/wait`, asked(input));
	return threadId;
}

/** Records that exist on the sandbox before an operation runs, by their names. */
export type World = Record<keyof typeof RECORDS, string>;

/** The records of a server on which every ID is the same. */
export const ONE_RECORD: World = {
	...mapValues(RECORDS, () => ID),
	assistantId: ECHO_ASSISTANT_ID,
};

/** Puts the records the cases need on a fresh sandbox. */
export async function createWorld(sandbox: Sandbox): Promise<World> {
	const world: Record<string, string> = {};
	const post: Made['post'] = async (path, body) => {
		const answer = await sandbox.post(`/api/ai${path}`, body);
		return (Array.isArray(answer) ? answer[0] : answer) as Record<string, string>;
	};
	for (const [name, make] of Object.entries<Make>(RECORDS)) {
		const id = await make({ sandbox, post, world });
		if (!id) throw new Error(`records.ts: nothing was made for ${name}`);
		world[name] = id;
	}
	sandbox.requests.clear();
	return world as World;
}
