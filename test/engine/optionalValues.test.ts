import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { SANDBOX_ASSISTANT_ID } from 'sandbox';
import { useFixture } from './support/fixture';
import { byId } from './support/locators';

const fixture = useFixture();
const { sent } = fixture;

const operation = (resource: string, name: string, parameters: INodeParameters) => ({
	resource,
	operation: name,
	...parameters,
});

const ofConversation = (name: string, options: INodeParameters) =>
	operation('conversation', name, {
		conversationId: byId(fixture.world.conversationId),
		rating: 'like',
		options,
	});

const conversations = (filters: INodeParameters) =>
	operation('conversation', 'search', { filters });

const memories = (prefix: string) =>
	operation('store', 'searchItems', { namespace_prefix: prefix });

const namespaces = (prefix: string) => operation('store', 'createNamespace', { prefix });

const IDS = `${SANDBOX_ASSISTANT_ID}/users`;

const NONE = '={{ $json.none }}';

describe('an optional field that says which records are meant', () => {
	it.each<[field: string, parameters: () => INodeParameters]>([
		['Thread ID', () => conversations({ threadId: NONE })],
		['Assistant ID', () => conversations({ xpertId: NONE })],
		['Search Text', () => conversations({ search: NONE })],
		['Slug', () => operation('assistant', 'search', { filters: { slug: NONE } })],
		['Workspace ID', () => operation('assistant', 'search', { filters: { workspaceId: NONE } })],
		['Slug', () => operation('assistant', 'count', { filters: { slug: NONE } })],
		['Workspace ID', () => operation('assistant', 'count', { filters: { workspaceId: NONE } })],
		['Query', () => operation('store', 'searchItems', { filters: { query: NONE } })],
		['Namespace Prefix', () => memories(NONE)],
		['Prefix', () => namespaces(NONE)],
		['Run ID', () => ofConversation('getMessages', { executionId: NONE })],
		['Run ID', () => ofConversation('rate', { runId: NONE })],
	])('is refused where its expression gives nothing: %s (%#)', async (field, parameters) => {
		for (const none of [undefined, null, '', ' ', []]) {
			const items = [{ json: { none, other: 1 } as IDataObject }];
			const { error } = await fixture.run(parameters(), { items });
			const gave = none === ' ' ? 'only blanks' : none ? '[]' : 'nothing';
			expect(error?.message).toBe(`"${field}" is empty: its expression gave ${gave} for this item`);
			expect(error?.description).toContain('Correct the expression, or clear the field');
		}
		expect(sent()).toEqual([]);
	});

	it.each<[field: string, parameters: INodeParameters]>([
		['Namespace Prefix', memories(`=${IDS}/{{ $json.none }}`)],
		['Namespace Prefix', memories(`={{ '${IDS}/' + $json.none }}`)],
		['Namespace Prefix', memories(`={{ $json.other }}/{{ $json.none }}/notes`)],
		['Prefix', namespaces(`=${IDS}/{{ $json.none }}`)],
		['Search Text', conversations({ search: '=invoice {{ $json.none }}' })],
	])('is refused where it lacks a part: %s (%#)', async (field, parameters) => {
		for (const none of [undefined, null, '']) {
			const items = [{ json: { none, other: 'a' } as IDataObject }];
			const { error } = await fixture.run(parameters, { items });
			expect(error?.message).toBe(
				`"${field}" lacks a part: {{ $json.none }} gave nothing for this item`,
			);
		}
		expect(sent()).toEqual([]);
	});

	it.each<[string, INodeParameters]>([
		['left empty', conversations({ threadId: '', search: '=' })],
		['an empty namespace', memories('')],
		['a list of elements', memories(`={{ ['${SANDBOX_ASSISTANT_ID}', 'users'] }}`)],
		['a namespace in parts', memories(`=${IDS}/{{ $json.user }}`)],
		['a text with an empty part', conversations({ search: '={{ $json.user }} {{ $json.last }}' })],
	])('is taken where it is %s', async (_, parameters) => {
		const { error } = await fixture.run(parameters, {
			items: [{ json: { user: 'bob', last: '' } }],
		});
		expect(error).toBeUndefined();
	});

	it.each<[string, INodeParameters]>([
		['a filter', conversations({ search: "={{ $fromAI('Search_Text', ``, 'string', '') }}" })],
		['a namespace', memories("={{ $fromAI('Namespace_Prefix', ``, 'string', '') }}")],
	])('may be left out by a model: %s', async (_, parameters) => {
		const { error } = await fixture.run(parameters, { items: [{ json: {} }], isTool: true });
		expect(error).toBeUndefined();
		expect(sent()).not.toEqual([]);
	});

	it('is refused where a model leaves out a part of a namespace', async () => {
		const prefix = `=${IDS}/{{ $fromAI('user', '', 'string', '') }}`;
		const { items } = await fixture.run(memories(prefix), { items: [{ json: {} }], isTool: true });
		expect(items[0]?.json.output).toContain('"Namespace Prefix" lacks a part');
		expect(sent()).toEqual([]);
	});
});
