import { askStatuses, mustList } from '../../../../nodes/XpertAi/ingest/processingStatus';
import type { ProcessingRoutes } from '../../../../nodes/XpertAi/ingest/processingStatus';
import { virtualTime } from '../../support/virtualTime';

describe('a list of documents', () => {
	it.each([
		['names all of them', [{ id: 'b' }, { id: 'a' }, { id: 'c' }]],
		['names them in whatever case', [{ id: 'A' }, { id: 'B' }]],
	])('is one where it %s', (_, answer) => {
		expect(mustList(['a', 'B'])(answer)).toBeUndefined();
	});

	it.each([
		['leaves one out', [{ id: 'a' }]],
		['is empty', []],
		['is none', { a: 1, b: 2 }],
		['has no ids', [{}, 'a', 'b']],
	])('is none where it %s', (_, answer) => {
		expect(mustList(['a', 'b'])(answer)).toBe('it does not list the documents that it should');
	});

	it('may be empty where nothing is certainly there', () => {
		expect(mustList([])([])).toBeUndefined();
		expect(mustList([])({})).toBe('it does not list the documents that it should');
	});
});

describe('where documents stand', () => {
	/** Asks a server that has these documents, and says that it has none if it is another. */
	async function ask(ids: string[], witness: string | undefined, has: string[]) {
		const paths: string[] = [];
		const flaws: Array<string | undefined> = [];
		const routes: ProcessingRoutes = {
			...{ clock: virtualTime(), startPath: '/start' },
			statusPath: (some) => some.join(','),
			send: async ({ path, checkAnswer }) => {
				paths.push(path);
				const answer = has.map((id) => ({ id, status: 'finish' }));
				flaws.push(checkAnswer?.(answer));
				return await Promise.resolve({ ok: true, status: 200, answer });
			},
		};
		const { statuses } = await askStatuses(ids, routes, witness);
		return { known: [...statuses.keys()], paths, flaws };
	}

	it('is asked with one that is certainly there, without which the answer is none', async () => {
		const found = await ask(['a', 'b'], 'w', ['a', 'w']);
		expect(found).toEqual({ known: ['a'], paths: ['a,b,w'], flaws: [undefined] });
		const other = await ask(['a', 'b'], 'w', []);
		expect(other.flaws).toEqual(['it does not list the documents that it should']);
	});

	it('is asked alone where none is certainly there', async () => {
		const found = await ask(['a', 'b'], undefined, []);
		expect(found).toEqual({ known: [], paths: ['a,b'], flaws: [undefined] });
	});
});
