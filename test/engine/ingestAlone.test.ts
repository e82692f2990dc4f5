import { answering } from './support/faults';
import { clock } from './support/clock';
import { measureWaiting } from './support/fixture';
import { TEXTS, column, hintsOf, useIngest } from './support/ingest';

const { fixture, add, sent, submit, storedNames } = useIngest();

const items = (...names: string[]) =>
	names.map((name) => ({ json: { name, text: `The word is ${name}.` } }));
const source = { ...TEXTS, mode: 'changed', options: { afterStoring: 'nothing' } };

const uploads = () => sent('E16').length;

/** Begins a run whose file the server holds. @returns what has the server go on, until the run has ended */
async function begun() {
	add({ endpoint: 'E16', nth: 1, do: 'hold' });
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

	it('gives its documents as not sent where the workflow is to go on, and reads no file', async () => {
		const end = await begun();
		const file = await fixture.engine.binary(Buffer.from('text'), 'second.md', 'text/markdown');
		const binary = { data: { ...file, id: 'filesystem-v2:gone', data: '' } };
		const second = await submit(
			{ ...source, source: 'files' },
			{ items: [1, 2].map(() => ({ json: {}, binary })), onError: 'continueRegularOutput' },
		);
		expect(second.error).toBeUndefined();
		const notSent = 'Not sent: another run of this source is at work';
		const refused = expect.stringContaining('Nothing was sent') as string;
		expect(column(second.items, 'error').sort()).toEqual([notSent, notSent, refused]);
		expect(hintsOf(second)).toContainEqual(refused);
		await end();
		expect(storedNames()).toEqual(['first.md']);
	});

	it('says why none was sent in a summary too', async () => {
		const end = await begun();
		const { items: summary } = await submit(
			{ ...source, options: { ...source.options, output: 'summary' } },
			{ items: items('second'), onError: 'continueRegularOutput' },
		);
		const why = /^Nothing was sent: another run of this source is at work, execution \S+, since/;
		expect(summary[0]?.json).toMatchObject({ notSent: 1, notes: [expect.stringMatching(why)] });
		await end();
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
	add(answering('E3', 403));
	const { items: given } = await submit(source, {
		items: items('a', 'b'),
		onError: 'continueRegularOutput',
	});
	const refused = expect.stringContaining('403') as string;
	expect(column(given, 'error')).toEqual([refused, refused]);
	expect(uploads()).toBe(0);
});

it('a run begins at once after one that was sent nothing, failed, or has nothing to change', async () => {
	add(answering('E16', 422));
	expect((await submit(source, { items: items('a') })).error).toBeDefined();
	fixture.sandbox.faults.clear();
	for (const outcome of ['stored', 'unchanged', 'unchanged']) {
		const waitedMs = measureWaiting();
		const { items: given } = await submit(source, { items: items('a') });
		expect(column(given, 'outcome')).toEqual([outcome]);
		expect(waitedMs()).toBeLessThan(1000);
	}
});
