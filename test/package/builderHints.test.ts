import { NodeTypeParser, searchCodeBuilderNodes } from '@n8n/ai-utilities/node-catalog';
import { map, sortBy } from 'lodash';
import type { INodeProperties } from 'n8n-workflow';

import { XpertAi } from 'nodes/XpertAi/XpertAi.node';
import { XpertAiTrigger } from 'nodes/XpertAiTrigger/XpertAiTrigger.node';
import { OPERATIONS, allProperties } from '../nodes/support/properties';

const NODES = [new XpertAi(), new XpertAiTrigger()];
const PACKAGE = 'n8n-nodes-xpertai';

type Catalogue = ConstructorParameters<typeof NodeTypeParser>[0];

/** The nodes under the names that n8n knows them by, as n8n sends them on. */
const installed = JSON.parse(
	JSON.stringify(
		NODES.map(({ description }) => ({ ...description, name: `${PACKAGE}.${description.name}` })),
	),
) as Catalogue;

/** What n8n's own AI is shown of the nodes for what it looks for. */
const catalogueFor = (words: string) =>
	searchCodeBuilderNodes(new NodeTypeParser(installed), [words]).results;

const hintsOf = (properties: INodeProperties[]) =>
	allProperties(properties).flatMap(({ property }) => {
		const { builderHint, options = [] } = property;
		const inside = options.map((option) => option.builderHint);
		return [builderHint, ...inside].flatMap((hint) => hint?.propertyHint ?? []);
	});

describe("what n8n's own AI is told", () => {
	const shown = catalogueFor('Xpert AI');

	it.each(NODES.map(({ description }) => description))('of $displayName', ({ builderHint }) => {
		expect(shown).toContain(`@builderHint ${builderHint?.searchHint ?? 'missing'}`);
		for (const { nodeType, relationHint } of builderHint?.relatedNodes ?? []) {
			expect(shown).toContain(`${nodeType}: "${relationHint}"`);
		}
	});

	it('of the operations that are easily got wrong', () => {
		const hints = NODES.flatMap(({ description }) =>
			description.properties
				.filter(({ name }) => name === 'operation')
				.flatMap((list) => hintsOf([list])),
		);
		expect(hints.length).toBeGreaterThanOrEqual(2);
		for (const hint of hints) expect(shown).toContain(`@builderHint ${hint}`);
	});

	it('in a few words each, as they go to every browser', () => {
		const hints = NODES.flatMap(({ description }) => hintsOf(description.properties));
		expect(hints.filter((hint) => hint.length > 220)).toEqual([]);
	});
});

/** As of November 2026, and a tenth. */
const MOST_BYTES_AN_OPERATION = 3_350;

describe('the descriptions of the nodes, which n8n sends with every load of its editor and each question to its AI', () => {
	it('are no larger than what they have operations for', () => {
		const sizeOf = (value: unknown) => JSON.stringify(value).length;
		const size = sizeOf(NODES.map(({ description }) => description));
		const most = MOST_BYTES_AN_OPERATION * OPERATIONS.length;
		const longest = sortBy(
			NODES.flatMap(({ description }) => description.properties),
			(property) => -sizeOf(property),
		).slice(0, 5);
		const advice = `${size} bytes are ${size - most} too many: shorten descriptions, the longest are those of ${map(longest, 'displayName').join(', ')}; or raise MOST_BYTES_AN_OPERATION, and say in the commit what for`;
		expect(size > most ? advice : '').toBe('');
	});
});
