import { useFixture } from './support/fixture';
import { TEXTS, column, ingestOn } from './support/ingest';
import { useFakeClock, useShortSleeps } from './support/shortSleeps';

/** A twentieth of the time: a run says a word each second, and is gone after three without any. */
useShortSleeps();
const fixture = useFixture();
const { submit, storedNames } = ingestOn(fixture);

const items = (...names: string[]) =>
	names.map((name) => ({ json: { name, text: `The word is ${name}.` } }));
const source = { ...TEXTS, mode: 'changed', options: { afterStoring: 'nothing' } };

const uploads = () => fixture.sandbox.requests.of('E16').length;
const until = async (isSo: () => boolean) => {
	while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
};

/** Begins a run whose file the server holds, and goes on when it is there. */
async function begun() {
	fixture.sandbox.faults.add({ endpoint: 'E16', nth: 1, do: 'hold' });
	const first = submit(source, { items: items('first') });
	await until(() => uploads() > 0);
	/** Has the server work on the file, and resolves with what the run came to. */
	const end = async () => {
		fixture.sandbox.faults.clear();
		return await first;
	};
	return { end };
}

describe('a run that begins while another one of its source is at work', () => {
	it('sends nothing, and says which one is at work and since when', async () => {
		const { end } = await begun();
		const second = await submit(source, { items: items('second') });
		expect(second.error?.message).toMatch(
			/^Nothing was sent: another run of this source is at work, execution \S+, since \d{4}-/,
		);
		expect(second.error?.description).toContain('"Source Name"');
		expect(column((await end()).items, 'outcome')).toEqual(['stored']);
		expect(storedNames()).toEqual(['first.md']);
	});

	it('gives its documents as not sent where the workflow is to go on', async () => {
		const { end } = await begun();
		const second = await submit(source, {
			items: items('second', 'third'),
			onError: 'continueRegularOutput',
		});
		expect(second.error).toBeUndefined();
		const said = second.items.map(({ json }) => json.error);
		const notSent = 'Not sent: another run of this source is at work';
		const refused = expect.stringContaining('Nothing was sent') as string;
		expect(new Set(said)).toEqual(new Set([refused, notSent]));
		await end();
		expect(storedNames()).toEqual(['first.md']);
	});

	it('works at once in another source', async () => {
		const { end } = await begun();
		const other = await submit({ ...source, sourceName: 'other' }, { items: items('other') });
		expect(other.error).toBeUndefined();
		await end();
	});
});

describe('a run that waits whether another one says a word', () => {
	const clock = useFakeClock();

	it('works when that one ends meanwhile', async () => {
		const { end } = await begun();
		const second = submit(source, { items: items('second') });
		// The first one will renew its lease, and the second one will look at it.
		await clock.untilSleeping(2);
		const first = await end();
		await clock.advance(5_000);
		expect([(await second).error, first.error]).toEqual([undefined, undefined]);
		expect(new Set(storedNames())).toEqual(new Set(['first.md', 'second.md']));
		const third = await submit(source, { items: items('first', 'second') });
		expect(column(third.items, 'outcome')).toEqual(['unchanged', 'unchanged']);
	});
});

it('a run that may not write what it does uploads no file', async () => {
	fixture.sandbox.faults.add({ endpoint: 'E3', do: 'status', status: 403 });
	const { items: given } = await submit(source, {
		items: items('a', 'b'),
		onError: 'continueRegularOutput',
	});
	expect(given.map(({ json }) => json.error)).toEqual(
		Array(2).fill(expect.stringContaining('403')),
	);
	expect(uploads()).toBe(0);
});

it('a run begins at once after one that was sent nothing, failed, or has nothing to change', async () => {
	fixture.sandbox.faults.add({ endpoint: 'E16', do: 'status', status: 422 });
	const failed = await submit(source, { items: items('a') });
	expect(failed.error).toBeDefined();
	fixture.sandbox.faults.clear();
	for (const outcome of ['stored', 'unchanged', 'unchanged']) {
		const { items: given } = await submit(source, { items: items('a') });
		expect(column(given, 'outcome')).toEqual([outcome]);
		// Looking whether another run is at work would take a quarter of a second at least.
		expect(fixture.sandbox.requests.of('status').length).toBeLessThan(40);
	}
});
