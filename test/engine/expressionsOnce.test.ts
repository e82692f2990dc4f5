import { cloneDeepWith, countBy, max, range } from 'lodash';
import type { INodeParameters } from 'n8n-workflow';

import { calledBy, titleOf } from './support/caseOperations';
import { ALL_CASES } from './support/cases';
import { watchEvaluations } from './support/evaluations';
import { TEXTS, useIngest } from './support/ingest';
import { ask } from './support/runs';

const { fixture, submit } = useIngest();

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

describe('of expressions, n8n evaluates', () => {
	const items = range(5).map((page) => ({
		json: { name: `page ${page}`, text: 'A text', folder: ' manuals', page, user: 'anna' },
	}));

	it('in texts with three of them in Document Settings: each once, one that only reads for one item', async () => {
		const evaluated = watchEvaluations();
		const { error } = await submit(
			{
				...TEXTS,
				mode: 'changed',
				sourceName: 'manuals',
				text: '={{ $json.text.trim() }}',
				name: '={{ $json.name + ".md" }}',
				documentSettings: {
					documentVersion: '={{ $json.page + 1 }}',
					folder: '={{ $json.folder.trim() }}/{{ $json.name.trim() }}',
					metadataRows: { values: [{ key: 'page', content: '={{ $json.page * 2 }}' }] },
				},
			},
			{ items },
		);
		expect(error).toBeUndefined();
		// Of `$json.name + ".md"`, n8n is asked for `$json.name`.
		expect(countBy(evaluated)).toEqual({
			'={{ $json.text.trim() }}': 5,
			'={{ $json.name }}': 1,
			'={{ $json.folder.trim() }}': 5,
			'={{ $json.name.trim() }}': 5,
			'={{ $json.page }}': 1,
			'={{ $json.page * 2 }}': 5,
		});
	});

	it('in questions under a key: each part of the key once', async () => {
		const evaluated = watchEvaluations();
		const { error } = await fixture.run(
			ask({
				threadSource: 'key',
				conversationKey: '=page {{ $json.page }} of {{ $json.user.trim() }}',
				message: '={{ $json.text }}',
				options: {
					title: '={{ $json.name }}',
					filterValues: { values: [{ key: 'page', content: '={{ $json.page * 2 }}' }] },
				},
			}),
			{ items },
		);
		expect(error).toBeUndefined();
		expect(countBy(evaluated)).toEqual({
			'={{ $json.page }}': 1,
			'={{ $json.user.trim() }}': 5,
			'={{ $json.text }}': 1,
			'={{ $json.name }}': 1,
			'={{ $json.page * 2 }}': 5,
		});
	});

	it('in a simple operation: one that only reads until it has given a value', async () => {
		const evaluated = watchEvaluations();
		const read = '={{ $json.label }}';
		const labels = [undefined, null, 'a', 'b', 'c', undefined];
		await fixture.run(
			{ resource: 'conversation', operation: 'search', filters: { search: read } },
			{ items: labels.map((label) => ({ json: { label } })) },
		);
		expect(evaluated).toEqual([read, read, read]);
	});
});
