import { splitList } from 'nodes/XpertAi/execution/fieldBuilders';

describe('a list in a text', () => {
	it.each<[string, string, string[]]>([
		['at its commas', 'a, b ,,c ', ['a', 'b', 'c']],
		['as JSON', '["a", "b, c"]', ['a', 'b, c']],
		['as JSON over several lines', ' [\n  "a",\n  "b"\n]\n', ['a', 'b']],
		[
			'as JSON with numbers, whose digits all stay',
			'[1, 90071992547409931]',
			['1', '90071992547409931'],
		],
		['as JSON without what is missing', '["a", null, "", " "]', ['a']],
		['as JSON without anything', '[]', []],
		['at its commas if brackets are part of it', '[a], b', ['[a]', 'b']],
		['at its commas if it holds objects', '[{"a":1}]', ['[{"a":1}]']],
		['as one if it is a JSON text', '"a"', ['"a"']],
	])('is read %s', (_, text, parts) => expect(splitList(text)).toEqual(parts));

	it('is read at the separator that it has', () => {
		expect(splitList('a/ b, c', '/')).toEqual(['a', 'b, c']);
	});
});
