import { set } from 'lodash';
import type { INodeParameters, INodeProperties } from 'n8n-workflow';

import { isContainer } from '../../nodes/XpertAi/execution/fields';
import type { Field } from '../../nodes/XpertAi/execution/fields';
import { operationFields } from '../../nodes/XpertAi/execution/properties';
import { ID_PLACEHOLDER } from '../../nodes/XpertAi/pickers/locators';
import { ALL_CASES } from './support/cases';
import { calledBy, goodParameters, titleOf } from './support/caseOperations';
import { ECHO_ASSISTANT_ID } from '../../sandbox';
import { useFixture } from './support/fixture';
import { byId } from './support/locators';

const fixture = useFixture();

const LEFT_EXPRESSION = '{{ $json.sessionId }}';
const OTHER_PAGE = 'https://xpert.example/settings/api-keys';

const isIdField = ({ type, placeholder }: INodeProperties) =>
	type === 'resourceLocator' || placeholder === ID_PLACEHOLDER;

/** The fields that hold ids, each with where its value stands, e.g. `filters.xpertId`. */
const idFields = (fields: Field[], above = ''): Array<{ field: Field; place: string }> =>
	fields.flatMap((field) => {
		const place = `${above}${field.name}`;
		if (isContainer(field)) return idFields((field.options ?? []) as Field[], `${place}.`);
		return isIdField(field) ? [{ field, place }] : [];
	});

/** A good call with another value in one field, which is shown. */
function withId(
	good: INodeParameters,
	{ field, place }: { field: Field; place: string },
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
		for (const value of [LEFT_EXPRESSION, OTHER_PAGE, ...others]) {
			const { error } = await fixture.run(withId(good, id, value));
			expect(error?.message).toMatch(new RegExp(`^"${displayName}" must be .*, but is "`));
		}
		expect(fixture.sandbox.requests.all).toEqual([]);
	});

	it('is said to be an expression where it is the text of one', async () => {
		const { error } = await fixture.run({
			resource: 'knowledgebase',
			operation: 'delete',
			knowledgebaseId: byId(LEFT_EXPRESSION),
		});
		expect(error?.message).toBe(
			'"Knowledgebase" must be an ID, but is "{{ $json.sessionId }}" [item 0]',
		);
		expect(error?.description).toBe(
			'Nothing was sent for this item. The value is the text of an expression: switch the field from Fixed to Expression.',
		);
	});

	it('is left to the server in a body of the own, and named when that breaks on it', async () => {
		const { error } = await fixture.run({
			resource: 'assistant',
			operation: 'search',
			bodyMode: 'json',
			jsonBody: '{"metadata":{"workspaceId":"main"}}',
		});
		expect(error?.description).toContain(
			'The value of "JSON Body" at metadata.workspaceId, "main", is not a UUID',
		);
		expect(fixture.sandbox.requests.all).toHaveLength(1);
	});
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
			'"Conversation Key" must be a key, but is "{{ $json.sessionId }}" [item 0]',
		);
		expect(fixture.sandbox.requests.all).toEqual([]);
	});
});
