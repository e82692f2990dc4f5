import { set } from 'lodash';
import type { INodeParameters, INodeProperties } from 'n8n-workflow';

import { ID_PLACEHOLDER, isPanelGroup } from 'nodes/XpertAi/execution/fieldBuilders';
import { operationFields } from 'nodes/XpertAi/execution/nodeProperties';

import { ALL_CASES } from './support/cases';
import { calledBy, goodParameters, titleOf } from './support/caseOperations';
import { useFixture } from './support/fixture';
import { byId } from './support/locators';

const fixture = useFixture();
const { sent } = fixture;

const LEFT_EXPRESSION = '{{ $json.sessionId }}';
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
		if (isPanelGroup(field))
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
		expect(sent()).toEqual([]);
	});
});
