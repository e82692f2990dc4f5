import { isEmpty, uniq } from 'lodash';
import type { INodeProperties } from 'n8n-workflow';

import { isCoded } from '../../../../nodes/XpertAi/execution/operation';
import { jsonBodyIn } from '../../support/operations';
import { OPERATIONS, PROPERTIES, allProperties, propertiesOf } from '../../support/properties';
import type { Placed } from '../../support/properties';
import { EMPTY_WORDS } from '../../support/thrown';

const ALL = allProperties();
const where = (found: Placed[]) => found.map(({ place }) => place);
const shows = ({ displayOptions }: INodeProperties) => displayOptions?.show ?? {};
const named = (name: string) => (property: INodeProperties) => property.name === name;

/** Where it is chosen that the body is JSON; Submit takes documents in other ways, too. */
const BODY_MODES = ['bodyMode', 'source'];
const WITH_BODY = OPERATIONS.filter(({ operation }) => isCoded(operation) || operation.body);
const LISTS = OPERATIONS.filter(({ operation }) => !isCoded(operation) && operation.paging);

describe('the parameters of the node', () => {
	it('start with Resource, then one Operation list for each resource', () => {
		expect(PROPERTIES[0]?.name).toBe('resource');
		const lists = PROPERTIES.filter(named('operation'));
		expect(PROPERTIES.slice(1, 1 + lists.length)).toEqual(lists);
		expect(lists.map((list) => shows(list).resource)).toEqual(
			PROPERTIES[0]?.options?.map((option) => [(option as { value: string }).value]),
		);
	});

	it('have a default that is one of the options', () => {
		for (const { property } of ALL.filter(({ property: { type } }) => type === 'options')) {
			const values = property.options?.map((option) => 'value' in option && option.value);
			expect(values).toContain(property.default);
		}
	});

	it('are each shown for one operation of one resource only', () => {
		const [, ...rest] = PROPERTIES.filter(({ name }) => name !== 'operation');
		for (const property of rest) {
			expect(shows(property).resource).toHaveLength(1);
			expect(shows(property).operation).toHaveLength(1);
		}
		const owned = OPERATIONS.flatMap(({ resource, operation }) =>
			propertiesOf(resource, operation),
		);
		expect(new Set(owned)).toEqual(new Set(rest));
		expect(owned).toHaveLength(rest.length);
	});

	it.each(OPERATIONS)(
		'of $title have each name once, unless it is shown for one mode or another',
		({ resource, operation }) => {
			const shown = propertiesOf(resource, operation).map(
				(property) => `${property.name} ${property.type} ${JSON.stringify(shows(property))}`,
			);
			expect(new Set(shown).size).toBe(shown.length);
		},
	);

	it.each(WITH_BODY)('of $title let the body be fields or JSON', ({ resource, operation }) => {
		const properties = propertiesOf(resource, operation);
		const mode = properties.find((property) => BODY_MODES.includes(property.name));
		const json = properties.find(named('jsonBody'));
		const modes = mode?.options?.map((option) => 'value' in option && option.value);
		expect(modes).toEqual(expect.arrayContaining(['fields', 'json']));
		expect(json).toMatchObject({ type: 'json', displayName: 'JSON Body', required: true });
		expect(json && shows(json)[String(mode?.name)]).toEqual(['json']);
		expect(() => JSON.parse(String(json?.default)) as unknown).not.toThrow();
	});

	it('are without a body where the contract has none', () => {
		const without = OPERATIONS.filter((operation) => !WITH_BODY.includes(operation));
		expect(without.length).toBeGreaterThan(0);
		for (const { resource, operation } of without) {
			expect('method' in operation && operation.method).toMatch(/^(GET|DELETE)$/);
			const names = propertiesOf(resource, operation).map(({ name }) => name);
			expect(names).not.toContain('bodyMode');
		}
	});

	it('hide the fields of a body while JSON is chosen', () => {
		for (const { resource, operation } of WITH_BODY) {
			const properties = propertiesOf(resource, operation);
			const own = jsonBodyIn(operation)?.fields.map(({ name }) => name) ?? [];
			for (const property of properties.filter(({ name }) => own.includes(name))) {
				expect(property.displayOptions?.hide?.bodyMode).toEqual(['json']);
			}
		}
	});

	it.each(LISTS)('of $title have Return All and Limit', ({ resource, operation }) => {
		const properties = propertiesOf(resource, operation);
		const limit = properties.find(named('limit'));
		expect(properties.some(named('returnAll'))).toBe(true);
		expect(limit?.displayOptions).toMatchObject({
			show: { returnAll: [false] },
			hide: { bodyMode: ['json'] },
		});
	});

	it('ask what to search for before how many results, and filters last', () => {
		const names = (title: string) => {
			const found = OPERATIONS.find((operation) => operation.title === title);
			return found ? propertiesOf(found.resource, found.operation).map(({ name }) => name) : [];
		};
		expect(names('store: searchItems')).toEqual([
			'namespace_prefix',
			'returnAll',
			'limit',
			'filters',
			'options',
			'bodyMode',
			'jsonBody',
		]);
	});

	it('ask whom, what and where before anything else of a run', () => {
		const run = OPERATIONS.find(({ title }) => title === 'thread: run');
		const fields = run ? propertiesOf(run.resource, run.operation) : [];
		expect(uniq(fields.map(({ displayName }) => displayName))).toEqual([
			'Assistant',
			'Message',
			'Decision',
			'Run On',
			'Conversation Key',
			'Thread',
			'Input',
			'Attach Files',
			'Additional Fields',
			'Simplify',
			'Options',
			'Body',
			'JSON Body',
		]);
	});

	it('add nothing to a collection before the user does', () => {
		const collections = ALL.filter(({ property: { type } }) => type === 'collection');
		expect(collections.length).toBeGreaterThan(OPERATIONS.length);
		expect(where(collections.filter(({ property }) => !isEmpty(property.default)))).toEqual([]);
	});

	it('call a body without fields empty', () => {
		const bodies = WITH_BODY.filter(({ operation }) => jsonBodyIn(operation)?.fields.length === 0);
		expect(bodies.map(({ title }) => title)).toContain('thread: copy');
		for (const { resource, operation } of bodies) {
			const mode = propertiesOf(resource, operation).find(named('bodyMode'));
			expect(mode?.options?.map(({ name }) => name)).toEqual(['Empty', 'JSON']);
		}
	});

	it('name the unit of every length of time', () => {
		const times = ALL.filter(({ property: { name } }) =>
			/^(timeout|expires_after|after_seconds|.*Minutes)$/.test(name),
		);
		expect(times.length).toBeGreaterThan(OPERATIONS.length);
		expect(
			where(times.filter(({ property }) => !/(Seconds|Minutes)\)?$/.test(property.displayName))),
		).toEqual([]);
	});

	it.each(OPERATIONS)(
		"of $title end with Options, a time limit among them, and then a body of one's own",
		({ resource, operation }) => {
			const properties = propertiesOf(resource, operation);
			const index = properties.findIndex(named('options'));
			const options = properties[index];
			const behind = properties.slice(index + 1).map(({ name }) => name);
			const hasMode = properties.some(named('bodyMode'));
			expect(behind).toEqual(hasMode ? ['bodyMode', 'jsonBody'] : []);
			const limits = options?.options?.filter(({ name }) =>
				/^(timeout|deadlineMinutes)$/.test(name),
			);
			expect(limits).toHaveLength(1);
		},
	);

	it.each(OPERATIONS)(
		'of $title hold a field for each id of its path',
		({ resource, operation }) => {
			const path = isCoded(operation) ? '' : operation.path;
			const names = propertiesOf(resource, operation).map(({ name }) => name);
			for (const [, name] of path.matchAll(/\{(\w+)\*?\}/g)) expect(names).toContain(name);
		},
	);
});

/** Words that stay small in a title. */
const SMALL = /^(a|an|and|as|at|by|for|from|in|of|on|or|per|the|to|with)$/;
const isTitleCase = (title: string) =>
	title
		.split(/[\s(/-]+/)
		.filter(Boolean)
		.every((word, index) => /^[A-Z0-9]/.test(word) || (index > 0 && SMALL.test(word)));

/** Dropdowns whose own name and choices say everything. */
const SELF_EXPLAINING = ['resource', 'operation', 'column', 'direction'];
/** What an option is called that is about nothing else. */
const WORD_OF_ITS_OWN = 'Failures as Replies';
const EMOJI = /\p{Extended_Pictographic}/u;

const sorted = (names: string[]) => [...names].sort((a, b) => a.localeCompare(b, 'en'));

/** Every text of a property that a user reads. */
const textsOf = ({ displayName, description, hint, placeholder, options }: INodeProperties) =>
	[
		displayName,
		description,
		hint,
		placeholder,
		...(options ?? []).flatMap((option) => [
			option.name,
			'description' in option ? option.description : undefined,
			'action' in option ? option.action : undefined,
		]),
	].filter((text): text is string => text !== undefined);

/** One sentence stands without a full stop, several end with one. */
function punctuated(text: string): boolean {
	const sentences = text
		.replace(/e\.g\./g, 'eg')
		.split(/[.!?](?:\s+|$)/)
		.filter(Boolean);
	return text.endsWith('.') === sentences.length > 1;
}

describe('the words of the editor', () => {
	it.each([
		['names in Title Case', ({ displayName }: INodeProperties) => isTitleCase(displayName)],
		[
			'names of choices in Title Case',
			({ options = [], type }: INodeProperties) =>
				!/ptions$/.test(type) || options.every(({ name }) => isTitleCase(name)),
		],
		[
			'descriptions of switches that start with "Whether"',
			({ type, description }: INodeProperties) =>
				type !== 'boolean' || description?.startsWith('Whether ') === true,
		],
		[
			'placeholders that start with "e.g." or "Add"',
			({ placeholder = 'e.g. x' }: INodeProperties) => /^(e\.g\. |Add )/.test(placeholder),
		],
		['hints of at most 120 characters', ({ hint = '' }: INodeProperties) => hint.length <= 120],
		[
			'descriptions with a full stop only after several sentences',
			({ description = '' }: INodeProperties) => punctuated(description),
		],
		['hints without a full stop', ({ hint = '' }: INodeProperties) => !hint.endsWith('.')],
		[
			'descriptions that start with a capital and say more than the name',
			({ description = 'X', displayName }: INodeProperties) =>
				/^[A-Z]/.test(description) && description !== displayName,
		],
		[
			'dropdowns that are described',
			({ type, name, description }: INodeProperties) =>
				!/ptions$/.test(type) || SELF_EXPLAINING.includes(name) || Boolean(description),
		],
		[
			'no emoji',
			(property: INodeProperties) => !textsOf(property).some((text) => EMOJI.test(text)),
		],
		[
			'no words that say nothing',
			(property: INodeProperties) =>
				!textsOf(property).some((text) => EMPTY_WORDS.test(text.replace(WORD_OF_ITS_OWN, ''))),
		],
		[
			'no blanks around or doubled',
			(property: INodeProperties) => !textsOf(property).some((text) => /^\s|\s$|\s\s/.test(text)),
		],
	])('are %s', (_, holds) => {
		expect(where(ALL.filter(({ property }) => !holds(property)))).toEqual([]);
	});

	it.each(OPERATIONS)('describe $title in sentences', ({ operation }) => {
		const { name, action, description } = operation;
		expect(isTitleCase(name)).toBe(true);
		expect(action).toMatch(/^[A-Z][^A-Z]*[^.]$/);
		expect(description).toMatch(/^[A-Z]/);
		expect(punctuated(description)).toBe(true);
	});

	it('are sorted in the lists of optional fields, the name of a record first', () => {
		const unsorted = ALL.filter(({ property: { type, options = [] } }) => {
			const names = options
				.map((option) => ('displayName' in option ? option.displayName : option.name))
				.filter((name) => name !== 'Name');
			return type === 'collection' && names.join() !== sorted(names).join();
		});
		expect(where(unsorted)).toEqual([]);
	});
});
