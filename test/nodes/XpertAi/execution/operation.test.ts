import { onlyReads } from '../../../../nodes/XpertAi/execution/operation';
import type { DeclaredOperation } from '../../../../nodes/XpertAi/execution/operation';

const repeatable = true;

it.each<[boolean, Partial<DeclaredOperation>]>([
	[true, { method: 'GET', repeatable }],
	[true, { method: 'POST', repeatable }],
	[true, { method: 'PUT', repeatable, fixedBody: {} }],
	[false, { method: 'PUT', repeatable }],
	[false, { method: 'PATCH', repeatable, fixedBody: {} }],
	[false, { method: 'POST' }],
])('%s: only reading is done by %j', (reads, operation) => {
	expect(onlyReads(operation as DeclaredOperation)).toBe(reads);
});
