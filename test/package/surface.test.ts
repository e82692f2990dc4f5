import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { cloneDeep, get, isEmpty, set, unset } from 'lodash';
import type { INodeProperties, INodeType } from 'n8n-workflow';

import { XpertAiApi } from '../../credentials/XpertAiApi.credentials';
import { XpertAi } from '../../nodes/XpertAi/XpertAi.node';
import { XpertAiTrigger } from '../../nodes/XpertAiTrigger/XpertAiTrigger.node';
import { GENERATES } from '../support/generated';
import { credentialSurface, nodeSurface, surfaceChanges, surfaceText } from './support/surface';
import type { Surface } from './support/surface';

const FOLDER = path.join(__dirname, 'surface');

/** What breaks nothing is taken over by `npm run generate`; the rest when a person says so. */
const TAKES_ALL = process.env.UPDATE_SURFACE === '1';

/** A node in each of its versions, with the file that holds what it looks like to saved workflows. */
const versionsOf = (node: INodeType) =>
	[node.description.version].flat().map((version) => ({
		file: `${node.description.name}.v${version}.json`,
		surface: async () => await nodeSurface(node, version),
	}));

const credential = new XpertAiApi();
const FROZEN = [
	...versionsOf(new XpertAi()),
	...versionsOf(new XpertAiTrigger()),
	{ file: `${credential.name}.json`, surface: async () => credentialSurface(credential) },
];

const read = (file: string): unknown => {
	const full = path.join(FOLDER, file);
	return existsSync(full) ? JSON.parse(readFileSync(full, 'utf8')) : {};
};

/** What to do about a surface that is not what its file holds. */
function verdict(file: string, before: unknown, now: unknown): string {
	const { breaking, added } = surfaceChanges(before, now);
	const parts = [
		...(isEmpty(breaking)
			? []
			: ['Breaks what users have saved: undo it, or make it version 2 of the node.', ...breaking]),
		...(isEmpty(added)
			? []
			: ['Is new: fine if what was saved without it goes on as before.', ...added]),
	];
	if (isEmpty(parts)) return '';
	return [
		`test/package/surface/${file} holds another surface.`,
		...parts,
		'docs/versions.md says how to decide. npm run generate takes over what is new, UPDATE_SURFACE=1 npm run test:unit -- test/package/surface all of it.',
	].join('\n');
}

describe('what saved workflows rely on', () => {
	it.each(FROZEN)('is what $file holds', async ({ file, surface }) => {
		const now = await surface();
		const breaks = !isEmpty(surfaceChanges(read(file), now).breaking);
		const text = `${surfaceText(now)}\n`;
		if (TAKES_ALL || (GENERATES && !breaks)) writeFileSync(path.join(FOLDER, file), text);
		expect(verdict(file, read(file), now)).toBe('');
	});

	it('is held of every version that ever was', () => {
		expect(readdirSync(FOLDER).sort()).toEqual(FROZEN.map(({ file }) => file).sort());
	});
});

describe('a change', () => {
	const BATCH_SIZE = ['parameters', 'document.submit', 'options', 'fields', 'batchSize'];
	const LIMIT = ['parameters', 'conversation.search', 'limit'];
	const TEXT = ['parameters', 'document.submit', 'text'];
	const SOURCES = ['parameters', 'document.submit', 'source', 'values'];
	let now: Surface;
	beforeAll(async () => {
		now = await nodeSurface(new XpertAi(), 1);
	});
	/** What is said once version 1 has become something else. */
	const after = (change: (surface: Surface) => void) => {
		const later = cloneDeep(now);
		change(later);
		return surfaceChanges(now, later);
	};

	it.each<[string, (surface: Surface) => void, string]>([
		[
			'of a default',
			(later) => set(later, [...BATCH_SIZE, 'default'], 7),
			'parameters.document.submit.options.fields.batchSize.default: 100 has become 7',
		],
		[
			'of a type',
			(later) => set(later, [...BATCH_SIZE, 'type'], 'string'),
			'parameters.document.submit.options.fields.batchSize.type: "number" has become "string"',
		],
		[
			'that shows a parameter for fewer values',
			(later) => set(later, [...TEXT, 'shown', 'source'], []),
			'parameters.document.submit.text.shown.source."text": "text" is gone',
		],
		[
			'that shows it under one more condition',
			(later) => set(later, [...TEXT, 'shown', 'output'], ['documents']),
			'parameters.document.submit.text.shown.output: ["documents"]',
		],
		[
			'that hides it under one more condition',
			(later) => set(later, [...TEXT, 'hidden'], { output: ['summary'] }),
			'parameters.document.submit.text.hidden: {"output":["summary"]}',
		],
		[
			'of a value',
			(later) => set(later, [...SOURCES, 0], 'renamed'),
			'parameters.document.submit.source.values."addresses": "addresses" is gone',
		],
	])('%s breaks what was saved', (_title, change, words) => {
		expect(after(change).breaking).toEqual([words]);
	});

	it('that adds a parameter or a value is told apart', () => {
		const { breaking, added } = after((later) => {
			set(later, ['parameters', 'thread.copy', 'title'], { type: 'string', default: '' });
			set(later, SOURCES, [...(get(later, SOURCES) as string[]), 'mails']);
		});
		expect(breaking).toEqual([]);
		expect(added).toEqual([
			'parameters.document.submit.source.values."mails": "mails"',
			'parameters.thread.copy.title: {"type":"string","default":""}',
		]);
	});

	it.each<[string, (surface: Surface) => void]>([
		['for one more value', (later) => set(later, [...TEXT, 'shown', 'source', 1], 'files')],
		['under one condition less', (later) => unset(later, [...TEXT, 'shown'])],
		['where it was hidden', (later) => unset(later, [...LIMIT, 'hidden', '/options.bodyMode'])],
		[
			'under other conditions as well',
			(later) => {
				const text = get(later, TEXT) as Surface;
				set(later, TEXT, [text, { ...text, required: undefined, shown: { source: ['files'] } }]);
			},
		],
	])('that shows a parameter %s breaks nothing', (_title, change) => {
		const { breaking, added } = after(change);
		expect(breaking).toEqual([]);
		expect(added).not.toEqual([]);
	});
});

describe('with a version 2', () => {
	/** The node as n8n's light versioning makes it. */
	class WithVersions extends XpertAi {
		constructor(properties: INodeProperties[]) {
			super();
			this.description = { ...this.description, version: [1, 2], properties };
		}
	}
	const field = (
		name: string,
		initial: string,
		displayOptions?: INodeProperties['displayOptions'],
	) =>
		({
			displayName: name,
			name,
			type: 'string',
			default: initial,
			displayOptions,
		}) satisfies INodeProperties;
	const node = new WithVersions([
		field('language', 'en', { show: { '@version': [1] } }),
		field('language', 'auto', { show: { '@version': [{ _cnd: { gte: 2 } }] } }),
		field('legacy', '', { hide: { '@version': [2] } }),
		field('message', ''),
	]);

	it('each has its own file, with what its workflows see', async () => {
		expect(versionsOf(node).map(({ file }) => file)).toEqual([
			'xpertAi.v1.json',
			'xpertAi.v2.json',
		]);
		const [one, two] = await Promise.all(
			[1, 2].map(async (version) => await nodeSurface(node, version)),
		);
		const text = { type: 'string', default: '' };
		expect(one?.parameters).toEqual({
			'': { language: { ...text, default: 'en' }, legacy: text, message: text },
		});
		expect(two?.parameters).toEqual({
			'': { language: { ...text, default: 'auto' }, message: text },
		});
	});
});
