import { clock } from './support/clock';
import { measureWaiting, useFixture } from './support/fixture';
import { TEXTS, column, ingestOn } from './support/ingest';

const fixture = useFixture();
const { submit, storedNames } = ingestOn(fixture);

const items = (...names: string[]) =>
	names.map((name) => ({ json: { name, text: `The word is ${name}.` } }));
const source = { ...TEXTS, mode: 'changed', options: { afterStoring: 'nothing' } };

const uploads = () => fixture.sandbox.requests.of('E16').length;

/** Begins a run whose file the server holds. @returns what has the server go on, until the run has ended */
async function begun() {
	fixture.sandbox.faults.add({ endpoint: 'E16', nth: 1, do: 'hold' });
	const first = submit(source, { items: items('first') });
	await clock.until(() => uploads() > 0);
	return async () => {
		fixture.sandbox.faults.clear();
		return await first;
	};
}

describe('a run that begins while another one of its source is at work', () => {
	it('sends nothing, and says which one is at work and since when', async () => {
		const end = await begun();
		const second = await submit(source, { items: items('second') });
		expect(second.error?.message).toMatch(
			/^Nothing was sent: another run of this source is at work, execution \S+, since \d{4}-/,
		);
		expect(second.error?.description).toContain('"Source Name"');
		expect(column((await end()).items, 'outcome')).toEqual(['stored']);
		expect(storedNames()).toEqual(['first.md']);
	});

	it('gives its documents as not sent where the workflow is to go on', async () => {
		const end = await begun();
		const second = await submit(source, {
			items: items('second', 'third'),
			onError: 'continueRegularOutput',
		});
		expect(second.error).toBeUndefined();
		const notSent = 'Not sent: another run of this source is at work';
		const refused = expect.stringContaining('Nothing was sent') as string;
		expect(column(second.items, 'error').sort()).toEqual([notSent, notSent, refused]);
		await end();
		expect(storedNames()).toEqual(['first.md']);
	});

	it('works when that one ends while it looks whether it says a word', async () => {
		const end = await begun();
		clock.stand();
		const second = submit(source, { items: items('second') });
		await clock.settled();
		const first = await end();
		clock.go();
		expect([(await second).error, first.error]).toEqual([undefined, undefined]);
		expect(storedNames()).toEqual(['first.md', 'second.md']);
	});
});

it('a run that may not write what it does uploads no file', async () => {
	fixture.sandbox.faults.add({ endpoint: 'E3', do: 'status', status: 403 });
	const { items: given } = await submit(source, {
		items: items('a', 'b'),
		onError: 'continueRegularOutput',
	});
	const refused = expect.stringContaining('403') as string;
	expect(column(given, 'error')).toEqual([refused, refused]);
	expect(uploads()).toBe(0);
});

it('a run begins at once after one that was sent nothing, failed, or has nothing to change', async () => {
	fixture.sandbox.faults.add({ endpoint: 'E16', do: 'status', status: 422 });
	expect((await submit(source, { items: items('a') })).error).toBeDefined();
	fixture.sandbox.faults.clear();
	for (const outcome of ['stored', 'unchanged', 'unchanged']) {
		const waitedMs = measureWaiting();
		const { items: given } = await submit(source, { items: items('a') });
		expect(column(given, 'outcome')).toEqual([outcome]);
		expect(waitedMs()).toBeLessThan(1000);
	}
});
