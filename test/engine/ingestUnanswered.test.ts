import { createServer } from 'node:http';

import { measureWaiting } from './support/fixture';
import { TEXTS, column, useIngest } from './support/ingest';
import { listen } from './support/listen';

const { add, submit } = useIngest();
const items = ['a', 'b', 'c'].map((name) => ({ json: { name, text: 'hello' } }));

async function nowhere(): Promise<string> {
	const server = createServer();
	const port = await listen(server);
	await new Promise((resolve) => server.close(resolve));
	return `http://127.0.0.1:${port}`;
}

describe('an address at which nobody has answered yet', () => {
	const REFUSED = 'The server could not be reached: nothing accepts connections at this address';

	it.each(['all', 'changed'])('ends a manual run within seconds (%s)', async (mode) => {
		const credential = { baseUrl: await nowhere() };
		const waitedMs = measureWaiting();
		const { error } = await submit({ ...TEXTS, mode }, { items, credential, mode: 'manual' });
		expect(waitedMs()).toBeLessThan(10_000);
		expect(error?.message).toContain(REFUSED);
		expect(error?.description).toContain('Check the Base URL of the credential');
		expect(error?.context.data).toMatchObject({ attempts: 3 });
	});
});

describe('a server that is away', () => {
	/** More tries than an operation has that does not wait. */
	const AWAY = [1, 2, 3, 4, 5, 6];

	it.each(['all', 'changed'])(
		'is waited for by a scheduled run from its first request on (%s)',
		async (mode) => {
			add({ nth: AWAY, do: 'drop' });
			const { items: out } = await submit({ ...TEXTS, mode }, { items });
			expect(column(out, 'outcome')).toEqual(['found', 'found', 'found']);
		},
	);

	it.each(['all', 'changed'])(
		'is waited for by a manual run once it has answered (%s)',
		async (mode) => {
			add({ nth: AWAY.map((nth) => nth + 3), do: 'drop' });
			const { items: out } = await submit({ ...TEXTS, mode }, { items, mode: 'manual' });
			expect(column(out, 'outcome')).toEqual(['found', 'found', 'found']);
		},
	);

	it('is not waited for by a test of a sub-workflow either', async () => {
		add({ do: 'drop' });
		const { error } = await submit(TEXTS, {
			items,
			mode: 'integrated',
			calledFrom: { outermost: 'manual' },
		});
		expect(error?.message).toContain('The server could not be reached');
	});

	it('is waited for by a manual run where it says that it is busy', async () => {
		add({ nth: AWAY, do: 'status', status: 503 });
		const { items: out } = await submit(TEXTS, { items, mode: 'manual' });
		expect(column(out, 'outcome')).toEqual(['found', 'found', 'found']);
	});
});
