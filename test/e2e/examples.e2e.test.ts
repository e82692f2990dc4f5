import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { countBy, find, times } from 'lodash';

import {
	filledIn,
	PLACEHOLDERS,
	sandboxValues,
	exampleFiles,
	readExample,
	type WorkflowFile,
} from 'host/examples';
import type { CredentialReference } from 'host/n8nRestClient';
import { projectRoot } from 'host/paths';
import { derivedId } from 'nodes/XpertAi/payloads/ids';
import {
	COPILOT_ID,
	NOTHING_FOUND,
	SANDBOX_ASSISTANT_ID,
	SANDBOX_KNOWLEDGEBASE_ID,
	SAYING_ASSISTANT,
} from 'sandbox';
import { OWNER } from 'sandbox/entities';
import { answerOf } from '../engine/support/conversations';
import { workbook } from '../sandbox/support/recordedFiles';
import { SAMPLES } from '../sandbox/support/sampleFiles';
import { chatPath, said } from './support/chat';
import { exampleOnCall, exampleWith } from './support/examples';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();
let credential: CredentialReference;

beforeAll(async () => (credential = await harness.createCredential()));
beforeEach(() => harness.sandbox.reset());

const importExample = async (example: string | WorkflowFile) =>
	await harness.importWorkflow(example, credential);
const fault = (outcome: object) => () =>
	harness.sandbox.faults.add({ endpoint: 'runs', do: 'run', ...outcome });

const FILE_URL = 'https://files.example.com/warranty.md';
function knowsTheWarranty(): void {
	const { store } = harness.sandbox;
	const fields = { knowledgebaseId: SANDBOX_KNOWLEDGEBASE_ID, fileUrl: FILE_URL };
	store.putFindable(store.putDocument({ ...fields, name: 'warranty.md' }), [
		'The warranty lasts three years.',
	]);
	store.putFindable(store.putDocument({ ...fields, name: 'other.md' }), ['Water boils.']);
}

const found = (name: string) =>
	expect.objectContaining({ name, outcome: 'found', processing: 'finish' });
const answered = (person: string, answer: string) => ({
	person,
	filter: 'applied',
	answer: expect.stringContaining(answer),
});
const mailed = (to: string, subject: string) => {
	const text = expect.any(String);
	return expect.objectContaining({ to, subject, text });
};

type ByHand = [file: string, node: string, output: unknown, ready?: () => void];
const submitted = (file: string, ...names: string[]): ByHand => [
	file,
	'Submit Documents',
	names.map(found),
];

/** Each with the node whose output is looked at, and what it gives once the sandbox is made ready. */
const RUN_BY_HAND: ByHand[] = [
	[
		'table-rows.json',
		'Submit Documents',
		expect.arrayContaining([found('Cold brew.md'), found('Open day at the mill.md')]),
	],
	[
		'nightly-ingestion.json',
		'Stored',
		expect.arrayContaining(['safety.md', 'warranty.pdf', 'spare-parts.csv'].map(found)),
	],
	submitted('only-changed-files.json', 'returns.md', 'warranty.md', 'Opening hours.md'),
	submitted('pages-of-notion.json', 'Returns.md', 'Warranty.md'),
	submitted(
		'a-web-site.json',
		'https://www.example.com/returns.md',
		'https://www.example.com/warranty.md',
	),
	submitted('rows-of-a-database.json', 'Returns.md', 'Warranty.md'),
	[
		'answers-for-each-department.json',
		'Answers',
		[answered('Ada', '120 euros'), answered('Bob', '80 euros')],
	],
	[
		'morning-question.json',
		'Send Message Here',
		[{ text: expect.stringMatching(/^Good morning! I found nothing/) }],
	],
	[
		'morning-question.json',
		'Send Message Here',
		[{ text: 'No answer this morning: The run failed: Model quota exceeded' }],
		fault({ outcome: 'fail', error: 'Model quota exceeded' }),
	],
	[
		'poll-a-run.json',
		'Send Message Here',
		[{ text: 'At last' }],
		fault({ ms: 2_000, text: 'At last' }),
	],
	['answer-with-its-sources.json', 'Post Message Here', [{ text: NOTHING_FOUND }]],
	[
		'answer-with-its-sources.json',
		'Post Message Here',
		[
			{
				text: `According to "warranty.md": "The warranty lasts three years." [1]\n[1] warranty.md: ${FILE_URL}`,
			},
		],
		knowsTheWarranty,
	],
];

describe('an example run by hand', () => {
	it.each(RUN_BY_HAND)(
		'%s gives in "%s" what it is for',
		async (file, node, output, ready = () => undefined) => {
			ready();
			const execution = await harness.runManually(await importExample(file));
			expect(execution.error).toBeUndefined();
			expect(execution.json(node)).toEqual(output);
		},
	);

	it('only-changed-files.json downloads on the next night the one file that changed', async () => {
		const changed = readExample('only-changed-files.json');
		const before = await importExample('only-changed-files.json');
		await harness.runManually(before);
		const nothing = await harness.runManually(before);
		expect([nothing.items('Find Changes'), nothing.error]).toEqual([[], undefined]);
		const [file] = changed.pinData?.['List Files'] ?? [];
		Object.assign((file as { json: object }).json, { md5Checksum: 'changed' });
		const after = await harness.runManually(await importExample(changed));
		expect(after.json('Find Changes')).toEqual([expect.objectContaining({ name: 'returns.md' })]);
	});

	const reading = async (fileSelector: string) => {
		const example = exampleWith('folder-of-files.json', 'Read Files', (node) => ({
			...node,
			parameters: { ...Object(node.parameters), fileSelector },
		}));
		return await harness.runManually(await importExample(example));
	};

	it.each(['documents/none/*.pdf', join(projectRoot, '*.md')])(
		'folder-of-files.json says where files may be when it may read none of %s',
		async (files) => {
			const { error } = await reading(files);
			expect(error?.message).toMatch(/^No file was read: .*[^.]\. .* such as my-documents\//);
		},
	);

	it('folder-of-files.json submits documents of one’s own', async () => {
		writeFileSync(join(harness.host.ownDocuments, 'notes.txt'), 'Tea steeps.');
		const execution = await reading('my-documents/*.txt');
		rmSync(join(harness.host.ownDocuments, 'notes.txt'));
		expect(execution.json('Submit Documents')).toEqual([found('notes.txt')]);
	});

	it('folder-of-files.json keeps in step with documents of one’s own at each click', async () => {
		const own = join(harness.host.ownDocuments, 'shelf');
		const put = (name: string, content: Buffer | string) => {
			mkdirSync(dirname(join(own, name)), { recursive: true });
			writeFileSync(join(own, name), content);
		};
		for (const extension of ['.docx', '.pdf', '.pptx'])
			put(`deep/er/text${extension}`, SAMPLES[extension] ?? '');
		const rows = [
			['Mug', 'Price'],
			['Walrus', 12],
		];
		put('prices.xlsx', workbook(rows));
		put('hours.md', 'The lighthouse opens at seven.');
		put('photo.png', Buffer.from('89504e470d0a1a0a00', 'hex'));
		const id = await importExample('folder-of-files.json');
		const click = async () => await harness.runManually(id);
		const answers = async (question: string) => await answerOf(harness.sandbox, question);
		try {
			const first = await click();
			expect(first.json('Not Found by Assistants')).toEqual([
				expect.objectContaining({ fileName: 'photo.png', error: expect.stringContaining('0x00') }),
			]);
			expect(await answers('zebra password')).toContain('is quokkadocx.');
			expect(await answers('elephant password')).toContain('is quokkapdf.');
			expect(await answers('penguin password')).toContain('is quokkapptx.');
			expect(await answers('walrus')).toContain('Mug: Walrus, Price: 12');
			expect(await answers('lighthouse')).toContain('opens at seven.');

			rmSync(join(own, 'deep/er/text.docx'));
			put('hours.md', 'The lighthouse opens at nine.');
			const second = await click();
			const outcomes = countBy(second.json('Submit Documents'), 'outcome');
			expect(outcomes).toMatchObject({ found: 1, disabled: 1 });
			expect(await answers('zebra password')).not.toContain('zebra');
			expect(await answers('lighthouse')).toContain('opens at nine.');
		} finally {
			rmSync(own, { recursive: true });
		}
	});

	it('answer-mails-in-their-thread.json answers each mail in the conversation of its thread', async () => {
		const id = await importExample('answer-mails-in-their-thread.json');
		expect((await harness.runManually(id)).json('Send Mail Here')).toEqual([
			mailed('ann@example.com', 'Re: Warranty'),
			mailed('bob@example.com', 'Re: Cleaning'),
			mailed('ann@example.com', 'Re: Warranty'),
		]);
		expect(saidUnder(SANDBOX_ASSISTANT_ID, 'thread-1')).toHaveLength(2);
		expect(saidUnder(SANDBOX_ASSISTANT_ID, 'thread-2')).toHaveLength(1);
	});
});

/** What was said by persons on the thread of a key. */
const saidUnder = (assistantId: string, key: string) =>
	harness.sandbox.store.threads
		.get(derivedId(derivedId(assistantId, key), OWNER.userId))
		?.messages.filter(({ from }) => from === 'person');

describe('an example that is called', () => {
	it('ask-an-assistant.json answers from the Markdown, PDF and CSV of folder-of-files.json', async () => {
		const execution = await harness.runManually(await importExample('folder-of-files.json'));
		const files = execution.items('Read Files').map(({ binary }) => binary?.data);
		expect(countBy(files, 'fileExtension')).toMatchObject({ pdf: 2, csv: 1 });
		expect(execution.json('Submit Documents')).toEqual(
			files.map((file) => found(String(file?.fileName))),
		);
		const uploads = harness.sandbox.requests.of('E16').flatMap((upload) => upload.files ?? []);
		const content = find(uploads, { filename: 'safety.md' })?.content?.toString();
		expect(content).toBe(harness.readDocument('handbook/safety.md'));

		await harness.activate(await importExample('ask-an-assistant.json'));
		for (const [question, answer] of [
			['How long does the cleaning run last?', /"cleaning-and-care\.md"[^]*lasts 25 minutes/],
			['How long does the warranty last?', /"warranty\.pdf"[^]*lasts three years from the day/],
			['What is the price of the roasting drum HB-102?', /"spare-parts\.csv"[^]*89\.00 EUR/],
		] as const) {
			const { status, data } = await harness.callWebhook('ask', { question });
			expect([status, data]).toEqual([200, { answer: expect.stringMatching(answer) }]);
		}
	});

	it('chat-with-an-assistant.json remembers two persons apart, and hands on words alone', async () => {
		harness.sandbox.store.putAssistant(SAYING_ASSISTANT);
		const text = JSON.stringify(readExample('chat-with-an-assistant.json'));
		const own = text.replace(PLACEHOLDERS.chosenAssistantId, SAYING_ASSISTANT.id);
		const workflowId = await importExample(JSON.parse(own) as WorkflowFile);
		await harness.activate(workflowId);
		const path = await chatPath(harness, workflowId);
		const answers: unknown[] = [];
		for (const [person, words] of [
			['ann', 'I am Ann'],
			['bob', 'I am Bob'],
			['ann', 'And I?'],
			['ann', 'FAIL'],
		] as const) {
			answers.push((await harness.callWebhook(path, said(words, person))).data);
		}
		expect(answers).toEqual([
			{ output: 'You said: I am Ann [users seen: 1]' },
			{ output: 'You said: I am Bob [users seen: 1]' },
			{ output: 'You said: And I? [users seen: 2]' },
			{ output: 'Sorry, there is no answer right now, please try again later.' },
		]);
	});

	it('pages-by-webhook.json follows each page, and makes good at night what no call has reported', async () => {
		const { store } = harness.sandbox;
		const { id } = store.putKnowledgebase({ name: 'Pages', copilotModelId: COPILOT_ID });
		const example = exampleOnCall('pages-by-webhook.json', 'Every Night', 'pages-night');
		const workflow = filledIn(example, { ...sandboxValues(''), knowledgebaseId: id });
		const jsCode = "return $('Every Night').first().json.body.pages.map((json) => ({ json }));";
		Object.assign(find(workflow.nodes, { name: 'All Pages' }) ?? {}, { parameters: { jsCode } });
		Object.assign(find(workflow.nodes, { name: 'Submit All Pages' })?.parameters ?? {}, {
			options: { maxGonePercent: 50 },
		});
		const workflowId = await importExample(workflow);
		await harness.activate(workflowId);

		const page = (animal: string, place: string) => ({
			path: `animals/${animal}`,
			title: animal,
			text: `The ${animal} sleeps in the ${place}.`,
		});
		const call = async (node: string, path: string, body: object) => {
			await harness.callWebhook(path, body);
			const execution = await harness.latestExecution(workflowId);
			expect(execution.error).toBeUndefined();
			return countBy(execution.json(node), 'outcome');
		};
		const notify = async (event: string, about: object, node = 'Submit Page') =>
			await call(node, 'xpert-ai-page', { event, ...about });
		const asked = async (animal: string) =>
			await answerOf(harness.sandbox, `Where does the ${animal} sleep?`);

		const [bat, movedOwl, hare] = [
			page('bat', 'tower'),
			page('owl', 'church'),
			page('hare', 'field'),
		];
		expect(await notify('created', page('owl', 'barn'))).toEqual({ found: 1 });
		expect(await notify('created', bat)).toEqual({ found: 1 });
		expect(await notify('updated', movedOwl)).toEqual({ found: 1 });
		expect(await asked('owl')).toContain('in the church');
		expect(await notify('deleted', bat, 'Disable Page')).toEqual({ disabled: 1 });
		expect(await asked('bat')).not.toContain('tower');
		expect(await notify('created', bat)).toEqual({ found: 1 });
		const night = { pages: [movedOwl, hare] };
		expect(await call('Submit All Pages', 'pages-night', night)).toEqual({
			unchanged: 1,
			found: 1,
			disabled: 1,
		});
		expect(await asked('hare')).toContain('in the field');
		expect(await asked('bat')).not.toContain('tower');
	});
});

describe('a round of shards', () => {
	const SHARDS = 2;

	/** The round, with fewer shards and another place where they are called. */
	const round = async (path: string) => {
		const url = `${harness.host.url}/webhook/${path}`;
		const example = exampleWith('large-source-in-shards.json', 'Settings', (node) => {
			const text = JSON.stringify(node.parameters).replace('"value":4', `"value":${SHARDS}`);
			const parameters: unknown = JSON.parse(text.replace(/http:[^"]*/, url));
			return { ...node, parameters };
		});
		return await harness.runManually(await importExample(example));
	};

	it('fails with the reason where no shard is called, or documents are refused', async () => {
		const uncalled = await round('nobody');
		expect(uncalled.error?.message).toMatch(
			/^2 of 2 shards are not stored whole\. .*(404|not registered)/,
		);
		expect(uncalled.items('Run Again')).toHaveLength(SHARDS);

		await harness.activate(await importExample('one-shard.json'));
		const refused = { status: 400, body: { message: 'Quota exceeded' } };
		harness.sandbox.faults.add({ endpoint: 'E3', do: 'status', ...refused });
		const { error } = await round('xpert-ai-shard');
		expect(error?.message).toMatch(/^2 of 2 shards are not stored whole\. .*Quota exceeded/);
		harness.sandbox.faults.clear();
		expect((await round('xpert-ai-shard')).items('Stored')).toHaveLength(SHARDS);
	});
});

describe('every example', () => {
	/** What has a person click to begin cannot be published, nor what lacks the credential of a model or a service. */
	const publishable = exampleFiles().filter((file) => {
		const types = readExample(file).nodes.map(({ type }) => type);
		const begins = types.some((type) => /(?<!manual)(Trigger|\.webhook)$/.test(type));
		return begins && !types.some((type) => /\.(lmChat|googleDrive|notion|postgres)/.test(type));
	});

	it.each(publishable)('%s is published once it is filled in', async (file) => {
		const { nodes, ...rest } = readExample(file);
		// Its own paths are taken by the tests above.
		const paths = times(nodes.length, (at) => ({ path: `${file}-${at}` }));
		const moved = nodes.map((node, at) =>
			/(formTrigger|\.webhook)$/.test(node.type)
				? { ...node, parameters: { ...Object(node.parameters), ...paths[at] } }
				: node,
		);
		const id = await importExample({ ...rest, nodes: moved });
		await harness.activate(id);
		expect(await harness.host.rest.getWorkflow(id)).toMatchObject({ active: true });
		await harness.host.rest.deactivateWorkflow(id);
	});
});
