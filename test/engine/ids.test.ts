import { set } from 'lodash';
import type { IDataObject, INodeParameters, INodeProperties } from 'n8n-workflow';

import { ID_PLACEHOLDER, isContainer } from '../../nodes/XpertAi/execution/fields';
import { operationFields } from '../../nodes/XpertAi/execution/properties';
import { ALL_CASES } from './support/cases';
import { calledBy, goodParameters, titleOf } from './support/caseOperations';
import { ECHO_ASSISTANT_ID } from '../../sandbox';
import { useFixture } from './support/fixture';
import { byId } from './support/locators';
import { ask } from './support/runs';

const fixture = useFixture();

const LEFT_EXPRESSION = '{{ $json.sessionId }}';
const NOBODY = '9d0b5d29-99cd-433a-8aed-09da49af7099';
const OTHER_PAGE = 'https://xpert.example/settings/api-keys';

const isIdField = ({ type, placeholder }: INodeProperties) =>
	type === 'resourceLocator' || placeholder === ID_PLACEHOLDER;

/** The fields that hold ids, each with where its value stands, e.g. `filters.xpertId`. */
const idFields = (
	fields: INodeProperties[],
	above = '',
): Array<{ field: INodeProperties; place: string }> =>
	fields.flatMap((field) => {
		const place = `${above}${field.name}`;
		if (isContainer(field))
			return idFields((field.options ?? []) as INodeProperties[], `${place}.`);
		return isIdField(field) ? [{ field, place }] : [];
	});

/** A good call with another value in one field, which is shown. */
function withId(
	good: INodeParameters,
	{ field, place }: { field: INodeProperties; place: string },
	id: string,
) {
	const shown = Object.entries(field.displayOptions?.show ?? {}).map(([name, values]) => [
		name,
		values?.[0],
	]);
	const parameters = { ...good, ...Object.fromEntries(shown) } as INodeParameters;
	return set(parameters, place, field.type === 'resourceLocator' ? byId(id) : id);
}

const ALL = ALL_CASES.flatMap((one) =>
	idFields(operationFields(calledBy(one))).map((id) => ({
		title: `${titleOf(one)} "${id.field.displayName}"`,
		good: goodParameters(one),
		id,
	})),
);

describe('what is no ID', () => {
	it('is looked for in every operation that names a record', () => {
		expect(ALL.length).toBeGreaterThan(25);
	});

	it.each(ALL)('is refused before anything is sent: $title', async ({ good, id }) => {
		const { displayName, name } = id.field;
		// Callers choose the IDs of threads, which may be any text.
		const others = name === 'threadId' ? [] : ['nope'];
		for (const value of [OTHER_PAGE, ...others]) {
			const { error } = await fixture.run(withId(good, id, value));
			expect(error?.message).toMatch(new RegExp(`^"${displayName}" must be .*, but (is )?"`));
		}
		const { error } = await fixture.run(withId(good, id, LEFT_EXPRESSION));
		expect(error?.message).toMatch(
			new RegExp(`^"${displayName}"( in ".*")? is Fixed and holds an expression`),
		);
		expect(fixture.sandbox.requests.all).toEqual([]);
	});

	it('is said to be a name, and which of several items it is of', async () => {
		const parameters = {
			resource: 'knowledgebase',
			operation: 'get',
			knowledgebaseId: '={{ $json.id }}',
		};
		const items = [{ json: { id: 'Support Docs' } }];
		const name =
			'"Knowledgebase" must be an ID, but "Support Docs" is a name: paste the ID, or the address of its page';
		expect((await fixture.run(parameters, { items })).error?.message).toBe(name);
		const known = { json: { id: fixture.world.knowledgebaseId } };
		const second = await fixture.run(parameters, { items: [known, ...items] });
		expect(second.error?.message).toBe(`${name} [item 1]`);
		const cut = await fixture.run(parameters, { items: [{ json: { id: '335ccdfa-d2bb' } }] });
		expect(cut.error?.message).toMatch(
			/^"Knowledgebase" must be a UUID such as .*, but is "335ccdfa-d2bb"$/,
		);
	});

	it('is said to be an expression where it is the text of one', async () => {
		const { error } = await fixture.run({
			resource: 'knowledgebase',
			operation: 'delete',
			knowledgebaseId: byId(LEFT_EXPRESSION),
		});
		expect(error?.message).toBe(
			'"Knowledgebase" is Fixed and holds an expression: switch it to Expression',
		);
		expect(error?.description).toBe(
			'Nothing was sent for this item. Fixed and Expression stand above the field.',
		);
	});

	it('is left to the server in a body of the own', async () => {
		const { error } = await fixture.run({
			resource: 'assistant',
			operation: 'search',
			options: { bodyMode: 'json', jsonBody: '{"metadata":{"workspaceId":"main"}}' },
		});
		expect(error?.description).toContain('answer this way to an ID that is not a UUID');
		expect(fixture.sandbox.requests.all).toHaveLength(1);
	});

	it.each(['={{ $("Gone").item.json.id }}', '={{ "\\ud800" }}'])(
		'in a field that JSON replaces hides no error of the server: %s',
		async (left) => {
			fixture.sandbox.faults.add({ do: 'status', status: 400, body: { message: 'No' } });
			const { error } = await fixture.run({
				...{ resource: 'chatSession', operation: 'create', assistantId: byId(left) },
				options: { bodyMode: 'json', jsonBody: '{}' },
			});
			expect(error?.message).toBe('The server answered 400: No');
		},
	);
});

describe('the address of a page', () => {
	it('gives the ID that stands in it', async () => {
		const { knowledgebaseId } = fixture.world;
		await fixture.run({
			resource: 'knowledgebase',
			operation: 'delete',
			knowledgebaseId: byId(`https://xpert.example/pages/${knowledgebaseId}/documents`),
		});
		expect(fixture.sandbox.requests.all[0]?.path).toBe(`/api/ai/v1/kb/${knowledgebaseId}`);
	});
});

describe('a record that is not there', () => {
	const nobody = { threadId: byId(NOBODY), runId: NOBODY };

	it.each<[string, INodeParameters, string]>([
		['a run', { resource: 'thread', operation: 'getRun', ...nobody }, '"Run ID" and "Thread"'],
		['a run', { resource: 'thread', operation: 'cancelRun', ...nobody }, '"Run ID" and "Thread"'],
		[
			'a knowledgebase',
			{
				resource: 'document',
				operation: 'submit',
				source: 'text',
				text: 'A',
				documentSettings: { name: 'a' },
			},
			'"Knowledgebase"',
		],
		['an assistant', ask({ threadSource: 'new' }), '"Assistant"'],
	])('is looked for by the field it was named in: %s', async (_, parameters, fields) => {
		const { error } = await fixture.run({
			...{ knowledgebaseId: byId(NOBODY), ...parameters },
			...{ assistantId: byId(NOBODY), message: 'Hi' },
		});
		expect(error?.message).toContain('The server answered 404');
		expect(error?.description).toContain(`Check ${fields}.`);
	});
});

describe('a value of 5,000 levels', () => {
	const nested = (levels: number) => {
		let value: unknown = 'x';
		for (let level = 0; level < levels; level++) value = level % 2 ? [value] : { a: value };
		return value as IDataObject;
	};

	it.each<[string, INodeParameters]>([
		[
			'JSON Body',
			{
				resource: 'assistant',
				operation: 'search',
				options: { bodyMode: 'json', jsonBody: '={{ $json.deep }}' },
			},
		],
		[
			'Knowledgebase',
			{ resource: 'knowledgebase', operation: 'get', knowledgebaseId: '={{ $json.deep }}' },
		],
		['Title', { resource: 'conversation', operation: 'create', title: '={{ $json.deep }}' }],
		[
			'Timeout \\(Seconds\\)',
			{ resource: 'conversation', operation: 'create', options: { timeout: '={{ $json.deep }}' } },
		],
		[
			'Text',
			{
				resource: 'document',
				operation: 'submit',
				source: 'text',
				text: '={{ $json.deep }}',
				documentSettings: { name: 'a' },
				knowledgebaseId: byId(NOBODY),
			},
		],
	])('is refused in words: "%s"', async (field, parameters) => {
		const { error } = await fixture.run(parameters, { items: [{ json: { deep: nested(5_000) } }] });
		expect(error?.message).toMatch(new RegExp(`^"${field}".* is nested too deeply`));
		expect(fixture.sandbox.requests.all).toEqual([]);
	});
});

describe('a key that tells conversations apart', () => {
	it('is no text of an expression, which would be the same for everybody', async () => {
		const { error } = await fixture.run({
			resource: 'thread',
			operation: 'run',
			assistantId: ECHO_ASSISTANT_ID,
			message: 'Hi',
			threadSource: 'key',
			conversationKey: LEFT_EXPRESSION,
		});
		expect(error?.message).toBe(
			'"Conversation Key" is Fixed and holds an expression: switch it to Expression',
		);
		expect(fixture.sandbox.requests.all).toEqual([]);
	});
});
