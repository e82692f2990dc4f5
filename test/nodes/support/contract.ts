import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ZodTypeAny } from 'zod';

/** A table of the contract: each field with its type as the contract names it, or with the words it may be. */
type ContractType = string | readonly string[];
type ContractTable = Record<string, ContractType>;

/** The tables of the contract. The name of a knowledgebase has a stricter test of its own. */
export const CONTRACT = JSON.parse(
	readFileSync(join(__dirname, 'contract.json'), 'utf8'),
) as Record<
	('document' | 'page' | 'chunk') | ('knowledgebase' | 'recall' | 'parserConfig' | 'copilotModel'),
	ContractTable
>;

const UUID = '335ccdfa-d2bb-4f15-9f4a-2b180f46d737';
const NO_TEXT = [1, true, {}, ['a']];

/** Values a type takes, and values it does not. */
function samples(type: ContractType): { good: unknown[]; bad: unknown[] } {
	switch (type) {
		case 'string':
			return { good: ['a', '', 'Grüße 文件'], bad: NO_TEXT };
		case 'UUID':
			return { good: [UUID, UUID.toUpperCase()], bad: [...NO_TEXT, 'abc', '', `${UUID}0`] };
		case 'date-time':
			return { good: ['2026-01-31T08:00:00Z'], bad: [...NO_TEXT, '31.01.2026', '', '2026-01-31'] };
		case 'integer':
			return { good: [0, 7, -1], bad: [1.5, '7', true, {}, [7]] };
		case 'number':
			return { good: [0, 0.5, 12_000_000_000], bad: ['0.5', true, {}, [1], NaN] };
		case 'boolean':
			return { good: [true, false], bad: ['true', 0, {}, []] };
		case 'object':
			return { good: [{}, { deep: { er: [1, null] } }], bad: ['{}', 1, true, [1]] };
		case 'array':
			return { good: [[], [{}]], bad: ['[]', {}, 1, [1], ['a']] };
		case 'any':
			return { good: ['a', 1, false, {}, [1]], bad: [] };
		default:
			if (typeof type === 'string') throw new Error(`no type of the contract: ${type}`);
			return { good: [...type], bad: ['PRIVATE', 'other', '', 1, {}] };
	}
}

/** Asserts that a schema is a table of the contract: its fields, their types, and nothing else. */
export function followsTable(
	schema: ZodTypeAny & { shape: Record<string, ZodTypeAny> },
	table: ContractTable,
): void {
	const fields = Object.entries(table).map(([field, type]) => ({
		field,
		type: typeof type === 'string' ? type : `one of ${type.join(', ')}`,
		...samples(type),
	}));

	it('knows exactly the fields of the contract', () => {
		expect(Object.keys(schema.shape).sort()).toEqual(Object.keys(table).sort());
	});

	it.each(fields)('takes $field as $type', ({ field, good }) => {
		for (const value of good) {
			const record = { [field]: value };
			expect(schema.parse(record)).toEqual(record);
		}
	});

	it.each(fields)('refuses $field as anything but $type', ({ field, bad }) => {
		for (const value of bad) {
			const result = schema.safeParse({ [field]: value });
			expect([value, result.error?.issues.map(({ path }) => path[0])]).toEqual([value, [field]]);
		}
	});

	it('lets fields of newer servers pass', () => {
		const record = { ofANewerServer: { deep: [1] } };
		expect(schema.parse(record)).toEqual(record);
	});
}
