import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { uniqBy } from 'lodash';

import { exampleFiles, readExample, type WorkflowFile } from 'host/examples';
import type { CredentialReference } from 'host/n8nRestClient';
import { testedVersion } from 'host/versions';
import { COPILOT_ID } from 'sandbox';
import { useAgents } from '../e2e/support/agent';
import { chatTrigger, listen, published, SLOW, SLOW_ANSWER, twoNodes } from '../e2e/support/chat';
import { CREDENTIAL_TYPE, NODE_TYPE, useHarness } from '../e2e/support/harness';
import { talk } from '../engine/support/conversations';
import { isNote } from '../engine/support/ingest';
import { byId } from '../engine/support/locators';
import {
	ASK_NODE,
	asking,
	chain,
	itemsNode,
	manualTrigger,
	readFile,
	xpertAiNode,
} from '../queue/support/ingestion';

const {
	n8n,
	installation,
	env,
	lacks = [],
	older,
} = testedVersion(process.env.XPERTAI_HOST ?? 'pinned');
const harness = useHarness({ installation, env });

const NODE = 'Xpert AI';
const FOLDER = 'night';
const TEXTS = {
	bats: 'The bat sleeps in the tower.',
	foxes: 'The fox sleeps in the den.',
	owls: 'The owl sleeps in the barn.',
};
const FAILING_INPUT = 'BOOM';

// One after another, as a user would: a later step needs what an earlier one has done.
describe(`n8n ${n8n}`, () => {
	let credential: CredentialReference;
	let knowledgebaseId: string;
	let ingestionId: string;

	beforeAll(async () => {
		const { store } = harness.sandbox;
		knowledgebaseId = store.putKnowledgebase({ name: 'Night', copilotModelId: COPILOT_ID }).id;
		credential = await harness.createCredential();
		const submit = xpertAiNode(NODE, {
			resource: 'document',
			operation: 'submit',
			knowledgebaseId: byId(knowledgebaseId),
			source: 'files',
			mode: 'changed',
		});
		const workflow = chain('Ingestion', manualTrigger(), readFile(`${FOLDER}/*.md`), submit);
		ingestionId = await harness.importWorkflow(workflow, credential);
		mkdirSync(join(harness.host.documents, FOLDER));
		for (const [name, text] of Object.entries(TEXTS)) {
			writeFileSync(join(harness.host.documents, FOLDER, `${name}.md`), `# ${name}\n\n${text}\n`);
		}
	});

	const run = async (workflow: WorkflowFile) =>
		await harness.runManually(await harness.importWorkflow(workflow, credential));
	const arrived = (endpoint: string) => harness.sandbox.requests.of(endpoint).length;

	it('passes the test of a credential', async () => {
		expect(await harness.testCredential()).toMatchObject({ status: 'OK' });
	});

	it('says that a token is wrong, without naming it', async () => {
		const { status, message } = await harness.testCredential({ accessToken: 'wrong-token' });
		expect(status).toBe('Error');
		expect(message).toMatch(/unauthorized|authorization failed|token/i);
		expect(message).not.toContain('wrong-token');
	});

	it('sends the token to no address without HTTPS, and says what to enter', async () => {
		const ours = /^The Base URL must start with https:\/\/.* switch on Allow Insecure HTTP\.$/;
		for (const baseUrl of ['xpert.example.com', 'http://xpert.example.com']) {
			const { status, message } = await harness.testCredential({ baseUrl });
			expect(status).toBe('Error');
			expect(message).toEqual(older?.refusedAddress ?? expect.stringMatching(ours));
		}
	});

	it('submits three files until they are found', async () => {
		const execution = await harness.runManually(ingestionId);
		expect(execution.error).toBeUndefined();
		expect(execution.json(NODE)).toEqual(
			Object.keys(TEXTS).map((name) =>
				expect.objectContaining({ name: `${name}.md`, outcome: 'found', processing: 'finish' }),
			),
		);
		expect(arrived('E16')).toBe(3);
	});

	it('asks an assistant, which answers from them', async () => {
		const execution = await run(asking({ message: 'Where does the fox sleep?' }));
		expect(execution.error).toBeUndefined();
		expect(execution.json(ASK_NODE)).toEqual([
			expect.objectContaining({
				status: 'completed',
				output: expect.stringContaining('in the den'),
			}),
		]);
	});

	it('leaves out unchanged files in a second run', async () => {
		harness.sandbox.requests.clear();
		const execution = await harness.runManually(ingestionId);
		expect(execution.error).toBeUndefined();
		expect(execution.json(NODE).map(({ outcome }) => outcome)).toEqual(
			Object.keys(TEXTS).map(() => 'unchanged'),
		);
		expect(arrived('E16')).toBe(0);
		const { store } = harness.sandbox;
		const stored = store.documentsOf(knowledgebaseId).filter((document) => !isNote(document));
		expect(stored).toHaveLength(3);
	});

	it('shows an answer in a chat while it is written', async () => {
		const trigger = chatTrigger({ responseMode: 'streaming' });
		const path = await published(harness, twoNodes(trigger, '={{ $json.chatInput }}'));
		const { shown, stillWritten } = await listen(harness, path, SLOW);
		expect([shown, stillWritten]).toEqual([SLOW_ANSWER, true]);
	});

	it('offers the assistants in a picker, and finds one', async () => {
		const list = async (filter?: string) =>
			await harness.host.rest.request(
				'POST',
				'/rest/dynamic-node-parameters/resource-locator-results',
				{
					path: 'parameters.assistantId',
					methodName: 'searchAssistants',
					credentials: { [CREDENTIAL_TYPE]: credential },
					currentNodeParameters: { resource: 'thread', operation: 'run' },
					nodeTypeAndVersion: { name: NODE_TYPE, version: 1 },
					...(filter && { filter }),
				},
			);
		const echo = { name: 'Echo', value: expect.any(String) };
		expect(await list()).toMatchObject({ results: expect.arrayContaining([echo]) });
		expect(await list('ech')).toMatchObject({ results: [echo] });
	});

	it('moves a failed item, and no other, to the error output', async () => {
		harness.sandbox.store.putKnowledgebase({ name: 'Taken' });
		const titles = ['First', 'Taken', 'Third'].map((title) => ({ title }));
		const name = '={{ $json.title }}';
		const create = xpertAiNode(NODE, { resource: 'knowledgebase', operation: 'create', name });
		const failing = { ...create, onError: 'continueErrorOutput' };
		const execution = await run(
			chain('Knowledgebases', manualTrigger(), itemsNode('Rows', titles), failing),
		);
		expect(execution.error).toBeUndefined();
		expect(execution.json(NODE)).toEqual(
			['First', 'Third'].map((name) => expect.objectContaining({ name })),
		);
		expect(execution.items(NODE, 1)).toEqual([
			expect.objectContaining({
				json: expect.objectContaining({
					title: 'Taken',
					error: expect.stringContaining('Name Exist'),
					details: expect.objectContaining({ httpCode: expect.any(String) }),
				}),
				pairedItem: { item: 1 },
			}),
		]);
	});

	it('starts a workflow by the trigger, once, also for what happened while it was off', async () => {
		const { rest } = harness.host;
		const workflowId = await harness.importWorkflow('alert-on-failed-runs.json', credential);
		await talk(harness.sandbox, FAILING_INPUT, { title: 'Long ago' });
		await harness.startPolling(workflowId);
		await rest.deactivateWorkflow(workflowId);
		await talk(harness.sandbox, FAILING_INPUT, { title: 'Meanwhile' });
		await harness.startPolling(workflowId);
		const { id } = await harness.latestExecution(workflowId);
		await rest.deactivateWorkflow(workflowId);
		await harness.startPolling(workflowId);
		await rest.deactivateWorkflow(workflowId);
		const execution = await harness.execution(id);
		expect(execution.json('Send Message Here')).toEqual([
			{ text: expect.stringContaining('"Meanwhile" failed') },
		]);
		expect(await rest.listExecutions(workflowId)).toEqual([id]);
	});

	describe('as a tool', () => {
		const { runFailing, toolAnswer } = useAgents(harness, 'Where does the fox sleep?');
		const REASON = 'Model quota exceeded';

		const off = { tool: { options: { failuresAsReplies: false } } };

		it.each([2.2, 3])('tells AI Agent %d why a run failed', async (version) => {
			for (const setting of [{}, { ...off, onError: 'continueRegularOutput' }]) {
				const { error } = await runFailing({ version, ...setting }, REASON);
				expect(error).toBeUndefined();
				expect(toolAnswer()).toContain(REASON);
			}
		});

		it('tells agents what docs/thread-runs.md says where Failures as Replies is off', async () => {
			const { error } = await runFailing({ version: 3, ...off }, REASON);
			const ends = older?.failedToolEndsAgent3 ?? false;
			expect([error?.message, toolAnswer()]).toEqual(
				ends
					? [expect.stringContaining(REASON), undefined]
					: [undefined, expect.stringContaining(REASON)],
			);
			await runFailing({ version: 2.2, ...off }, REASON);
			expect(toolAnswer()).toBe('""');
		});
	});

	it('knows the nodes of the examples', async () => {
		const nodes = exampleFiles().flatMap((file) => readExample(file).nodes);
		// What n8n makes of a node for agents to use, older ones do not list.
		const listed = nodes.filter(({ type }) => !/Tool$/.test(type));
		const used = uniqBy(
			listed.map(({ type: name, typeVersion: version }) => ({ name, version: Number(version) })),
			({ name, version }) => `${name} ${version}`,
		);
		// An n8n 1 answers for none of several nodes where it lacks one.
		const described = used.map(async (node) => {
			const asked = { nodeInfos: [node] };
			const answer = await harness.host.rest
				.request('POST', '/rest/node-types', asked)
				.catch((error: Error) => {
					expect(error.message).toContain('Unrecognized node type');
					return [];
				});
			return answer as Array<{ name: string; version: number | number[] }>;
		});
		const found = (await Promise.all(described)).flat();
		const isKnown = ({ name, version }: { name: string; version: number }) =>
			found.some(
				(type) => name.endsWith(`.${type.name}`) && [type.version].flat().includes(version),
			);
		expect(used).toContainEqual({ name: NODE_TYPE, version: 1 });
		expect(used.filter((node) => !isKnown(node))).toEqual(
			lacks.map(({ name, version }) => ({ name, version })),
		);
	});
});
