import { cloneDeepWith, countBy, max } from 'lodash';
import type { INodeParameters } from 'n8n-workflow';

import { calledBy, titleOf } from './support/caseOperations';
import { ALL_CASES } from './support/cases';
import { watchEvaluations } from './support/evaluations';
import { useFixture } from './support/fixture';
import { ask } from './support/runs';

const fixture = useFixture();

afterEach(() => jest.restoreAllMocks());

/** What says which other fields there are. n8n does not show fields that depend on an expression. */
const CHOICES = ['resource', 'operation', 'mode', 'source', 'threadSource', 'documentsBy'];
const NO_VALUES = [...CHOICES, 'mappingMode', 'schema', '__rl'];

/** The same parameters as expressions that compute, each of its own. */
function asExpressions(parameters: INodeParameters): INodeParameters {
	let count = 0;
	return cloneDeepWith(parameters, (value: unknown, key) => {
		if (NO_VALUES.includes(String(key))) return value;
		if (!['string', 'number', 'boolean'].includes(typeof value) || value === '') return undefined;
		const code = JSON.stringify(value).replaceAll('}}', '}\\u007d');
		return `={{ [${code}, ${(count += 1)}][0] }}`;
	}) as INodeParameters;
}

const ITEMS = [{ json: {} }, { json: {} }];

describe('an expression is evaluated once an item', () => {
	const cases = ALL_CASES.map((one) => ({ title: titleOf(one), one }));

	it.each(cases)('of $title', async ({ one }) => {
		const parameters = { ...one.good(fixture.world), operation: calledBy(one).value };
		const evaluated = watchEvaluations();
		await fixture.run(asExpressions(parameters), {
			items: ITEMS,
			onError: 'continueRegularOutput',
		});
		expect(max(Object.values(countBy(evaluated)))).toBe(ITEMS.length);
	});

	it.each(cases)('of $title, where the server does not find it', async ({ one }) => {
		fixture.add({ endpoint: one.endpoint, do: 'status', status: 404 });
		const evaluated = watchEvaluations();
		const computed = asExpressions(one.good(fixture.world));
		await fixture.run(computed, { items: ITEMS, onError: 'continueRegularOutput' });
		expect(max(Object.values(countBy(evaluated)))).toBe(ITEMS.length);
	});

	it('of an option that the tool of an agent reads before the run and after its failure', async () => {
		const evaluated = watchEvaluations();
		const options = { failuresAsReplies: '={{ [false][0] }}' };
		const parameters = ask({ message: '={{ "" }}', options });
		const { error } = await fixture.run(parameters, { isTool: true });
		expect(error?.message).toContain('is empty: its expression gave nothing');
		expect(evaluated.filter((one) => one === options.failuresAsReplies)).toHaveLength(1);
	});
});
