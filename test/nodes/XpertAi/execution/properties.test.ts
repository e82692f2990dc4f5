import { isEmpty, omit, omitBy, uniq } from 'lodash';
import type { INodeProperties } from 'n8n-workflow';

import { isCoded } from '../../../../nodes/XpertAi/execution/operation';
import type { Operation } from '../../../../nodes/XpertAi/execution/operation';
import { operationFields, plainFields } from '../../../../nodes/XpertAi/execution/properties';
import { jsonBodyIn } from '../../support/operations';
import { OPERATIONS, PROPERTIES, allProperties, propertiesOf } from '../../support/properties';
import type { Placed } from '../../support/properties';

const ALL = allProperties();
const where = (found: Placed[]) => found.map(({ place }) => place);
const shows = ({ displayOptions }: INodeProperties) => displayOptions?.show ?? {};
const named = (name: string) => (property: INodeProperties) => property.name === name;

/** Where it is chosen that the body is JSON; Submit takes documents in other ways, too. */
const BODY_MODES = ['bodyMode', 'source'];
/** What is sent, by an operation of any kind. */
const requestOf = (operation: Operation) => (isCoded(operation) ? operation.request : operation);
const WITH_BODY = OPERATIONS.filter(({ operation }) => requestOf(operation).body);
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

	it('have a default that is one of the options, but for a decision, which nobody is to make unawares', () => {
		for (const { property } of ALL.filter(({ property: { type } }) => type === 'options')) {
			const values = property.options?.map((option) => 'value' in option && option.value);
			expect([...(property.name === 'decision' ? [''] : []), ...(values ?? [])]).toContain(
				property.default,
			);
		}
	});

	it.each(OPERATIONS)('of $title are its own fields, in their order', (one) => {
		const bare = ({ displayOptions: { show, ...others } = {}, ...field }: INodeProperties) => {
			const conditions = { ...others, show: omit(show, 'resource', 'operation') };
			return { ...field, displayOptions: omitBy(conditions, isEmpty) };
		};
		expect(propertiesOf(one.resource, one.operation).map(bare)).toEqual(
			plainFields(operationFields(one.operation)).map(bare),
		);
	});

	it('stand once where operations have them alike, also those of several resources', () => {
		const [, ...rest] = PROPERTIES.filter(({ name }) => name !== 'operation');
		for (const property of rest) {
			expect(shows(property).resource).not.toEqual([]);
			expect(shows(property).operation).not.toEqual([]);
		}
		const [simplify, ...others] = rest
			.filter((one) => shows(one).resource?.includes('conversation'))
			.filter(named('simplify'));
		expect(others).toEqual([]);
		expect(simplify && shows(simplify).resource).toContain('knowledgebase');
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
			const isFixed = 'fixedBody' in operation && operation.fixedBody !== undefined;
			const { method, path } = requestOf(operation);
			expect(`${method} ${path}`).toMatch(isFixed ? /^PUT / : /^(GET|DELETE) |\/cancel$/);
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
			'Run On',
			'Conversation Key',
			'Thread',
			'Simplify',
			'Options',
			'Body',
			'JSON Body',
		]);
	});

	it('add nothing to a collection before the user does', () => {
		const collections = ALL.filter(({ property: { type } }) => type === 'collection');
		expect(collections.length).toBeGreaterThan(20);
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
		expect(times.length).toBeGreaterThan(10);
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
			const shown = (options?.options ?? []).filter((option) => {
				const { show = {} } = 'displayOptions' in option ? (option.displayOptions ?? {}) : {};
				return show['/operation']?.includes(operation.value) ?? true;
			});
			const limits = shown.filter(({ name }) => /^(timeout|deadlineMinutes)$/.test(name));
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
