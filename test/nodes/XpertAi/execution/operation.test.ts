import { map, isEmpty, omit, omitBy, uniq } from 'lodash';
import { type INodeProperties, NodeHelpers } from 'n8n-workflow';

import { XpertAi } from 'nodes/XpertAi/XpertAi.node';
import { isCoded, onlyReads } from 'nodes/XpertAi/execution/operation';
import { operationFields } from 'nodes/XpertAi/execution/nodeProperties';
import { XpertAiTrigger } from 'nodes/XpertAiTrigger/XpertAiTrigger.node';

import { OPERATIONS, PROPERTIES, allProperties, propertiesOf } from '../../support/properties';
import type { Placed } from '../../support/properties';

const ALL = allProperties();
const where = (found: Placed[]) => found.map(({ place }) => place);
const shows = ({ displayOptions }: INodeProperties) => displayOptions?.show ?? {};
const named = (name: string) => (property: INodeProperties) => property.name === name;

/** What shows more than five fields at first, and which. */
const MANY_FIELDS = [
	[
		'document: submit',
		'knowledgebaseId source text name documentKey mode sourceName documentSettings options tuning',
	],
	[
		'document: findChanges',
		'knowledgebaseId sourceName documentKey documentVersion whatIsGone options',
	],
	['thread: run', 'assistantId message threadSource simplify options tuning'],
];
const LISTS = OPERATIONS.filter(({ operation }) => !isCoded(operation) && operation.paging);

describe('the parameters of the node', () => {
	it('start with Resource and the lists of Operation', () => {
		const lists = PROPERTIES.filter(named('operation'));
		expect(PROPERTIES.findIndex(named('resource'))).toBe(0);
		expect(PROPERTIES.slice(1, 1 + lists.length)).toEqual(lists);
		expect([PROPERTIES[0], ...lists].every((one) => one?.noDataExpression)).toBe(true);
	});

	it('depend on fields beside them or on the root: with anything else n8n 1 runs no node at all', () => {
		const inner = (property: INodeProperties) =>
			property.type === 'fixedCollection'
				? (property.options ?? []).map((option) => ('values' in option ? option.values : []))
				: [(property.options ?? []).filter((option) => 'type' in option)];
		const wrongIn = (properties: INodeProperties[]): string[] =>
			properties.flatMap((property) => {
				const beside = properties.map(({ name }) => name);
				const { show = {}, hide = {} } = property.displayOptions ?? {};
				const wrong = Object.keys({ ...show, ...hide }).filter(
					(key) => !/^[@/]/.test(key) && !beside.includes(key),
				);
				return [
					...wrong.map((key) => `${property.name}: ${key}`),
					...inner(property).flatMap(wrongIn),
				];
			});
		expect([
			...wrongIn(PROPERTIES),
			...wrongIn(new XpertAiTrigger().description.properties),
		]).toEqual([]);
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
			operationFields(one.operation).map(bare),
		);
	});

	it('are sent to browsers once where several operations of a resource have the same', () => {
		const ids = PROPERTIES.filter(({ name }) => /^(conversation|knowledgebase)Id$/.test(name));
		expect(ids.map(({ displayOptions }) => displayOptions?.show?.resource)).toEqual([
			...[['document'], ['conversation'], ['knowledgebase']],
		]);
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

	it('have Additional Fields (JSON) wherever a body is an object', () => {
		const without = OPERATIONS.filter(({ resource, operation }) => {
			const options = propertiesOf(resource, operation).find(named('options'))?.options ?? [];
			return !options.some(({ name }) => name === 'additionalFieldsJson');
		});
		const bodies = without.filter(({ operation }) => !isCoded(operation) && operation.body);
		expect(bodies.map(({ title }) => title)).toEqual(['document: process']);
	});

	it.each(LISTS)('of $title have Return All and Limit', ({ resource, operation }) => {
		const properties = propertiesOf(resource, operation);
		const limit = properties.find(named('limit'));
		expect(properties.some(named('returnAll'))).toBe(true);
		expect(limit?.displayOptions).toMatchObject({ show: { returnAll: [false] } });
	});

	it.each([
		['store: searchItems', 'namespace_prefix, returnAll, limit, filters, options'],
		[
			'thread: run',
			'assistantId, message, threadSource, conversationKey, threadId, simplify, toolOutput, toolFields, options, tuning',
		],
	])('of %s stand in the order of their weight', (title, order) => {
		const { resource, operation } = OPERATIONS.find((one) => one.title === title) ?? {};
		const fields = resource && operation ? propertiesOf(resource, operation) : [];
		expect(uniq(fields.map(({ name }) => name)).join(', ')).toBe(order);
	});

	it('add nothing to a collection before the user does', () => {
		const collections = ALL.filter(({ property: { type } }) => type === 'collection');
		expect(collections.length).toBeGreaterThan(20);
		expect(where(collections.filter(({ property }) => !isEmpty(property.default)))).toEqual([]);
	});

	it('are five at most before anything is chosen, in Submit eight, in Find Changes and Ask and Wait six', () => {
		const many = OPERATIONS.map(({ title, resource, operation }) => {
			const type = new XpertAi().description;
			const chosen = { resource: resource.value, operation: operation.value };
			const parameters =
				NodeHelpers.getNodeParameters(PROPERTIES, chosen, true, false, { typeVersion: 1 }, type) ??
				{};
			const shown = propertiesOf(resource, operation).filter((property) =>
				NodeHelpers.displayParameter(parameters, property, { typeVersion: 1 }, type),
			);
			return [
				title,
				shown.flatMap(({ type: kind, name }) => (kind === 'notice' ? [] : name)),
			] as const;
		}).filter(([, { length }]) => length > 5);
		expect(many.map(([title, names]) => [title, names.join(' ')])).toEqual(MANY_FIELDS);
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
		'of $title end with Options and what few need, a time limit among those of what changes something',
		({ resource, operation }) => {
			const properties = propertiesOf(resource, operation);
			const isOptional = ({ name }: INodeProperties) => ['options', 'tuning'].includes(name);
			const last = properties.filter(isOptional);
			expect(properties.slice(properties.length - last.length)).toEqual(last);
			expect(map(last, 'options')).not.toContainEqual([]);
			const shown = last
				.flatMap(({ options = [] }) => options)
				.filter((option) => {
					const { show = {} } = 'displayOptions' in option ? (option.displayOptions ?? {}) : {};
					return show['/operation']?.includes(operation.value) ?? true;
				});
			const limits = shown.filter(({ name }) => /^(timeout|deadlineMinutes)$/.test(name));
			// Find Changes stores nothing: no request of its own lasts.
			const hasLimit = isCoded(operation)
				? operation.value !== 'findChanges'
				: !onlyReads(operation);
			expect(limits).toHaveLength(hasLimit ? 1 : 0);
		},
	);
});
