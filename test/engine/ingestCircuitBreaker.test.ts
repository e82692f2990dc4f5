import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { answering } from './support/faults';
import type { NodeResult } from './support/engine';
import {
	BY_NAME,
	TEXTS,
	embedsDocuments,
	ending,
	hintsOf,
	useIngest,
	rows,
} from './support/ingest';

const { fixture, add, submit, storedNames, batchSizes, sent } = useIngest({ embeds: false });

const COUNT = 100;

/** Storing takes the server so long that a run looks meanwhile whether documents are found. */
beforeEach(() => void add({ endpoint: 'E3', do: 'delay', ms: 5000 }));

const texts = (count = COUNT) => rows(count, (index) => ({ text: `The word is ${index}.` }));
const tuning = (more: INodeParameters = {}) => ({ batchSize: 10, concurrency: 1, ...more });
const night = async (
	items: INodeExecutionData[],
	{ tuning: more, ...parameters }: INodeParameters = {},
	onError: 'continueErrorOutput' | 'stopWorkflow' = 'continueErrorOutput',
) =>
	await submit(
		{
			...TEXTS,
			mode: 'mirror',
			maxGonePercent: 100,
			...parameters,
			tuning: tuning({ stopAfterFailures: 5, ...(more as INodeParameters) }),
		},
		{ items, onError },
	);
const details = ({ outputs }: NodeResult) =>
	(outputs[1] ?? []).map(({ json }) => json.details as IDataObject);
const withOutcome = (result: NodeResult, outcome: string) =>
	details(result).filter((facts) => facts.outcome === outcome);
const NO_MODEL = 'Embedding model not set';

describe('documents that cannot be processed, one after another for the same reason', () => {
	it('end the sending while it goes on, which is told once; what was not sent comes out as such', async () => {
		const result = await night(texts());
		const failed = withOutcome(result, 'stored');
		const left = withOutcome(result, 'notSent');
		expect(failed).toHaveLength(storedNames().length);
		expect(failed.length + left.length).toBe(COUNT);
		expect(failed.every(({ processing }) => processing === 'error')).toBe(true);
		expect(left.at(-1)).toMatchObject({ name: `doc ${COUNT - 1}.md`, key: `doc ${COUNT - 1}` });
		expect(result.outputs[1]?.at(-1)?.json.error).toBe(
			'Not sent: too many documents before it failed for the same reason',
		);
		const [said = '', ...more] = hintsOf(result).filter((hint) => hint.includes(NO_MODEL));
		const words = `${left.length} documents were not sent, as none would be found: `;
		expect([said.slice(0, words.length), said.length <= 120, more]).toEqual([words, true, []]);
	});

	it('end the workflow with the reason and the count', async () => {
		const { error } = await night(texts(), {}, 'stopWorkflow');
		expect(error?.message).toMatch(/^\d+ documents are stored but not found: /);
		expect(error?.description).toContain(NO_MODEL);
		expect(error?.description).toMatch(
			/\d+ documents were not sent, as none would be found: Embedding model not set/,
		);
		expect(storedNames().length).toBeLessThan(COUNT);
	});

	it('leave the next knowledgebase as it is', async () => {
		const other = fixture.sandbox.store.putKnowledgebase({ name: 'other' }).id;
		const [first, second] = [fixture.world.knowledgebaseId, other].map((id) =>
			texts().map(({ json }) => ({ json: { ...json, id } })),
		);
		const result = await night([...(first ?? []), ...(second ?? [])], {
			knowledgebaseId: '={{ $json.id }}',
		});
		expect(withOutcome(result, 'notSent')).toHaveLength(2 * COUNT - storedNames().length);
		expect(sent().filter(({ path }) => path.includes(other))).toEqual([]);
	});
});

describe('the first batch', () => {
	it('has ten documents, whose end is asked for while others are uploaded', async () => {
		add({ endpoint: 'E16', do: 'delay', ms: 5000 });
		await night(texts(), { tuning: { batchSize: 100, concurrency: 5, stopAfterFailures: 0 } });
		expect(batchSizes()).toEqual([10, 90]);
		const order = sent().map(({ endpoint }) => endpoint);
		const last = order.lastIndexOf('E16');
		expect(order.indexOf('process')).toBeLessThan(last);
		expect(order.indexOf('status', order.indexOf('process'))).toBeLessThan(last);
	});
});

describe('documents that come to nothing for another reason', () => {
	embedsDocuments(fixture);

	it('are told with how many were enough', async () => {
		const result = await submit(
			{ ...BY_NAME, afterStoring: 'wait', tuning: tuning({ stopAfterFailures: 5 }) },
			{
				items: rows(400, () => ending('error', 10, 'No text found')),
				onError: 'continueErrorOutput',
			},
		);
		expect(storedNames().length).toBeLessThan(400);
		expect(hintsOf(result)).toContainEqual(
			expect.stringMatching(/^\d+ documents were not sent, as 5 in a row failed: No text/),
		);
	});
});

describe('documents that are refused', () => {
	embedsDocuments(fixture);

	it.each([
		['uploading', 'E16'],
		['storing', 'E3'],
	])('do not end the sending where others are taken in between: %s', async (_, endpoint) => {
		add(answering(endpoint, 403, { nth: [1, 3, 5, 7, 9, 11, 13, 15, 17, 19] }));
		const result = await submit(
			{ ...TEXTS, tuning: tuning({ batchSize: 1, stopAfterFailures: 5 }) },
			{ items: texts(20), onError: 'continueErrorOutput' },
		);
		expect(withOutcome(result, 'rejected')).toHaveLength(10);
		expect(result.outputs[0]).toHaveLength(10);
	});

	it.each([
		['uploaded', 'E16'],
		['stored', 'E3'],
		['processed', 'process'],
	])('to be %s end the sending', async (_, endpoint) => {
		add(answering(endpoint, 403));
		const result = await night(texts(), { mode: 'all' });
		const left = withOutcome(result, 'notSent').length;
		expect(left).toBeGreaterThan(COUNT / 2);
		expect(hintsOf(result)).toContainEqual(expect.stringContaining('This key may not do this: no'));
		expect(fixture.sandbox.requests.of('E16').length).toBeLessThan(COUNT);
	});
});
