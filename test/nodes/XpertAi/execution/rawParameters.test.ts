import type { INodeParameters } from 'n8n-workflow';

import { constantPart, fixedExpression } from '../../../../nodes/XpertAi/execution/rawParameters';
import { submitFields } from '../../../../nodes/XpertAi/operations/document/submit/fields';
import { node } from '../../support/node';

/** What is said of a text that stands in a field as Fixed. */
const saidOf = (text: unknown, name = 'text') => {
	const parameters = { [name]: text } as INodeParameters;
	return fixedExpression({ ...node, parameters }, name, submitFields)?.field;
};

describe('a Fixed text', () => {
	it.each([
		'{{ $json.text }}',
		'Dear {{$json["name"]}}, welcome',
		'{{ $("Get Rows").item.json.id }}',
		"{{ $('a b').first().json.x }}",
		'{{ $now.toISO() }}',
		'{{ "a" + $input.first().json.x }}',
		'{{ $fromAI("key") }}',
		'{{ $node["A"].json.x }}',
		'{{ $itemIndex }}',
		'{{ $vars.host }}/{{ $execution.id }}',
		'{ "a": "{{ $json.a }}" }',
		'$json.text',
		" $('Get Rows').item.json.id ",
	])('holds an expression: %s', (text) => expect(saidOf(text)).toBe('"Text"'));

	it.each([
		'/repo/{{cookiecutter.slug}}/readme.md',
		'How {{ placeholders }} work',
		'{{ .Values.image }} costs $5',
		'{{ $labels.instance }} is down',
		'{{ $t("hello") }}',
		'{{ $jsonld }}',
		'Write {{ and $json.text',
		'Close $json.text with }}',
		'$json.text is what an item holds',
		'US$json',
		'$data.csv',
		"$('#menu').hide()",
		'={{ $json.text }}',
		'',
		undefined,
		5,
	])('holds none: %s', (text) => expect(saidOf(text)).toBeUndefined());

	const LEFT = '{{ $json.x }}';
	const locator = (value: string) => ({ __rl: true, mode: 'list', value, cachedResultName: LEFT });

	it.each<[string, unknown, string | undefined]>([
		['documentSettings', { name: LEFT }, '"Name" in "Document Settings"'],
		['documentSettings', { metadata: `{"a": "${LEFT}"}` }, '"Metadata" in "Document Settings"'],
		[
			'documentSettings',
			{ metadataRows: { values: [{}, { content: LEFT }] } },
			'"Value" in "Metadata Rows" in "Document Settings"',
		],
		['documentFields', { value: { name: LEFT } }, '"name" in "Document Fields"'],
		['knowledgebaseId', locator(LEFT), '"Knowledgebase"'],
		// What a locator shows of what was chosen may be any text.
		['knowledgebaseId', locator('x'), undefined],
	])('in %s %j is named: %s', (name, value, field) => expect(saidOf(value, name)).toBe(field));
});

it('a Fixed text with an expression is refused with a way out', () => {
	const parameters = { text: '{{ $json.text }}' };
	expect(fixedExpression({ ...node, parameters }, 'text', submitFields)).toEqual({
		field: '"Text"',
		rule: 'is Fixed and holds an expression: switch it to Expression',
		fix: 'Fixed and Expression stand above the field.',
	});
});

it.each([
	['={{ $json.a }}', ''],
	['=a {{ $json.a }}-{{ $json.b }}b', 'a -b'],
	['=a{{}}b', 'ab'],
	['=a', ''],
])('%s says %j where its braces give nothing', (expression, said) => {
	expect(constantPart(expression)).toBe(said);
});
