import { goneOf, percentOf } from '../../../../nodes/XpertAi/ingest/gone';
import { SourceMemory } from '../../../../nodes/XpertAi/ingest/sourceMemory';
import { virtualTime } from '../../support/virtualTime';
import { answered } from './support/outcomes';

const ids = ['2f78e81b-0000-4000-8000-00000000000a', '2f78e81b-0000-4000-8000-00000000000b'];
const [A = '', B = ''] = ids;

describe('what is gone', () => {
	it('is what was known and not brought', async () => {
		const routes = { send: async () => answered(404), storePath: '', statusPath: () => '' };
		const place = { knowledgebaseId: 'kb', source: 'a', title: 'a' };
		const memory = await SourceMemory.open(place, routes, { clock: virtualTime() });
		for (const id of ids) memory.stored(id, 'content');
		expect(goneOf(memory, new Set())).toEqual([A, B]);
		expect(goneOf(memory, new Set([A]))).toEqual([B]);
		expect(goneOf(memory, new Set([B, A]))).toEqual([]);
	});

	it('is told as a share that a limit of it allows', () => {
		expect([percentOf(1, 3), percentOf(3, 3), percentOf(1, 100), percentOf(1, 1000)]).toEqual([
			34, 100, 1, 1,
		]);
		expect(percentOf(0, 0)).toBe(0);
	});
});
