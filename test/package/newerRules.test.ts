import { readFileSync } from 'node:fs';
import path from 'node:path';

import type { INodeProperties } from 'n8n-workflow';

import { XpertAiApi } from 'credentials/XpertAiApi.credentials';
import { projectRoot } from 'host/paths';
import { XpertAi } from 'nodes/XpertAi/XpertAi.node';
import { XpertAiTrigger } from 'nodes/XpertAiTrigger/XpertAiTrigger.node';
import packageJson from '../../package.json';

/** Two of n8n's categories: https://docs.n8n.io/integrations/creating-nodes/build/reference/node-codex-files/ */
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
/** A text needs a name, rows with one title a key; the others decide what is sent and what is removed. */
const SEEN_AT_ONCE = [
	'name',
	'documentKey',
	'documentKeyField',
	'documentVersion',
	'mode',
	'whatIsGone',
];
const AT_THE_TOP = [...OF_LISTS, ...SUBJECTS, ...NEEDED_ELSEWHERE, ...SEEN_AT_ONCE];
const CONTAINERS = ['collection', 'fixedCollection', 'notice', 'callout', 'hidden'];

const read = (...names: string[]) =>
	readFileSync(path.join(projectRoot, 'nodes', ...names), 'utf8');

/** The relative luminance of `#rrggbb`, as the WCAG defines it. */
function luminance(colour: string): number {
	const [red = 0, green = 0, blue = 0] = [1, 3, 5]
		.map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
		.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
	return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
}

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

	it.each(['XpertAi', 'XpertAiTrigger'])('%s is in categories that n8n has', (name) => {
		const codex = JSON.parse(read(name, `${name}.node.json`)) as Record<string, unknown>;
		expect(codex.categories).toEqual(CATEGORIES);
		expect(codex).not.toHaveProperty('subcategories');
	});

	it.each([
		['xpertAi.svg', '#ffffff'],
		['xpertAi.dark.svg', '#2b2b2b'],
	])('%s stands out from what is behind it', (icon, background) => {
		const colours = read('XpertAi', icon).match(/#[\da-f]{6}\b/gi) ?? [];
		const ratios = colours.map((colour) => luminance(colour) / luminance(background));
		expect(Math.max(...ratios.map((ratio) => Math.max(ratio, 1 / ratio)))).toBeGreaterThanOrEqual(
			3,
		);
	});

	it('the package has the licence and the credential the name that n8n asks for', () => {
		expect(packageJson.license).toBe('MIT');
		expect(packageJson).not.toHaveProperty('workspaces');
		expect(packageJson.n8n.credentials).toEqual([
			`dist/credentials/${XpertAiApi.name}.credentials.js`,
		]);
	});
});
