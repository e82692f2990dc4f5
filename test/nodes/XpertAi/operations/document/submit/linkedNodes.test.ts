import type { IExecuteFunctions, INodeParameters, NodeTypeAndVersion } from 'n8n-workflow';

import { Item } from 'nodes/XpertAi/execution/item';
import { submitFields } from 'nodes/XpertAi/operations/document/submit/fields';
import {
	findChangesNodeBefore,
	sourceDifferenceText,
} from 'nodes/XpertAi/operations/document/submit/linkedNodes';
import type { Connection } from 'nodes/XpertAi/transport/request';

type Node = Omit<NodeTypeAndVersion, 'parameters'> & { parameters: INodeParameters };

/** A node of ours that is named by what it does and its source, such as `find drive`. */
function nodeOf(name: string, more: Partial<Node> = {}): Node {
	const [does, sourceName = ''] = name.split(' ');
	const operation = does === 'find' ? 'findChanges' : 'submit';
	const parameters = { operation, sourceName, knowledgebaseId: 'k' };
	return { name, type: 'xpertAi', typeVersion: 1, disabled: false, parameters, ...more };
}

/** Gives the first item of each node, where each node hands on its items to the next. */
function itemsOf(nodes: Node[], tells = ['parents', 'children']): Item[] {
	const told = (whose: string, some: Node[]) =>
		some.map(({ parameters, ...node }) => (tells.includes(whose) ? { ...node, parameters } : node));
	const at = (name: string) => nodes.findIndex((node) => node.name === name);
	return nodes.map((node) => {
		const context = {
			getNode: () => node,
			getInputData: () => [{ json: {} }],
			getParentNodes: (name: string) => told('parents', nodes.slice(0, at(name))),
			getChildNodes: (name: string) => told('children', nodes.slice(at(name) + 1)),
		} as unknown as IExecuteFunctions;
		return new Item(context, 0, submitFields, {} as Connection);
	});
}

/** What each node says of the others. */
const saidIn = (nodes: Node[], tells?: string[]) =>
	itemsOf(nodes, tells).map((item) => sourceDifferenceText(item)?.replace(/:.*/, ''));

const differing = (here: string, there: string, name: string) =>
	`"Source Name" is "${here}" here and "${there}" in "${name}"`;

describe('The sources of linked nodes differ', () => {
	it.each<[string, Node[], Array<string | undefined>]>([
		[
			'if each has no other partner',
			[nodeOf('find a'), nodeOf('submit b')],
			[differing('a', 'b', 'submit b'), differing('b', 'a', 'find a')],
		],
		[
			'though another pair comes after them',
			[nodeOf('find a'), nodeOf('submit b'), nodeOf('find c'), nodeOf('submit c')],
			[differing('a', 'b', 'submit b'), differing('b', 'a', 'find a'), undefined, undefined],
		],
		[
			'from the one that has the fewest other fields',
			[
				nodeOf('find a'),
				nodeOf('submit b', {
					parameters: { operation: 'submit', sourceName: 'b', knowledgebaseId: 'other' },
				}),
				nodeOf('submit c'),
			],
			[
				differing('a', 'c', 'submit c'),
				expect.any(String) as string,
				differing('c', 'a', 'find a'),
			],
		],
	])('%s', (_, nodes, said) => {
		expect(saidIn(nodes)).toEqual(said);
	});

	it.each<[string, Node[]]>([
		[
			'two sources are kept in step, one after the other',
			[nodeOf('find a'), nodeOf('submit a'), nodeOf('find b'), nodeOf('submit b')],
		],
		[
			'one behind a pair sends all of another source',
			[nodeOf('find a'), nodeOf('submit a'), nodeOf('submit b')],
		],
		['a listing stores by other means', [nodeOf('find a'), nodeOf('find b'), nodeOf('submit b')]],
		['the other is of another type', [nodeOf('find a', { type: 'others' }), nodeOf('submit b')]],
	])('in no node if %s', (_, nodes) => {
		expect(saidIn(nodes).filter((said) => said !== undefined)).toEqual([]);
	});

	it('in no node that n8n executes if the other is disabled', () => {
		const nodes = [nodeOf('find a'), nodeOf('submit b', { disabled: true })];
		expect(saidIn(nodes)[0]).toBeUndefined();
	});

	it.each([
		['of any other', []],
		['of those behind', ['parents']],
	])('in no node if n8n does not tell the parameters %s', (_, tells) => {
		const said = saidIn([nodeOf('find a'), nodeOf('submit b')], tells);
		expect(said).toEqual([undefined, undefined]);
	});
});

describe('The Find Changes node before a Submit node', () => {
	it.each<[string, Node[], string | undefined]>([
		[
			'is the nearest of two',
			[nodeOf('find a', { name: 'far' }), nodeOf('find a', { name: 'near' })],
			'near',
		],
		[
			'is one with the same source',
			[nodeOf('find a'), nodeOf('submit a'), nodeOf('find b')],
			'find a',
		],
		['is none if its source differs', [nodeOf('find b')], undefined],
	])('%s', (_, before, name) => {
		const last = itemsOf([...before, nodeOf('submit a', { name: 'last' })]).at(-1);
		expect(last && findChangesNodeBefore(last)?.name).toBe(name);
	});
});
