import fc from 'fast-check';
import { map, omit, range } from 'lodash';
import type { IExecuteFunctions } from 'n8n-workflow';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { submitFields } from 'nodes/XpertAi/operations/document/submit/fields';
import { readSubmitSettings } from 'nodes/XpertAi/operations/document/submit/settings';
import { SourceRun } from 'nodes/XpertAi/operations/document/submit/sourceRun';
import { Submission } from 'nodes/XpertAi/operations/document/submit/submission';
import { systemClock } from 'nodes/XpertAi/transport/clock';
import { itemOf, unconnected } from 'test/nodes/support/context';
import { parsing, type RawSend } from 'test/nodes/support/send';
import { PROPERTY_RUNS } from 'test/support/propertyRuns';

import { failed, succeeded } from '../../../ingest/support/outcomes';

/** Has polls due at once, and no wait take time. */
beforeEach(() => {
	let now = 0;
	jest.spyOn(systemClock, 'now').mockImplementation(() => (now += 1000));
	jest.spyOn(systemClock, 'sleep').mockImplementation(async () => {
		await nextTurn();
	});
});
afterEach(() => jest.restoreAllMocks());

const KNOWLEDGEBASE_ID = 'e0000000-0000-4000-8000-000000000001';

const FILE = { name: 'a', mimeType: 'text/plain', content: Buffer.from('a') };

/** A server that stores and processes everything. */
const server: RawSend = async ({ path, body }) => {
	await Promise.resolve();
	if (path === '/v1/file') return succeeded({ id: KNOWLEDGEBASE_ID, url: 'https://example.com/a' });
	if (path.endsWith('/bulk')) return succeeded(JSON.parse(String(body)));
	const asked = path.endsWith('/process')
		? (JSON.parse(String(body)) as string[])
		: decodeURIComponent(path).match(/[\da-f-]{36}/g);
	return succeeded((asked ?? []).map((id) => ({ id, status: 'finish' })));
};

/** A run that gives a summary of a file of records. */
function summaryOf(records: object[], more: Record<string, unknown>, answers = server) {
	const lines = records.map((record) => JSON.stringify(record));
	const data = Buffer.from(lines.join('\n'));
	const methods = {
		getInputData: () => [{ json: {}, binary: { data: { data: '', mimeType: 'text/plain' } } }],
		getMode: () => 'trigger',
		getExecutionCancelSignal: () => undefined,
		getWorkflow: () => ({ id: 'w', name: 'W' }),
		getExecutionId: () => '1',
		continueOnFail: () => true,
		helpers: { getBinaryDataBuffer: async () => await Promise.resolve(data) },
	} as unknown as Partial<IExecuteFunctions>;
	const parameters = {
		knowledgebaseId: KNOWLEDGEBASE_ID,
		source: 'records',
		options: { output: 'summary' },
		...more,
	};
	const connection = { ...unconnected, send: parsing(answers) };
	const item = itemOf(parameters, { fields: submitFields, methods, connection });
	const submission = new Submission(item, { ...readSubmitSettings(item), simplify: true });
	const sourceRun = new SourceRun(submission, KNOWLEDGEBASE_ID, { sourceName: '', shard: '' });
	sourceRun.reader.queue.push({ item });
	return { item, submission, sourceRun };
}

it('of documents in a summary, none is kept once the run is done with it', async () => {
	const records = ['a', 'b', 'c'].map((name) => ({ name, text: `Text ${name}` }));
	for (const textField of ['text', ''])
		for (const documentKeyField of ['name', '']) {
			const more = { textField, mode: 'all', documentKeyField };
			const { submission, sourceRun } = summaryOf(
				records.map((one) => omit(one, textField ? '' : 'text')),
				more,
			);
			await sourceRun.store();
			await sourceRun.followProcessing();
			expect(submission.tally.counts).toMatchObject({ documents: 3, found: 3 });
			expect(sourceRun.contents.reports.size).toBe(0);
		}
});

describe('documents that come again in one run', () => {
	const record = fc.record({
		id: fc
			.integer({ min: 1, max: 15 })
			.map((n) => `e0000000-0000-4000-8000-${`${n}`.padStart(12, '0')}`),
		how: fc.constantFrom('finish', 'finish', 'error', 'refused', 'disabled'),
		file: fc.boolean(),
	});

	/** A server that refuses documents, and processes them, as their names say. It forgets no note. */
	function obeying(): RawSend {
		const rows = new Map<string, { name?: string; status?: string; processMsg?: string }>();
		return async ({ path, body }) => {
			await nextTurn();
			if (path === '/v1/file')
				return succeeded({ id: KNOWLEDGEBASE_ID, url: 'https://a.example/a' });
			const ids =
				decodeURIComponent(path)
					.match(/[\da-f-]{36}/g)
					?.slice(1) ?? [];
			if (!body)
				return succeeded(ids.flatMap((id) => (rows.has(id) ? { id, ...rows.get(id) } : [])));
			const sent = JSON.parse(String(body)) as Array<string | { id: string; name?: string }>;
			for (const one of sent) {
				if (typeof one === 'string') {
					const { name = '' } = rows.get(one) ?? {};
					rows.set(one, { name, status: name.startsWith('error') ? 'error' : 'finish' });
				} else if (one.name?.startsWith('refused')) return failed({ kind: 'status', status: 422 });
				else rows.set(one.id, one);
			}
			return succeeded(sent.map((one) => (typeof one === 'string' ? { id: one } : one)));
		};
	}

	it('count in a summary as in a list', async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.array(record, { minLength: 1, maxLength: 50, size: 'max' }),
				fc.integer({ min: 1, max: 3 }),
				fc.constantFrom('all', 'changed'),
				async (records, batchSize, mode) => {
					const documents = records.map(({ id, how, file }, at) => ({
						record: { id, name: `${how} ${at % 3}`, ...(how === 'disabled' && { disabled: true }) },
						...(file && { readFile: async () => await Promise.resolve(FILE) }),
					}));
					const nightsOf = async (output: string) => {
						const knowledgebase = obeying();
						const options = { output };
						const tuning = { batchSize, concurrency: 1, stopAfterFailures: 0 };
						const nights = [];
						for (const brought of [documents, documents.slice(1)]) {
							const { item, submission, sourceRun } = summaryOf(
								[],
								{ mode, options, tuning },
								knowledgebase,
							);
							sourceRun.reader.queue.splice(0, 1, { item, documents: brought });
							await sourceRun.store();
							await sourceRun.followProcessing();
							await sourceRun.memory?.close();
							nights.push(omit(submission.tally.counts, 'requests'));
						}
						return nights;
					};
					expect(await nightsOf('summary')).toEqual(await nightsOf('documents'));
				},
			),
			{ numRuns: PROPERTY_RUNS },
		);
	});
});

it('a run that stops takes how the processing of what it stored went', async () => {
	const refusing: RawSend = async (request) =>
		request.path.endsWith('/process')
			? failed({ kind: 'status', status: 403 })
			: await server(request);
	const { submission, sourceRun } = summaryOf(
		[{ id: KNOWLEDGEBASE_ID }],
		{ mode: 'all' },
		refusing,
	);
	await sourceRun.store();
	await sourceRun.finishAfterFailure();
	expect(submission.tally.processingFailed).toBe(1);
});

it('a document that the server keeps under another ID is processed under that ID', async () => {
	const KEPT_ID = 'e0000000-0000-4000-8000-00000000000b';
	const started: string[] = [];
	const renaming: RawSend = async (request) => {
		const { path, body } = request;
		const sent = path.endsWith('/bulk') && (JSON.parse(String(body)) as object[]);
		if (sent) return succeeded(sent.map((document) => ({ ...document, id: KEPT_ID })));
		if (path.endsWith('/process')) started.push(...(JSON.parse(String(body)) as string[]));
		return await server(request);
	};
	const options = { afterStoring: 'process', output: 'summary' };
	const { sourceRun } = summaryOf([{ name: 'a' }], { mode: 'all', options }, renaming);
	await sourceRun.store();
	await sourceRun.finishAfterFailure();
	expect(started).toEqual([KEPT_ID]);
});

it('documents that had no turn when the run stopped are not sent', async () => {
	const { item, submission, sourceRun } = summaryOf([], {});
	sourceRun.reader.queue.splice(0, 1, { item, documents: range(3).map(() => ({ record: {} })) });
	submission.stoppedBy = { item };
	await sourceRun.store();
	expect(submission.tally.counts.notSent).toBe(3);
});

describe('documents are passed on', () => {
	const found = (name: string) => ({
		record: { name },
		recordJson: JSON.stringify({ name }),
		key: name,
	});
	const content = Buffer.from('a');
	const readFile = async () =>
		await Promise.resolve({ name: 'a', mimeType: 'text/plain', content });
	const gone = async () => await Promise.reject(new Error('the file is gone'));

	/** The names of the documents that are passed on together. */
	async function groupsOf(
		documents: Array<ReturnType<typeof found> & { readFile?: typeof readFile }>,
	) {
		const { item, submission, sourceRun } = summaryOf([], {});
		sourceRun.reader.queue.splice(0, 1, { item, documents });
		const groups: unknown[] = [];
		for await (const group of sourceRun.reader.readQueuedDocuments({ isHashed: true }))
			groups.push(map(group, 'record.name'));
		return { groups, rejected: submission.tally.counts.rejected };
	}

	it('ten at a time', async () => {
		const { groups } = await groupsOf(range(12).map((at) => found(`${at}`)));
		expect(groups).toEqual([range(10).map(String), ['10', '11']]);
	});

	it('at once if they have a file, so that its upload starts', async () => {
		const { groups } = await groupsOf([found('a'), { ...found('b'), readFile }, found('c')]);
		expect(groups).toEqual([['a', 'b'], ['c']]);
	});

	it('unless their file cannot be read, which is reported', async () => {
		const { groups, rejected } = await groupsOf([{ ...found('a'), readFile: gone }, found('b')]);
		expect([groups.flat(), rejected]).toEqual([['b'], 1]);
	});
});

it('the signature of an address does not change what is compared, the address does', async () => {
	const { item, sourceRun } = summaryOf([], {});
	const signed = (path: string, at: number) =>
		`https://a.example/${path}?X-Amz-Date=${at}&X-Amz-Signature=${at}`;
	const documents = [signed('a', 1), signed('a', 2), signed('b', 2)].map((fileUrl) => ({
		record: { fileUrl },
		recordJson: JSON.stringify({ fileUrl }),
		key: 'a',
	}));
	sourceRun.reader.queue.splice(0, 1, { item, documents });
	const hashes: unknown[] = [];
	for await (const group of sourceRun.reader.readQueuedDocuments({ isHashed: true }))
		hashes.push(...map(group, 'comparisonHash'));
	expect(hashes[0]).toBe(hashes[1]);
	expect(hashes[2]).not.toBe(hashes[1]);
});
