import { useSandbox } from './support/useSandbox';

const ID = '44444444-4444-4444-8444-444444444444';
const [ONE, TWO, NEW] = Array.from(
	{ length: 3 },
	(_, i) => `5555555${i}-5555-4555-8555-555555555555`,
);

const { sandbox, client } = useSandbox();
let path: string;

beforeEach(() => {
	const { id } = sandbox.store.putKnowledgebase({ name: 'Handbook' });
	path = `/api/ai/knowledges/${id}/bulk`;
});

const send = (fields: object) => client.post<unknown>(path, [{ id: ID, name: 'a', ...fields }]);
const part = (pageContent: string, id?: string) => ({ pageContent, ...(id && { id }) });
const stored = (kind: 'pages' | 'chunks') =>
	(sandbox.store.documents.get(ID)?.[kind] ?? []).map(({ pageContent }) => pageContent);

it.each([[['three']], [[]]])('pages sent again without ids are replaced: %j', async (texts) => {
	await send({ pages: [part('one'), part('two')] });
	await send({ pages: texts.map((text) => part(text)) });
	expect(stored('pages')).toEqual(texts);
});

describe.each(['pages', 'chunks'] as const)('%s sent again with their ids', (kind) => {
	it('stay as they are when they say the same', async () => {
		const parts = [part('one', ONE), part('two', TWO)];
		await send({ [kind]: parts });
		expect((await send({ [kind]: parts })).status).toBe(201);
		expect(stored(kind)).toEqual(['one', 'two']);
	});

	it('lose their document when they say something else, until the change after next', async () => {
		const seen: unknown[] = [];
		for (const text of ['v1', 'v2', 'v3', 'v4', 'v5']) {
			const { status } = await send({ [kind]: [part('same', TWO), part(text, ONE)] });
			seen.push([status, stored(kind)]);
		}
		expect(seen).toEqual([
			[201, ['same', 'v1']],
			[201, ['same']],
			[201, ['same']],
			[201, ['same', 'v4']],
			[201, ['same']],
		]);
	});
});

describe('chunks sent again', () => {
	beforeEach(async () => void (await send({ chunks: [part('one', ONE), part('two', TWO)] })));

	it.each([
		['without ids', [part('one'), part('two')]],
		['with new ids', [part('one', ONE), part('two', NEW)]],
		['fewer', [part('one', ONE)]],
		['as an empty list', []],
	])('%s are refused with an empty body, and the document is not stored', async (_how, chunks) => {
		const { status, data } = await send({ name: 'b', chunks });
		expect([status, data]).toEqual([400, {}]);
		expect(sandbox.store.documents.get(ID)?.name).toBe('a');
		expect(stored('chunks')).toEqual(['one', 'two']);
	});

	it('are kept when they are left out', async () => {
		await send({ name: 'b' });
		expect(sandbox.store.documents.get(ID)?.name).toBe('b');
		expect(stored('chunks')).toEqual(['one', 'two']);
	});
});
