import { countBy, difference, groupBy, map, sumBy, times, uniq } from 'lodash';

import { PLACEHOLDERS, type WorkflowFile } from 'host/examples';
import { waitFor } from 'host/waitFor';
import { COPILOT_ID, SAYING_ASSISTANT } from 'sandbox';
import { chatTrigger, listen, published, SLOW, SLOW_ANSWER, twoNodes } from '../e2e/support/chat';
import { exampleOnCall, exampleWith } from '../e2e/support/examples';
import type { Execution } from '../e2e/support/execution';
import { isNote } from '../engine/support/ingest';
import { byId } from '../engine/support/locators';
import { ASK_NODE, asking, ingestion, webhookTrigger, writeDocuments } from './support/ingestion';
import { pressStop } from './support/pressStop';
import { QueueMode } from './support/queueMode';

const RUNS = 24;
const KEYS = 12;
const DOCUMENTS = 5_000;

const SHARDS = 4;

const ROUND = 'large-source-in-shards.json';
const ROUND_PATH = 'tonight';

/**
 * The example that calls the shards, begun by a webhook in place of its schedule. Its body says what the
 * source holds that night, which goes on to each shard.
 */
function round(): WorkflowFile {
	const example = exampleOnCall(ROUND, 'Every Night', ROUND_PATH, 'onReceived');
	const given = "{ shard, shards, text: $('Every Night').first().json.body.text }";
	return JSON.parse(JSON.stringify(example).replace('{ shard, shards }', given)) as WorkflowFile;
}

/** The example of one shard with a source of so many documents. */
function oneShard(knowledgebaseId: string, documents: number): WorkflowFile {
	const example = exampleWith('one-shard.json', 'Your Source', (node) => ({
		...node,
		parameters: {
			jsCode: [
				"const { text } = $('Shard Called').first().json.body;",
				`return Array.from({ length: ${documents} }, (_, row) => ({`,
				"json: { path: 'articles/' + row, title: 'Article ' + row, text: row + ': ' + text },",
				'}));',
			].join('\n'),
		},
	}));
	const filled = JSON.stringify(example).replaceAll(PLACEHOLDERS.knowledgebaseId, knowledgebaseId);
	return JSON.parse(filled) as WorkflowFile;
}

const SHARDED = 400;

/** What an upload takes on the server, so that a night is long enough to be cut off. */
const UPLOAD_MS = 100;

/** Many times what a request takes here: a worker that still sends would have sent again. */
const QUIET_MS = 3_000;

const queue = new QueueMode();
const { harness } = queue;

beforeAll(async () => await queue.start());
afterAll(async () => await queue.end());
afterEach(() => harness.sandbox.faults.clear());

describe('first messages under twelve keys that come at once', () => {
	it('take turns on both workers in one conversation a key: none is lost', async () => {
		const { sandbox } = harness;
		sandbox.store.putAssistant(SAYING_ASSISTANT);
		const trigger = webhookTrigger('keyed');
		const parameters = {
			threadSource: 'key',
			conversationKey: '={{ $json.body.key }}',
			assistantId: byId(SAYING_ASSISTANT.id),
			message: '={{ $json.body.message }}',
		};
		const credential = await harness.createCredential();
		const workflowId = await harness.importWorkflow(asking(parameters, trigger), credential);
		await harness.activate(workflowId);
		sandbox.faults.add({ endpoint: 'runs', do: 'run', ms: 1_000 });
		const calls = times(RUNS, (n) => ({ key: `person ${n % KEYS}`, message: `message ${n}` }));
		await Promise.all(calls.map(async (call) => await harness.callWebhook('keyed', call)));

		const ended = await waitFor('the answers', async () => {
			const ids = await harness.host.rest.listExecutions(workflowId);
			const all = await Promise.all(ids.map(async (id) => await harness.execution(id)));
			return all.length >= RUNS ? all : undefined;
		});
		expect(ended.flatMap(({ error }) => error?.message ?? [])).toEqual([]);
		const answers = ended.flatMap((execution) => execution.json(ASK_NODE));
		expect(answers.map(({ status }) => status)).toEqual(times(RUNS, () => 'completed'));
		expect(answers.filter(({ remembered }) => remembered === false)).toEqual([]);
		expect(sandbox.requests.of('cancel')).toEqual([]);
		expect(uniq(ended.map(({ id }) => queue.workerOf(id)))).toHaveLength(2);
		for (const [key, own] of Object.entries(groupBy(calls, 'key'))) {
			const isOwn = ({ output }: { output?: unknown }) =>
				own.some(({ message }) => String(output).startsWith(`You said: ${message} [`));
			const threads = uniq(map(answers.filter(isOwn), ({ threadId }) => String(threadId)));
			const { messages, lost } = sandbox.store.threads.get(threads[0] ?? '') ?? {};
			expect([key, threads.length, messages?.length, lost ?? []]).toEqual([
				key,
				1,
				2 * own.length,
				[],
			]);
		}
	});
});

describe('a chat', () => {
	it('has the first word while a worker still hears the answer, and each word once', async () => {
		const trigger = chatTrigger({ responseMode: 'streaming' });
		const path = await published(harness, twoNodes(trigger, '={{ $json.chatInput }}'));
		const { shown, stillWritten } = await listen(harness, path, SLOW);
		expect([shown, stillWritten]).toEqual([SLOW_ANSWER, true]);
	});
});

it('an ingestion on a worker ends when Stop is pressed in the main n8n, and sends nothing more', async () => {
	writeDocuments(harness.host.documents, DOCUMENTS);
	const { store, faults, requests } = harness.sandbox;
	const { id: knowledgebaseId } = store.putKnowledgebase({ name: 'Queued' });
	const stored = () => store.documentsOf(knowledgebaseId).length;
	const credential = await harness.createCredential();
	const workflow = ingestion(webhookTrigger('bulk'), knowledgebaseId);
	const workflowId = await harness.importWorkflow(workflow, credential);
	await harness.activate(workflowId);
	faults.add({ endpoint: 'E3', do: 'delay', ms: 100 });
	await harness.callWebhook('bulk');
	const newest = async () => (await harness.host.rest.listExecutions(workflowId))[0];
	const id = await waitFor('the execution', newest);
	// The main n8n says that it is canceled before the worker has been told; until then the worker sends on.
	let last = { requests: 0, at: 0 };
	const isQuiet = () => {
		const { length } = requests.all;
		if (length !== last.requests) last = { requests: length, at: Date.now() };
		return Date.now() - last.at > QUIET_MS;
	};
	const seen = await pressStop(harness, id, () => stored() >= 500, isQuiet);
	expect(seen).toEqual({ status: 'canceled', late: [] });
	expect(queue.workerOf(id)).toBeDefined();
	expect(stored()).toBeLessThan(DOCUMENTS);
});

describe('the examples that shard a source', () => {
	beforeAll(async () => await queue.startWorker('worker-3'));

	let knowledgebaseId: string;
	let roundId: string;

	const stored = () =>
		harness.sandbox.store.documentsOf(knowledgebaseId).filter((document) => !isNote(document));
	/** How many documents are there once, and how many more often, by their names. */
	const timesStored = () =>
		countBy(countBy(stored(), 'name'), (count) => (count === 1 ? 'once' : 'doubled'));
	const uploads = () => harness.sandbox.requests.of('E16').length;
	const findable = (text: string) =>
		stored().filter(({ id }) =>
			harness.sandbox.store.findable(String(id))?.chunks.join('\n').includes(text),
		).length;

	/** Begins a night in which the source holds this text, and says which execution it is. */
	const begin = async (text: string) => {
		const nights = async () => await harness.host.rest.listExecutions(roundId);
		const before = await nights();
		await harness.callWebhook(ROUND_PATH, { text });
		// Not the first of the list: n8n lists what runs, or seems to, before what waits in the queue.
		return await waitFor('the night', async () => difference(await nights(), before)[0]);
	};
	/** The middle of a night that has just begun. */
	const middle = async () => {
		const before = uploads();
		const underWay = async () => uploads() > before + SHARDED / 4 || undefined;
		await waitFor('a part of the documents', underWay, { everyMs: 20 });
	};
	/** A night until its end, and how many shards each worker ran of it. */
	const night = async (text: string, within?: (id: string) => Promise<void>) => {
		const workers = queue.workers.filter(({ runs }) => runs);
		const began = workers.map(({ executions }) => executions);
		const id = await begin(text);
		await within?.(id);
		const execution = await harness.execution(id);
		const shards = workers.map(
			({ executions }, worker) => difference(executions, began[worker] ?? [], [id]).length,
		);
		return { execution, shards };
	};
	/** The sums of all shards. */
	const counts = (execution: Execution, node = 'Stored') => {
		const results = execution.json(node) as Array<Record<string, number>>;
		const sum = (name: string) => sumBy(results, name);
		return {
			shards: results.length,
			stored: sum('found') + sum('stored'),
			unchanged: sum('unchanged'),
		};
	};

	beforeAll(async () => {
		const { store } = harness.sandbox;
		const knowledgebase = { name: 'Shards', copilotModelId: COPILOT_ID };
		knowledgebaseId = store.putKnowledgebase(knowledgebase).id;
		const credential = await harness.createCredential();
		const shard = oneShard(knowledgebaseId, SHARDED);
		await harness.activate(await harness.importWorkflow(shard, credential));
		roundId = await harness.importWorkflow(round(), credential);
		await harness.activate(roundId);
	});
	beforeEach(() => harness.sandbox.faults.add({ endpoint: 'E16', do: 'delay', ms: UPLOAD_MS }));

	it('give a shard to each worker, and every document to one shard', async () => {
		const { execution, shards } = await night('first words');
		expect(counts(execution)).toEqual({ shards: SHARDS, stored: SHARDED, unchanged: 0 });
		expect(sumBy(shards)).toBe(SHARDS);
		expect(Math.min(...shards)).toBeGreaterThan(0);
		expect(timesStored()).toEqual({ once: SHARDED });
		expect(findable('first words')).toBe(SHARDED);
	});

	it('lose and double nothing when a worker is killed in mid-night: its shards are run once more', async () => {
		const { execution } = await night('third words', async (id) => {
			await middle();
			await queue.workers.find((worker) => worker.runs && worker !== queue.workerOf(id))?.kill();
		});
		expect(execution.status).toBe('success');
		const brokenOff = execution.items('Run Again').length;
		expect(brokenOff).toBeGreaterThan(0);
		expect(counts(execution).shards).toBe(SHARDS);
		expect(execution.nodes).not.toContain('Not All Stored');
		expect(countBy(stored(), ({ disabled }) => disabled === true)).toEqual({ false: SHARDED });
		expect(timesStored()).toEqual({ once: SHARDED });
		expect(findable('third words')).toBe(SHARDED);
	});

	it('are mended by the next night when all workers are killed, that of the round among them', async () => {
		await begin('fifth words');
		await middle();
		await Promise.all(queue.workers.map(async (worker) => await worker.kill()));
		await queue.startWorker('worker-4');
		const { execution } = await night('fifth words');
		expect(counts(execution).shards).toBe(SHARDS);
		expect(timesStored()).toEqual({ once: SHARDED });
		expect(findable('fifth words')).toBe(SHARDED);
	});
});
