import { countBy, difference, groupBy, map, sumBy, times, uniq } from 'lodash';

import { PLACEHOLDERS, type WorkflowFile } from '../../host/examples';
import { waitFor } from '../../host/waitFor';
import { COPILOT_ID, SAYING_ASSISTANT } from '../../sandbox';
import { chatTrigger, listen, published, SLOW, SLOW_ANSWER, twoNodes } from '../e2e/support/chat';
import { exampleOnCall, exampleWith } from '../e2e/support/examples';
import type { Execution } from '../e2e/support/execution';
import { isNote } from '../engine/support/ingest';
import { byId } from '../engine/support/locators';
import {
	ASK_NODE,
	asking,
	ingestion,
	SUBMIT_NODE,
	timesStored,
	webhookTrigger,
	writeDocuments,
} from './support/ingestion';
import { pressStop } from './support/pressStop';
import { QueueMode } from './support/queueMode';
import type { Worker } from './support/worker';

const RUNS = 24;
const STARTED = 50;
const KEYS = 12;
const DOCUMENTS = 5_000;
const MINUTE_MS = 60_000;

const SHARDS = 4;

const ROUND = 'large-source-in-shards.json';
const ROUND_PATH = 'tonight';

/**
 * The example that calls the shards, begun by a webhook in place of its schedule. Its body says what the
 * source holds that night, which goes on to each shard.
 */
function round(): WorkflowFile {
	const example = exampleOnCall(ROUND, 'Every Night', ROUND_PATH);
	const text = "text: $('Every Night').first().json.body.text";
	const code = JSON.stringify(example.nodes).replace(
		'json: { shard, shards }',
		`json: { shard, shards, ${text} }`,
	);
	const nodes = (JSON.parse(code) as WorkflowFile['nodes']).map((node) =>
		node.name === 'Every Night'
			? {
					...node,
					parameters: { httpMethod: 'POST', path: ROUND_PATH, responseMode: 'onReceived' },
				}
			: node,
	);
	return { ...example, nodes };
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

const queue = new QueueMode();
const { harness } = queue;

beforeAll(async () => await queue.start(), 240_000);
afterAll(async () => await queue.end(), 60_000);
afterEach(() => harness.sandbox.faults.clear());

describe('runs that nobody waits for', () => {
	it('hold no worker: fifty are started while the first still goes on', async () => {
		const workflow = asking({ trigger: webhookTrigger('fifty'), operation: 'start' });
		const credential = await harness.createCredential();
		const workflowId = await harness.importWorkflow(workflow, credential);
		await harness.activate(workflowId);
		harness.sandbox.faults.add({ endpoint: 'runs', do: 'run', ms: 60 * MINUTE_MS });
		await Promise.all(times(STARTED, async () => await harness.callWebhook('fifty')));

		const begun = await waitFor('the executions', async () => {
			const ids = await harness.host.rest.listExecutions(workflowId);
			return ids.length >= STARTED ? ids : undefined;
		});
		const executions = await Promise.all(begun.map(async (id) => await harness.execution(id)));
		const started = executions.flatMap((execution) => execution.json(ASK_NODE));
		expect(started.map(({ status }) => status)).toEqual(times(STARTED, () => 'running'));
		const runs = harness.sandbox.store.runs.filter(({ id }) =>
			started.some(({ runId }) => runId === id),
		);
		// Had an execution waited for its run, workers with room for a few would not be done with all of them.
		expect(runs.map(({ status }) => status)).toEqual(times(STARTED, () => 'running'));
	});
});

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
		const workflowId = await harness.importWorkflow(asking({ trigger, parameters }), credential);
		await harness.activate(workflowId);
		// On a busy machine requests take seconds, and runs that are shorter than these meet.
		sandbox.faults.add({ endpoint: 'runs', do: 'run', ms: 8_000 });
		const calls = times(RUNS, (n) => ({ key: `person ${n % KEYS}`, message: `message ${n}` }));
		await Promise.all(calls.map(async (call) => await harness.callWebhook('keyed', call)));

		const ended = await waitFor(
			'the answers',
			async () => {
				const ids = await harness.host.rest.listExecutions(workflowId);
				const all = await Promise.all(ids.map(async (id) => await harness.execution(id, 240_000)));
				return all.length >= RUNS ? all : undefined;
			},
			{ timeoutMs: 4 * MINUTE_MS },
		);
		expect(ended.flatMap(({ error }) => error?.message ?? [])).toEqual([]);
		const answers = ended.flatMap((execution) => execution.json(ASK_NODE));
		expect(answers.map(({ status }) => status)).toEqual(times(RUNS, () => 'completed'));
		expect(answers.filter(({ remembered }) => remembered === false)).toEqual([]);
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

describe('an ingestion on a worker', () => {
	let knowledgebaseId: string;
	let workflowId: string;
	let killed: Worker;

	const stored = () => harness.sandbox.store.documentsOf(knowledgebaseId);

	const arrived = () => harness.sandbox.requests.of('E3').length;

	beforeAll(async () => {
		writeDocuments(harness.host.documents, DOCUMENTS);
		knowledgebaseId = harness.sandbox.store.putKnowledgebase({ name: 'Queued' }).id;
		const credential = await harness.createCredential();
		const workflow = ingestion(webhookTrigger('bulk'), knowledgebaseId);
		workflowId = await harness.importWorkflow(workflow, credential);
		await harness.activate(workflowId);
	});

	/** Triggers the ingestion against a slow server. */
	const start = async () => {
		harness.sandbox.faults.add({ endpoint: 'E3', do: 'delay', ms: 100 });
		await harness.callWebhook('bulk');
		const newest = async () => (await harness.host.rest.listExecutions(workflowId))[0];
		return await waitFor('the execution', newest);
	};

	it('ends when Stop is pressed in the main n8n, and sends nothing more', async () => {
		const id = await start();
		const seen = await pressStop(harness, id, () => stored().length >= 500);
		expect(seen).toEqual({ status: 'canceled', late: [] });
		expect(queue.workerOf(id)).toBeDefined();
		expect(stored().length).toBeLessThan(DOCUMENTS);
	});

	it('fails when the worker is killed; n8n says so and gives it to no other worker', async () => {
		const already = arrived();
		const id = await start();
		const halfway = async () => arrived() > already + 20 || undefined;
		await waitFor('a part of the documents', halfway, { everyMs: 20 });
		killed = await waitFor('the log of its worker', async () => queue.workerOf(id));
		await killed.kill();
		const sent = arrived();

		const { status, error } = await harness.execution(id, 120_000);
		expect({ status, error: error?.message }).toEqual({
			status: 'error',
			error: expect.stringContaining('failed to be processed too many times'),
		});
		// One that was on its way may have arrived.
		expect(arrived()).toBeLessThanOrEqual(sent + 5);
		expect(queue.workers.filter(({ executions }) => executions.includes(id))).toEqual([killed]);
		expect(stored().length).toBeLessThan(DOCUMENTS);
		expect(timesStored(stored())).toEqual({ once: stored().length });
	});

	it('is made good by the next run on the other worker, which doubles nothing', async () => {
		await harness.callWebhook('bulk');
		const all = async () => stored().length >= DOCUMENTS || undefined;
		await waitFor('all documents', all, { everyMs: 100 });

		const execution = await harness.latestExecution(workflowId);
		const other = queue.workers.find((worker) => worker !== killed);
		expect(queue.workerOf(execution.id)).toBe(other);
		expect(execution.status).toBe('success');
		expect(execution.json(SUBMIT_NODE)).toEqual([
			expect.objectContaining({ documents: DOCUMENTS, stored: DOCUMENTS, failed: [] }),
		]);
		expect(timesStored(stored())).toEqual({ once: DOCUMENTS });
	});
});

describe('the examples that shard a source', () => {
	beforeAll(async () => await queue.startWorker('worker-3'), 120_000);

	let knowledgebaseId: string;
	let roundId: string;

	const stored = () =>
		harness.sandbox.store.documentsOf(knowledgebaseId).filter((document) => !isNote(document));
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
		const execution = await harness.execution(id, 300_000);
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
		expect(timesStored(stored())).toEqual({ once: SHARDED });
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
		expect(timesStored(stored())).toEqual({ once: SHARDED });
		expect(findable('third words')).toBe(SHARDED);
	}, 360_000);

	it('are mended by the next night when all workers are killed, that of the round among them', async () => {
		await begin('fifth words');
		await middle();
		await Promise.all(queue.workers.map(async (worker) => await worker.kill()));
		await queue.startWorker('worker-4');
		const { execution } = await night('fifth words');
		expect(counts(execution).shards).toBe(SHARDS);
		expect(timesStored(stored())).toEqual({ once: SHARDED });
		expect(findable('fifth words')).toBe(SHARDED);
	}, 300_000);
});
