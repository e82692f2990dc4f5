import type { IBinaryData, IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { SAYING_ASSISTANT } from 'sandbox';
import { byId } from './support/locators';
import { answering, ask, detailsOf, saidOn, useRuns } from './support/runs';

const { fixture, add, newThread } = useRuns();

beforeEach(() => {
	fixture.sandbox.store.putAssistant(SAYING_ASSISTANT);
});

/** Parameters of a run that asks the assistant who says what he reads of files. */
const read = ({ options, ...parameters }: { options?: IDataObject } & IDataObject = {}) =>
	ask({
		assistantId: byId(SAYING_ASSISTANT.id),
		...(parameters as INodeParameters),
		options: { attachments: 'data', ...options } as INodeParameters,
	});

const text = (content: string, fileName: string): IBinaryData => ({
	data: Buffer.from(content).toString('base64'),
	mimeType: 'text/plain',
	fileName,
});

const asks = (thread: string, binary: Record<string, IBinaryData>): INodeExecutionData => ({
	json: { thread, message: 'What does it say?' },
	binary,
});

const otters = () => ({ data: text('Otters swim.', 'otters.txt') });
const uploads = () => fixture.sandbox.requests.of('E12');
const messages = () => fixture.sandbox.requests.of('runs');

const filesSent = () =>
	messages().map(({ body }) => {
		const sent = body as { input: { message: { input: { files?: IDataObject[] } } } };
		return sent.input.message.input.files;
	});

const idOf = (name: string) =>
	[...fixture.sandbox.store.contexts.values()].find((one) => one.originalName === name)?.id;

describe('a file of the item', () => {
	it.each([
		['in memory', async () => text('Otters swim.', 'otters.txt')],
		[
			'on disk',
			async () =>
				await fixture.engine.binary(Buffer.from('Otters swim.'), 'otters.txt', 'text/plain'),
		],
	])('%s is uploaded with the thread and read by the assistant', async (_, binary) => {
		const thread = await newThread();
		const { items, error } = await fixture.run(read(), {
			items: [asks(thread, { data: await binary() })],
		});
		expect(error).toBeUndefined();
		expect(uploads()).toMatchObject([
			{ fields: { threadId: thread }, files: [{ field: 'file', filename: 'otters.txt' }] },
		]);
		expect(filesSent()).toEqual([[{ fileId: idOf('otters.txt') }]]);
		expect(items[0]?.json).toMatchObject({ status: 'completed', threadId: thread });
		expect(items[0]?.json.output).toContain('summary: Otters swim.');
	});

	it('goes to a new conversation, which is made first', async () => {
		const { items } = await fixture.run(read({ threadSource: 'new' }), {
			items: [asks('', otters())],
		});
		const { threadId, output } = items[0]?.json ?? {};
		expect(fixture.sandbox.requests.all.map(({ endpoint }) => endpoint).slice(0, 3)).toEqual([
			'E13',
			'E12',
			'runs',
		]);
		expect(uploads()[0]?.fields).toEqual({ threadId });
		expect(output).toContain('Otters swim.');
	});

	it('stands after those given by their ids', async () => {
		const thread = await newThread();
		const { storageFileId, fileContextId } = fixture.world;
		const files = [{ fileId: fileContextId }, { id: storageFileId }];
		const additionalFieldsJson = JSON.stringify({ input: { message: { input: { files } } } });
		await fixture.run(read({ options: { additionalFieldsJson } }), {
			items: [asks(thread, otters())],
		});
		expect(filesSent()).toEqual([
			[{ fileId: fileContextId }, { id: storageFileId }, { fileId: idOf('otters.txt') }],
		]);
	});

	it('is not uploaded where none is asked for', async () => {
		const thread = await newThread();
		const { items } = await fixture.run(read({ options: { attachments: '' } }), {
			items: [asks(thread, otters())],
		});
		expect(items[0]?.json.status).toBe('completed');
		expect(uploads()).toEqual([]);
		expect(filesSent()).toEqual([undefined]);
	});
});

describe('a file that is not there', () => {
	const options = { attachments: '={{ $json.files }}' };
	const item = (files?: unknown) => ({ json: { message: 'Hello', files } as IDataObject });

	it.each([[undefined], [null]])('is asked for by an expression that gives %s', async (files) => {
		const { error } = await fixture.run(read({ threadSource: 'new', options }), {
			items: [item(files)],
		});
		expect(error?.message).toBe(
			'"Attach Files" is empty: its expression gave nothing for this item',
		);
		expect(error?.description).toContain('let it give an empty list');
		expect(fixture.sandbox.requests.all).toEqual([]);
	});

	it.each([[[]], ['']])('is not asked for by an expression that gives %j', async (files) => {
		const { items } = await fixture.run(read({ threadSource: 'new', options }), {
			items: [item(files)],
		});
		expect(items[0]?.json.status).toBe('completed');
	});

	it('because n8n has deleted it meanwhile is said so, and no conversation is made', async () => {
		const id = 'filesystem-v2:workflows/w/executions/e/binary_data/gone';
		const { error } = await fixture.run(read({ threadSource: 'new' }), {
			items: [asks('', { data: { ...text('', 'gone.txt'), id } })],
		});
		expect(error?.message).toMatch(
			/^"Attach Files" names "data", whose file "gone\.txt" is no longer in n8n \(.+\)\. Run the node that made it again/,
		);
		expect(fixture.sandbox.requests.all).toEqual([]);
	});
});

const refuse = answering('E12', 413, { body: 'too large' });

describe('an upload that fails', () => {
	it('fails the item before the message is sent, naming the file and the thread', async () => {
		const thread = await newThread();
		add(refuse);
		const { error } = await fixture.run(read(), { items: [asks(thread, otters())] });
		expect(error?.name).toBe('NodeApiError');
		expect(error?.message).toBe(
			'The file in "data" was not uploaded: this is too large for the server: too large (HTTP 413)',
		);
		expect(error?.description).toMatch(
			/^The message was not sent, as "Attach Files" names this file\. The file is larger than/,
		);
		expect(error?.context).toMatchObject({ itemIndex: 0, data: { threadId: thread } });
		expect(messages()).toEqual([]);
	});

	it('goes to the error output with the new conversation, and the others go on', async () => {
		add({ ...refuse, nth: 2 });
		const { outputs } = await fixture.run(
			read({ threadSource: 'new', tuning: { concurrency: 1 } }),
			{
				items: [asks('', otters()), asks('', otters()), asks('', otters())],
				onError: 'continueErrorOutput',
			},
		);
		expect(outputs[0]?.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 2 }]);
		const [failed] = outputs[1] ?? [];
		expect(failed?.pairedItem).toEqual({ item: 1 });
		expect(failed?.json.error).toContain('The file in "data" was not uploaded');
		const { threadId, conversationId, status } = detailsOf(failed);
		expect(status).toBe('failed');
		expect(fixture.sandbox.store.conversationOf(String(threadId))?.id).toBe(conversationId);
		expect(saidOn(fixture.sandbox, String(threadId))).toEqual([]);
	});

	it.each([
		[404, 'The server takes no files for runs.'],
		[500, 'Look up the request ID in the log of the server.'],
	])('says after a %i how to go on', async (status, words) => {
		const thread = await newThread();
		add(answering('E12', status));
		const { error } = await fixture.run(read(), { items: [asks(thread, otters())] });
		expect(error?.description).toContain(words);
	});
});

describe('several files', () => {
	const names = Array.from({ length: 12 }, (_, n) => `f${n}`);
	const files = () => Object.fromEntries(names.map((name) => [name, text(name, `${name}.txt`)]));
	const options = { attachments: names.join(',') };

	it('keep their order', async () => {
		const thread = await newThread();
		add({ endpoint: 'E12', nth: 1, do: 'delay', ms: 100 });
		await fixture.run(read({ options }), { items: [asks(thread, files())] });
		expect(filesSent()).toEqual([names.map((name) => ({ fileId: idOf(`${name}.txt`) }))]);
	});

	it('are uploaded five at once, and no further one after one that fails', async () => {
		const thread = await newThread();
		add(refuse);
		await fixture.run(read({ options }), { items: [asks(thread, files())] });
		expect(uploads()).toHaveLength(5);
	});
});

describe('an answer that is lost', () => {
	it('to an upload has it sent again, and the message once with the file', async () => {
		const thread = await newThread();
		add({ endpoint: 'E12', nth: 1, do: 'drop', when: 'after' });
		const data = await fixture.engine.binary(Buffer.from('Otters'), 'otters.txt', 'text/plain');
		const { items } = await fixture.run(read(), { items: [asks(thread, { data })] });
		expect(items[0]?.json).toMatchObject({ status: 'completed' });
		expect(uploads().map(({ files }) => files?.[0]?.content?.toString())).toEqual([
			'Otters',
			'Otters',
		]);
		expect(filesSent()).toEqual([[{ fileId: expect.any(String) }]]);
		expect(items[0]?.json.output).toContain('summary: Otters');
	});
});
