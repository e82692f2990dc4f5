import { catalogue, findOperation } from '../../../nodes/XpertAi/catalogue';
import { XpertAi } from '../../../nodes/XpertAi/XpertAi.node';
import { isCoded } from '../../../nodes/XpertAi/execution/operation';
import { OPERATIONS } from '../support/properties';

/** Workflows hold these values: they never change. */
const FIXED: Record<string, Record<string, string>> = {
	knowledgebase: { create: 'E1', update: 'E2', delete: 'E17' },
	document: { submit: 'E3', process: 'extension', getStatus: 'extension' },
	thread: { run: 'E4', copy: 'E10', get: 'E15' },
	conversation: { search: 'E5', create: 'E13' },
	chatSession: { create: 'E6' },
	assistant: { search: 'E7', count: 'E9' },
	store: { searchItems: 'E8', createNamespace: 'E11' },
	fileContext: { create: 'E12', delete: 'E14' },
	file: { create: 'E16' },
};

/** Method and path below /api/ai, from the contract's table of endpoints. */
const ENDPOINTS: Record<string, string> = {
	E1: 'POST /knowledges',
	E2: 'PUT /knowledges/{}',
	E5: 'POST /conversations/search',
	E6: 'POST /v1/chatkit/sessions',
	E7: 'POST /assistants/search',
	E8: 'POST /store/items/search',
	E9: 'POST /assistants/count',
	E10: 'POST /threads/{}/copy',
	E11: 'POST /store/namespaces',
	E13: 'POST /conversations',
	E14: 'DELETE /contexts/file/{}',
	E15: 'GET /threads/{}',
	E17: 'DELETE /v1/kb/{}',
};

describe('the catalogue', () => {
	it('has exactly the fixed resources and operations, each with its endpoint', () => {
		const found = Object.fromEntries(
			catalogue.map(({ value, operations }) => [
				value,
				Object.fromEntries(operations.map((operation) => [operation.value, operation.endpoint])),
			]),
		);
		expect(found).toEqual(FIXED);
	});

	it('has every endpoint of the contract exactly once', () => {
		const numbers = OPERATIONS.map(({ operation }) => operation.endpoint)
			.filter((endpoint) => endpoint !== 'extension')
			.map((endpoint) => Number(endpoint.slice(1)));
		expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 17 }, (_, i) => i + 1));
	});

	it('declares what is one request an item with the method and path of the contract', () => {
		const declared = OPERATIONS.flatMap(({ operation }) =>
			isCoded(operation) || operation.endpoint === 'extension'
				? []
				: [[operation.endpoint, `${operation.method} ${operation.path.replace(/\{\w+\}/, '{}')}`]],
		);
		expect(Object.fromEntries(declared)).toEqual(ENDPOINTS);
	});

	it('leaves code of its own to bulk submission, runs and uploads', () => {
		const coded = OPERATIONS.filter(({ operation }) => isCoded(operation));
		expect(coded.map(({ operation }) => operation.endpoint).sort()).toEqual([
			'E12',
			'E16',
			'E3',
			'E4',
		]);
	});

	it('names no resource twice, and no operation twice within one', () => {
		for (const names of [
			catalogue.map(({ name }) => name),
			...catalogue.map(({ operations }) => operations.map(({ name }) => name)),
			OPERATIONS.map(({ operation }) => operation.action),
		]) {
			expect(new Set(names).size).toBe(names.length);
		}
	});

	it('finds an operation by its values, and none by others', () => {
		for (const { resource, operation } of OPERATIONS) {
			expect(findOperation(resource.value, operation.value)).toBe(operation);
		}
		expect(findOperation('knowledgebase', 'submit')).toBeUndefined();
		expect(findOperation('none', 'create')).toBeUndefined();
		expect(findOperation('', '')).toBeUndefined();
	});
});

describe('the node', () => {
	const { description, methods } = new XpertAi();

	it('offers what the catalogue has', () => {
		const [resource] = description.properties;
		expect(resource?.options?.map((option) => 'value' in option && option.value)).toEqual(
			catalogue.map(({ value }) => value),
		);
	});

	it('needs the one credential, may be a tool, and has icons for light and dark', () => {
		expect(description.credentials).toEqual([{ name: 'xpertAiApi', required: true }]);
		expect(description.usableAsTool).toBe(true);
		expect(Object.keys(description.icon as object).sort()).toEqual(['dark', 'light']);
		expect(description.subtitle).toContain('$parameter["operation"]');
	});

	it('has every method its properties ask for', () => {
		const asked = JSON.stringify(description.properties).matchAll(
			/"(?:resourceMapperMethod|searchListMethod|loadOptionsMethod)":"(\w+)"/g,
		);
		const names = new Set([...asked].map(([, name]) => name));
		const offered = Object.values(methods).flatMap((group) => Object.keys(group));
		expect(offered.sort()).toEqual([...names].sort());
	});
});
