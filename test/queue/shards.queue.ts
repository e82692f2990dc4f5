import { countBy, difference, sumBy, times, uniqBy } from 'lodash';

import { PLACEHOLDERS, type WorkflowFile } from '../../host/examples';
import { waitFor } from '../../host/waitFor';
import { COPILOT_ID } from '../../sandbox';
import { exampleOnCall, exampleWith } from '../e2e/support/examples';
import type { Execution } from '../e2e/support/execution';
import { isNote } from '../engine/support/ingest';
import { timesStored } from './support/ingestion';
import { QueueMode } from './support/queueMode';

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

const DOCUMENTS = 400;

/** What an upload takes on the server, so that a night is long enough to be cut off. */
const UPLOAD_MS = Number(process.env.UPLOAD_MS ?? 100);

/** So many uploads, and a night is in its middle. */
const MIDDLE = DOCUMENTS / 4;

/** One for the round, two for shards. */
const AT_ONCE = 3;

/** A worker reads a whole shard before it speaks again, which takes a while on a busy machine. */
const SILENCE_MS = 15_000;

const queue = new QueueMode(AT_ONCE, SILENCE_MS);
const { harness } = queue;

beforeAll(async () => await queue.start(), 240_000);
afterAll(async () => await queue.end(), 60_000);

describe('the examples that shard a source', () => {
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
		const underWay = async () => uploads() > before + MIDDLE || undefined;
		await waitFor('a part of the documents', underWay, { everyMs: 20 });
	};
	/** A night until its end, and how many shards each worker ran of it. */
	const night = async (text: string, within?: (id: string) => Promise<void>) => {
		const began = queue.workers.map(({ executions }) => executions);
		const beganAt = Date.now();
		const id = await begin(text);
		await within?.(id);
		const execution = await harness.execution(id, 300_000);
		if (process.env.SHOW_TIMES) process.stderr.write(`${text}: ${Date.now() - beganAt} ms\n`);
		const shards = queue.workers.map(
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
		const shard = oneShard(knowledgebaseId, DOCUMENTS);
		await harness.activate(await harness.importWorkflow(shard, credential));
		roundId = await harness.importWorkflow(round(), credential);
		await harness.activate(roundId);
		harness.sandbox.faults.add({ endpoint: 'E16', do: 'delay', ms: UPLOAD_MS });
	});

	it('give a shard to each worker, and every document to one shard', async () => {
		const { execution, shards } = await night('first words');
		expect(counts(execution)).toEqual({ shards: SHARDS, stored: DOCUMENTS, unchanged: 0 });
		expect(sumBy(shards)).toBe(SHARDS);
		expect(Math.min(...shards)).toBeGreaterThan(0);
		expect(timesStored(stored())).toEqual({ once: DOCUMENTS });
		expect(findable('first words')).toBe(DOCUMENTS);
	});

	it('find everything unchanged in the next night: each shard remembers its own', async () => {
		const before = uploads();
		const { execution } = await night('first words');
		expect(counts(execution)).toEqual({ shards: SHARDS, stored: 0, unchanged: DOCUMENTS });
		expect(uploads()).toBe(before);
		expect(stored().filter(({ disabled }) => disabled)).toEqual([]);
	});

	it('replace everything in a night in which everything has changed', async () => {
		const { execution } = await night('second words');
		expect(counts(execution)).toEqual({ shards: SHARDS, stored: DOCUMENTS, unchanged: 0 });
		expect(timesStored(stored())).toEqual({ once: DOCUMENTS });
		expect(findable('second words')).toBe(DOCUMENTS);
	});

	it('when a shard is called twice at once, send each document once: one call works, the other says so', async () => {
		harness.sandbox.requests.clear();
		const shard = { shard: 1, shards: SHARDS, text: 'words of the day' };
		const answers = await Promise.all(
			times(2, async () => await harness.callWebhook('xpert-ai-shard', shard)),
		);
		// One that has waited until the other had ended finds everything unchanged.
		expect(answers.map(({ status }) => status)).toContain(200);
		const sent = harness.sandbox.requests
			.of('E3')
			.flatMap(({ body }) => body as Array<{ id: string; name: string }>)
			.filter((row) => !isNote(row));
		expect(sent.length).toBeGreaterThan(0);
		expect(uniqBy(sent, 'id')).toHaveLength(sent.length);
		expect(timesStored(stored())).toEqual({ once: DOCUMENTS });
		expect(findable('words of the day')).toBeGreaterThan(0);
		expect(findable('words of the day') + findable('second words')).toBe(DOCUMENTS);
	});

	it('lose and double nothing when a worker is killed in mid-night: its shards are run once more', async () => {
		const { execution } = await night('third words', async (id) => {
			await middle();
			await queue.workers.find((worker) => worker !== queue.workerOf(id))?.kill();
		});
		expect(execution.status).toBe('success');
		const brokenOff = execution.items('Run Again').length;
		expect(brokenOff).toBeGreaterThan(0);
		expect(counts(execution).shards).toBe(SHARDS);
		expect(execution.nodes).not.toContain('Not All Stored');
		expect(countBy(stored(), ({ disabled }) => disabled === true)).toEqual({ false: DOCUMENTS });
		expect(timesStored(stored())).toEqual({ once: DOCUMENTS });
		expect(findable('third words')).toBe(DOCUMENTS);
	}, 360_000);

	it('are done by the one worker that is left', async () => {
		const { execution, shards } = await night('fourth words');
		expect(counts(execution)).toEqual({ shards: SHARDS, stored: DOCUMENTS, unchanged: 0 });
		expect(shards.filter((count) => count > 0)).toEqual([SHARDS]);
		expect(timesStored(stored())).toEqual({ once: DOCUMENTS });
	});

	it('are mended by the next night when all workers are killed, that of the round among them', async () => {
		await begin('fifth words');
		await middle();
		await Promise.all(queue.workers.map(async (worker) => await worker.kill()));
		await queue.startWorker('worker-3');
		const { execution } = await night('fifth words');
		expect(counts(execution).shards).toBe(SHARDS);
		expect(timesStored(stored())).toEqual({ once: DOCUMENTS });
		expect(findable('fifth words')).toBe(DOCUMENTS);
	}, 300_000);
});
