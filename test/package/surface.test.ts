import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { cloneDeep, get, isEmpty, set, unset } from 'lodash';
import type { INodeProperties, INodeType } from 'n8n-workflow';

import { XpertAiApi } from '../../credentials/XpertAiApi.credentials';
import { XpertAi } from '../../nodes/XpertAi/XpertAi.node';
import { XpertAiTrigger } from '../../nodes/XpertAiTrigger/XpertAiTrigger.node';
import { credentialSurface, nodeSurface, surfaceChanges } from './support/surface';
import type { Surface } from './support/surface';

const FOLDER = path.join(__dirname, 'surface');
const WRITES = process.env.UPDATE_SURFACE === '1';

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
		'docs/versions.md says how to decide. UPDATE_SURFACE=1 npm run test:unit -- test/package/surface takes it over.',
	].join('\n');
}

describe('what saved workflows rely on', () => {
	it.each(FROZEN)('is what $file holds', async ({ file, surface }) => {
		const now = await surface();
		if (WRITES) writeFileSync(path.join(FOLDER, file), `${JSON.stringify(now, undefined, '\t')}\n`);
		expect(verdict(file, read(file), now)).toBe('');
	});

	it('is held of every version that ever was', () => {
		expect(readdirSync(FOLDER).sort()).toEqual(FROZEN.map(({ file }) => file).sort());
	});
});

describe('a change', () => {
	const BATCH_SIZE = ['parameters', 'document.submit', 'options', 'fields', 'batchSize'];
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
			'of a condition',
			(later) => unset(later, ['parameters', 'document.submit', 'text', 'shown', 'source']),
			'parameters.document.submit.text.shown.source: ["text"] is gone',
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

	it('is told with what to do about it', () => {
		const later = { ...now, name: 'other' };
		expect(verdict('xpertAi.v1.json', now, later)).toBe(
			`test/package/surface/xpertAi.v1.json holds another surface.
Breaks what users have saved: undo it, or make it version 2 of the node.
name: "xpertAi" has become "other"
docs/versions.md says how to decide. UPDATE_SURFACE=1 npm run test:unit -- test/package/surface takes it over.`,
		);
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
