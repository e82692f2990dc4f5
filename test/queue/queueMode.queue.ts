import { groupBy, times, uniq } from 'lodash';

import { waitFor } from '../../host/waitFor';
import { derivedId } from '../../nodes/XpertAi/payloads/derivedId';
import { SAYING_ASSISTANT } from '../../sandbox';
import { chatTrigger, listen, published, SLOW, SLOW_ANSWER, twoNodes } from '../e2e/support/chat';
import { byId } from '../engine/support/locators';
import { overlap, runsOf } from '../engine/support/runs';
import {
	ASK_NODE,
	asking,
	ingestion,
	SUBMIT_NODE,
	timesStored,
	webhookTrigger,
	writeDocuments,
} from './support/ingestion';
import { expectStopped, pressStop } from './support/pressStop';
import { QueueMode } from './support/queueMode';
import type { Worker } from './support/worker';

const RUNS = 20;
const STARTED = 50;
const KEYS = 5;
const DOCUMENTS = 5_000;
const MINUTE_MS = 60_000;

const queue = new QueueMode();
const { harness } = queue;

beforeAll(async () => await queue.start(), 240_000);
afterAll(async () => await queue.end(), 60_000);
afterEach(() => harness.sandbox.faults.clear());

describe('runs that nobody waits for', () => {
	it('hold no worker: fifty are started while the first still goes on, and all are answered', async () => {
		const workflow = asking({ trigger: webhookTrigger('fifty'), operation: 'start' });
		const credential = await harness.createCredential();
		const workflowId = await harness.importWorkflow(workflow, credential);
		await harness.activate(workflowId);
		harness.sandbox.faults.add({ endpoint: 'runs', do: 'run', ms: MINUTE_MS, text: 'Here I am' });
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
		const isAnswered = async () => runs.every(({ status }) => status === 'success') || undefined;
		await waitFor('the answers', isAnswered, { timeoutMs: 3 * MINUTE_MS });
	});
});

describe('messages under the same key that come at once', () => {
	it('take turns on both workers: all are answered, and no message is lost', async () => {
		const { sandbox } = harness;
		sandbox.store.putAssistant(SAYING_ASSISTANT);
		const trigger = webhookTrigger('keyed');
		const parameters = {
			...{ threadSource: 'key', conversationKey: '={{ $json.body.key }}' },
			...{ assistantId: byId(SAYING_ASSISTANT.id), message: '={{ $json.body.message }}' },
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
			const threadId = derivedId(SAYING_ASSISTANT.id, key);
			const said = answers.filter((one) => one.threadId === threadId);
			// A run that was to give way and had begun to answer goes on to its end, marked as cancelled or not (recorded).
			const runs = runsOf(sandbox.store.runs, threadId).filter(({ id }) =>
				said.some(({ runId }) => runId === id),
			);
			expect(runs.map(({ text }) => text).sort()).toEqual(own.map(({ message }) => message).sort());
			expect(runs.slice(1).some((run, at) => overlap(run, runs[at] ?? run))).toBe(false);
			const { messages = [], lost = [] } = sandbox.store.threads.get(threadId) ?? {};
			expect(lost).toEqual([]);
			expect(messages).toHaveLength(2 * own.length);
			// Each answer is that of its own run, in the order that the list of runs confirms.
			for (const { runId, output } of said) {
				const at = runs.findIndex(({ id }) => id === runId);
				expect(output).toBe(`You said: ${runs[at]?.text} [users seen: ${at + 1}]`);
			}
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
