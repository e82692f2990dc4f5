import { map, range } from 'lodash';
import type { IExecuteFunctions } from 'n8n-workflow';

import { submitFields } from 'nodes/XpertAi/operations/document/submit/fields';
import { readSubmitSettings } from 'nodes/XpertAi/operations/document/submit/settings';
import { type Origin, Submission } from 'nodes/XpertAi/operations/document/submit/report';
import { Target } from 'nodes/XpertAi/operations/document/submit/target';
import { itemOf, unconnected } from 'test/nodes/support/context';
import { parsing, type RawSend } from 'test/nodes/support/send';
import { failed, succeeded } from '../../../ingest/support/outcomes';

const KNOWLEDGEBASE_ID = 'e0000000-0000-4000-8000-000000000001';

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
	const target = new Target(submission, KNOWLEDGEBASE_ID, { sourceName: '', shard: '' });
	target.queue.push({ item });
	return { item, submission, target };
}

/** The same of texts, with this Key Field. */
async function texts(documentKeyField: string) {
	const records = ['a', 'b', 'c'].map((name) => ({ name, text: `Text ${name}` }));
	const { submission, target } = summaryOf(records, {
		textField: 'text',
		mode: 'all',
		documentKeyField,
	});
	await target.store();
	await target.followProcessing();
	return { counts: submission.tally.counts, kept: target.origins.size };
}

it('of texts in a summary, those are kept whose key may come again, and none without a key', async () => {
	const found = expect.objectContaining({ documents: 3, found: 3 });
	expect(await texts('name')).toEqual({ counts: found, kept: 3 });
	expect(await texts('')).toEqual({ counts: found, kept: 0 });
});

it('a run that stops takes how the processing of what it stored went', async () => {
	const refusing: RawSend = async (request) =>
		request.path.endsWith('/process')
			? failed({ kind: 'status', status: 403 })
			: await server(request);
	const { submission, target } = summaryOf([{ id: KNOWLEDGEBASE_ID }], { mode: 'all' }, refusing);
	await target.store();
	await target.stop();
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
	const { target } = summaryOf([{ name: 'a' }], { mode: 'all', options }, renaming);
	await target.store();
	await target.stop();
	expect(started).toEqual([KEPT_ID]);
});

it('documents that had no turn when the run stopped are not sent', async () => {
	const { item, submission, target } = summaryOf([], {});
	target.queue.splice(0, 1, { item, documents: range(3).map(() => ({ record: {} })) });
	submission.stoppedBy = { item };
	await target.store();
	expect(submission.tally.counts.notSent).toBe(3);
});

it('a record that is read leaves it known that an unchanged one with its ID is in process', async () => {
	const { item, target } = summaryOf([{ id: KNOWLEDGEBASE_ID }], { mode: 'mirror' });
	const unchanged: Origin = { item, outcome: 'unchanged' };
	target.origins.set(KNOWLEDGEBASE_ID, unchanged);
	for await (const documents of target.documents())
		for (const { id } of documents) expect(target.origins.get(id)).toBe(unchanged);
	expect.assertions(1);
});

describe('documents are passed on', () => {
	const found = (name: string) => ({ record: { name }, json: JSON.stringify({ name }), key: name });
	const content = Buffer.from('a');
	const file = async () => await Promise.resolve({ name: 'a', mimeType: 'text/plain', content });
	const gone = async () => await Promise.reject(new Error('the file is gone'));

	/** The names of the documents that are passed on together. */
	async function groupsOf(documents: Array<ReturnType<typeof found> & { file?: typeof file }>) {
		const { item, submission, target } = summaryOf([], {});
		target.queue.splice(0, 1, { item, documents });
		const groups: unknown[] = [];
		for await (const group of target.documents(true)) groups.push(map(group, 'record.name'));
		return { groups, rejected: submission.tally.counts.rejected };
	}

	it('ten at a time', async () => {
		const { groups } = await groupsOf(range(12).map((at) => found(`${at}`)));
		expect(groups).toEqual([range(10).map(String), ['10', '11']]);
	});

	it('at once if they have a file, so that its upload starts', async () => {
		const { groups } = await groupsOf([found('a'), { ...found('b'), file }, found('c')]);
		expect(groups).toEqual([['a', 'b'], ['c']]);
	});

	it('unless their file cannot be read, which is reported', async () => {
		const { groups, rejected } = await groupsOf([{ ...found('a'), file: gone }, found('b')]);
		expect([groups.flat(), rejected]).toEqual([['b'], 1]);
	});
});

it('the signature of an address does not change what is compared, the address does', async () => {
	const { item, target } = summaryOf([], {});
	const signed = (path: string, at: number) =>
		`https://a.example/${path}?X-Amz-Date=${at}&X-Amz-Signature=${at}`;
	const documents = [signed('a', 1), signed('a', 2), signed('b', 2)].map((fileUrl) => ({
		record: { fileUrl },
		json: JSON.stringify({ fileUrl }),
		key: 'a',
	}));
	target.queue.splice(0, 1, { item, documents });
	const hashes: unknown[] = [];
	for await (const group of target.documents(true)) hashes.push(...map(group, 'contentHash'));
	expect(hashes[0]).toBe(hashes[1]);
	expect(hashes[2]).not.toBe(hashes[1]);
});
