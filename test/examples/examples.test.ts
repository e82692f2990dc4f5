import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isEmpty, pickBy } from 'lodash';
import {
	NodeHelpers,
	type INodeParameters,
	type INodeProperties,
	type INodeTypeDescription,
	type ResourceMapperField,
	type ResourceMapperValue,
} from 'n8n-workflow';
import { z } from 'zod';

import {
	exampleFiles,
	readExample,
	filledIn,
	PLACEHOLDERS,
	sandboxValues,
	toNewWorkflow,
} from 'host/examples';
import { getDocumentFields } from 'nodes/XpertAi/pickers/documentFields';
import { XpertAi } from 'nodes/XpertAi/XpertAi.node';
import {
	DEPARTMENT_ASSISTANT_ID,
	SANDBOX_ASSISTANT_ID,
	SANDBOX_KNOWLEDGEBASE_ID,
	startSandbox,
} from 'sandbox';
import { XpertAiTrigger } from 'nodes/XpertAiTrigger/XpertAiTrigger.node';
import { expectGenerated, jsonText } from '../support/generated';

interface Node {
	name: string;
	type: string;
	parameters: INodeParameters & { documentFields?: ResourceMapperValue };
}

const pathOf = (file: string) => path.resolve(__dirname, '../../examples', file);
/** An example with its keys in their order. */
const read = (file: string) => JSON.parse(readFileSync(pathOf(file), 'utf8')) as { nodes: Node[] };

const note = z.object({ content: z.string(), color: z.number() });
const NOTE = 'n8n-nodes-base.stickyNote';
const isNote = ({ type }: Node) => type === NOTE;
/** A block of code in a note. */
const CODE = /```[^]*?```/g;

/** The schema of a mapping as the editor saves it: the fields that hold a value are not removed. */
async function schemaFor(value: Record<string, unknown> | null): Promise<ResourceMapperField[]> {
	const { fields } = await getDocumentFields();
	return fields.map((field) => ({ ...field, removed: !(field.id in (value ?? {})) }));
}

const DESCRIPTIONS = new Map(
	[new XpertAi(), new XpertAiTrigger()].map(({ description }) => [
		`n8n-nodes-xpertai.${description.name}`,
		description,
	]),
);

/** What n8n itself gives every trigger that polls. */
const POLL_TIMES = 'pollTimes';

const namesOf = (fields: Array<{ name: string }>) => fields.map(({ name }) => name);

/** The parameters a node of ours shows with what its example sets. */
function shownWith(parameters: INodeParameters, description: INodeTypeDescription) {
	return description.properties.filter((property) =>
		NodeHelpers.displayParameter(parameters, property, { typeVersion: 1 }, description),
	);
}

/** What an example sets of a node, at its top or in a collection, that the node does not have. */
function unknownIn(parameters: INodeParameters, description: INodeTypeDescription): string[] {
	const shown = shownWith(parameters, description);
	const inside = shown
		.filter(({ type }) => type === 'collection')
		.flatMap(({ name, options = [] }) => {
			const set = Object.keys((parameters[name] ?? {}) as INodeParameters);
			const known = namesOf(options as INodeProperties[]);
			return set.filter((key) => !known.includes(key)).map((key) => `${name}.${key}`);
		});
	const known = [...namesOf(shown), ...(description.polling ? [POLL_TIMES] : [])];
	return [...Object.keys(parameters).filter((name) => !known.includes(name)), ...inside];
}

describe('the examples', () => {
	it('are numbered in the order to open them', () => {
		const names = exampleFiles().map((file) => readExample(file).name);
		expect(names.map((name) => /^Xpert AI (\d+): /.exec(name)?.[1])).toEqual(
			names.map((_name, place) => String(place + 1)),
		);
	});

	it('are filled in with what a sandbox has from the start', () => {
		expect(sandboxValues('')).toMatchObject({
			assistantId: SANDBOX_ASSISTANT_ID,
			departmentAssistantId: DEPARTMENT_ASSISTANT_ID,
			knowledgebaseId: SANDBOX_KNOWLEDGEBASE_ID,
		});
	});

	it('lead to the page of a chat, whose address is new in each n8n', () => {
		const file = readExample('chat-with-an-assistant.json');
		const before = /webhook\/([^/]+)\/chat/.exec(JSON.stringify(file))?.[1];
		const made = JSON.stringify(toNewWorkflow(file, []));
		const [, address, id] = /webhook\/([^/]+)\/chat.*"webhookId":"([^"]+)"/.exec(made) ?? [];
		expect([address, id]).toEqual([id, expect.stringMatching(/^[0-9a-f-]{36}$/)]);
		expect(made).not.toContain(before);
	});

	it('that fill a knowledgebase have one of their own in a sandbox', async () => {
		const filling = exampleFiles().filter((file) =>
			JSON.stringify(readExample(file)).includes(PLACEHOLDERS.knowledgebaseId),
		);
		const ids = filling.map((file) => sandboxValues('', readExample(file).name).knowledgebaseId);
		const sandbox = await startSandbox();
		await sandbox.close();
		expect(filling.length).toBeGreaterThan(8);
		expect(ids.sort()).toEqual([...sandbox.store.knowledgebases.keys()].sort());
	});

	it('name the assistant of a sandbox that answers from what they fill in', async () => {
		const sandbox = await startSandbox();
		await sandbox.close();
		const assistants = [...sandbox.store.assistants.values()];
		const named = exampleFiles().flatMap((file) => {
			const [, name] = /the assistant \*([^*]+)\*/.exec(JSON.stringify(readExample(file))) ?? [];
			return name === undefined ? [] : [{ file, name }];
		});
		for (const { file, name } of named) {
			const { knowledgebaseId } = sandboxValues('', readExample(file).name);
			const tools = [expect.objectContaining({ knowledgebaseId })];
			expect(assistants).toContainEqual(expect.objectContaining({ name, tools }));
			expect(sandbox.store.knowledgebases.get(knowledgebaseId)).toMatchObject({ name });
		}
		expect(named).toHaveLength(7);
	});

	it('are filled in with values as they are, whatever characters these have', () => {
		const file = { name: 'E', nodes: [], connections: {}, path: `${PLACEHOLDERS.folder}/*.md` };
		const values = { ...PLACEHOLDERS, folder: 'C:\\my "$& files"' };
		expect(filledIn(file, values)).toEqual({ ...file, path: 'C:\\my "$& files"/*.md' });
	});
});

const isOurs = ({ type }: Pick<Node, 'type'>) => type.endsWith('.xpertAiTrigger');
const triggersOf = (file: string) =>
	readExample(file).nodes.filter(({ type }) => /(Trigger|\.webhook)$/.test(type));

/** Whether an example starts with what the Xpert AI Trigger gives, so that there is nothing to ask for. */
const startsItself = (file: string) => triggersOf(file).every(isOurs);

/** The node that hands on words alone. */
const WORDS = 'Answer';

/** A trigger and one node of ours, whose words are handed on: what that needs is filled in where it is. */
const isPair = (file: string) =>
	readExample(file).nodes.filter(({ name, type }) => type !== NOTE && name !== WORDS).length === 2;

const hasSettings = (file: string) => !startsItself(file) && !isPair(file);

describe.each(exampleFiles())('the example %s', (file) => {
	it('says in short, coloured notes what it does and what to change', () => {
		const notes = read(file).nodes.filter(isNote);
		expect(notes.map(({ name }) => name)).toEqual(['About', 'What to Change']);
		const [about, change] = notes.map(({ parameters }) => note.parse(parameters));
		expect(about?.content).toContain('**Try it');
		expect(change?.content).toContain(hasSettings(file) ? '**Settings**' : 'credential');
		expect(new Set([about?.color, change?.color]).size).toBe(2);
		for (const { content } of [about, change].flatMap((one) => one ?? [])) {
			expect(content.replaceAll(CODE, '').length).toBeLessThan(400);
		}
	});

	it('asks for what it needs in one node, and nowhere else: behind its triggers, or the only one of ours', () => {
		const { nodes, connections } = readExample(file);
		const settings = nodes.filter(({ name }) => name === 'Settings');
		expect(settings.map(({ type }) => type)).toEqual(
			hasSettings(file) ? ['n8n-nodes-base.set'] : [],
		);
		expect(triggersOf(file)).not.toEqual([]);
		const asked = triggersOf(file).filter((trigger) => !isOurs(trigger));
		for (const { name } of hasSettings(file) ? asked : []) {
			expect(connections[name]).toMatchObject({ main: [[{ node: 'Settings' }]] });
		}
		const asking = isPair(file) ? nodes.filter(({ type }) => /\.xpertAi$/.test(type)) : settings;
		const others = nodes.filter((node) => node.type !== NOTE && !asking.includes(node));
		expect(JSON.stringify(others)).not.toMatch(/your-|[0-9a-f]{8}-0000-4000/);
	});

	it('has nothing left to fill in once it is filled in', () => {
		const values = sandboxValues('http://127.0.0.1:1');
		const ready = JSON.stringify(filledIn(readExample(file), values));
		for (const placeholder of [...Object.values(PLACEHOLDERS), 'your-']) {
			expect(ready).not.toContain(placeholder);
		}
	});

	it('sets nothing that its nodes do not have', () => {
		const unknown = read(file).nodes.flatMap(({ name, type, parameters }) => {
			const description = DESCRIPTIONS.get(type);
			if (!description) return [];
			return [[name, unknownIn(parameters, description)] as const];
		});
		expect(pickBy(Object.fromEntries(unknown), (names) => !isEmpty(names))).toEqual({});
	});

	it('holds the fields of a mapping as the editor saves them', async () => {
		const workflow = read(file);
		for (const { parameters } of workflow.nodes) {
			const { documentFields } = parameters;
			if (documentFields) documentFields.schema = await schemaFor(documentFields.value);
		}
		expectGenerated(pathOf(file), jsonText(workflow));
	});
});

/** What a Set node keeps. */
const kept = z.object({
	parameters: z.object({
		mode: z.literal('manual'),
		assignments: z.object({ assignments: z.array(z.object({ name: z.string() })) }),
		includeOtherFields: z.literal(false).default(false),
	}),
});

/** Whether visitors get what comes out of a run: by a chat, or as the response to a webhook. */
const facesVisitors = (file: string) =>
	triggersOf(file).some(({ type }) => /\.(chatTrigger|webhook)$/.test(type)) &&
	read(file).nodes.some(({ type, parameters }) => {
		return type.endsWith('.xpertAi') && parameters.resource === 'thread';
	});

describe('the examples whose answers visitors read', () => {
	it('are those with a chat, or a webhook that asks', () => {
		expect(exampleFiles().filter(facesVisitors)).toEqual([
			'ask-an-assistant.json',
			'chat-with-an-assistant.json',
			'answers-as-they-are-written.json',
		]);
	});

	it.each(exampleFiles().filter(facesVisitors))('hand on words alone: %s', (file) => {
		const { nodes, connections } = readExample(file);
		expect(connections['Ask Assistant']).toEqual({
			main: [[{ node: WORDS, type: 'main', index: 0 }]],
		});
		const answer = nodes.find(({ name }) => name === WORDS);
		expect(answer?.type).toBe('n8n-nodes-base.set');
		const { assignments } = kept.parse(answer).parameters.assignments;
		expect(namesOf(assignments)).toEqual(['output']);
	});
});
