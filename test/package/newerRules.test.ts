import { readFileSync } from 'node:fs';
import path from 'node:path';

import type { INodeProperties } from 'n8n-workflow';

import { projectRoot } from '../../host/paths';
import { XpertAi } from '../../nodes/XpertAi/XpertAi.node';
import { XpertAiTrigger } from '../../nodes/XpertAiTrigger/XpertAiTrigger.node';

const CATEGORIES = ['Data & Storage', 'Productivity'];

/** Optional fields that stay at the top, as n8n's own nodes have them there. */
const OF_LISTS = ['limit', 'simplify'];
/** Optional fields that an operation is about: what a search looks for, and what is changed. */
const SUBJECTS = [
	'sourceName',
	'prefix',
	'namespace_prefix',
	'textField',
	'title',
	'rating',
	'clearFields',
];
/** An existing thread has an assistant already; everything else needs one. */
const NEEDED_ELSEWHERE = ['assistantId'];
const AT_THE_TOP = [...OF_LISTS, ...SUBJECTS, ...NEEDED_ELSEWHERE];
const CONTAINERS = ['collection', 'fixedCollection', 'notice', 'callout', 'hidden'];

describe("the rules that n8n's linter will have next", () => {
	it.each([new XpertAi().description, new XpertAiTrigger().description])(
		'$displayName has one credential, and no optional JSON at the top',
		({ credentials, properties }) => {
			expect(credentials).toHaveLength(1);
			const json = (property: INodeProperties) => property.type === 'json' && !property.required;
			expect(properties.filter(json)).toEqual([]);
		},
	);

	it('what is optional is in a collection, but for what others depend on and a few with a reason', () => {
		const { properties } = new XpertAi().description;
		const depended = properties.flatMap(({ displayOptions }) =>
			Object.keys(displayOptions?.show ?? {}),
		);
		const optional = properties.filter(
			({ name, type, required }) =>
				!required && !CONTAINERS.includes(type) && !depended.includes(name),
		);
		const names = [...new Set(optional.map(({ name }) => name))];
		expect(names.sort()).toEqual(AT_THE_TOP.toSorted());
	});

	it.each(['XpertAi', 'XpertAiTrigger'])('%s is in two of the categories that n8n has', (name) => {
		const file = path.join(projectRoot, 'nodes', name, `${name}.node.json`);
		const codex = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
		expect(codex.categories).toEqual(CATEGORIES);
		expect(codex).not.toHaveProperty('subcategories');
	});
});
