import { addHints, isInLoop } from 'nodes/XpertAi/execution/n8nExecution';
import { contextWith } from '../../support/context';

it('hints stand above the output', () => {
	const shown: unknown[] = [];
	addHints(contextWith({ addExecutionHints: (...all) => shown.push(...all) }), ['a', 'b']);
	expect(shown).toEqual(['a', 'b'].map((message) => ({ message, location: 'outputPane' })));
});

it.each([
	[
		'behind and before the same node the node is in a loop',
		['Loop', 'Start'],
		['Loop', 'End'],
		true,
	],
	['between two nodes the node is in none', ['Start'], ['End'], false],
])('%s', (_, before, after, expected) => {
	const named = (names: string[]) => () =>
		names.map((name) => ({ name, type: name, typeVersion: 1, disabled: false }));
	const context = contextWith({ getParentNodes: named(before), getChildNodes: named(after) });
	expect(isInLoop(context)).toBe(expected);
	expect([isInLoop(context, 'Loop'), isInLoop(context, 'End')]).toEqual([expected, false]);
});
