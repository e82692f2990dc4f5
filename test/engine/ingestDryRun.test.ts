import type { INodeParameters } from 'n8n-workflow';

import { derivedId } from 'nodes/XpertAi/payloads/ids';
import { TEXTS, column, hintsOf, useIngest } from './support/ingest';

const { fixture, submit } = useIngest();

const texts = (letters: string, more: Record<string, string> = {}) =>
	[...letters].map((name) => ({ json: { name, text: more[name] ?? `The word is ${name}.` } }));

const night = async (
	letters: string,
	{ dryRun = false, more = {}, ...parameters }: INodeParameters & { more?: Record<string, string> },
	run: Parameters<typeof submit>[1] = {},
) =>
	await submit(
		{
			...TEXTS,
			mode: 'mirror',
			maxGonePercent: 50,
			...parameters,
			options: { dryRun, ...(parameters.options as object) },
		},
		{ items: texts(letters, more), ...run },
	);
const dryRun = true;
const idOf = (name: string) => derivedId(fixture.world.knowledgebaseId, name);
const sent = () => fixture.sandbox.requests.all.filter(({ method }) => method !== 'GET');

describe('Only Show What Would Happen', () => {
	it('gives each document its plan, with name, key and ID, and what is gone; nothing is changed', async () => {
		await night('abcdef', {});
		await night('abcde', {});
		fixture.sandbox.requests.clear();
		const result = await night('acdfg', { dryRun, more: { c: 'Changed.' } });
		expect(result.items.map(({ json }) => json)).toEqual([
			{ name: 'a.md', key: 'a', id: idOf('a'), plan: 'unchanged' },
			{ name: 'c.md', key: 'c', id: idOf('c'), plan: 'changed' },
			{ name: 'd.md', key: 'd', id: idOf('d'), plan: 'unchanged' },
			{ name: 'f.md', key: 'f', id: idOf('f'), plan: 'back' },
			{ name: 'g.md', key: 'g', id: idOf('g'), plan: 'new' },
			{ name: 'b.md', key: 'b', id: idOf('b'), plan: 'gone' },
			{ name: 'e.md', key: 'e', id: idOf('e'), plan: 'gone' },
		]);
		expect(hintsOf(result)).toEqual([
			'The next run would send 1 new, 1 changed, 1 back again, leave out 2, disable 2.',
		]);
		expect(sent()).toEqual([]);
	});

	it('sends everything again in its plan with Resend All', async () => {
		await night('abcde', {});
		const { items } = await night('abcde', { dryRun, resendAll: true });
		expect(column(items, 'plan')).toEqual(Array(5).fill('changed'));
	});

	it('counts in the summary, in a sentence as well', async () => {
		await night('abc', {});
		const { items } = await night('abd', { dryRun, output: 'summary' });
		expect(items.map(({ json }) => json)).toEqual([
			{
				new: 1,
				changed: 0,
				back: 0,
				unchanged: 2,
				gone: 1,
				rejected: 0,
				plan: 'The next run would send 1 new, 0 changed, 0 back again, leave out 2, disable 1.',
				failed: [],
				seconds: expect.any(Number) as number,
			},
		]);
	});

	it('says that the next run would refuse as too much is gone, and fails not itself', async () => {
		await night('abcde', {});
		const result = await night('ab', { dryRun });
		expect(result.error).toBeUndefined();
		expect(column(result.items, 'plan')).toEqual(['unchanged', 'unchanged']);
		expect(hintsOf(result)).toContain(
			'The next run would fail: 3 of 5 documents are missing from this run, more than "Stop If More Than (%) Are Gone" allows (50).',
		);
	});

	it('says what cannot be read, and that nothing would be disabled for it', async () => {
		await night('abc', {});
		const items = [...texts('a'), { json: { text: 'It has no name.' } }];
		const result = await night('', { dryRun }, { items, onError: 'continueRegularOutput' });
		expect(column(result.items, 'plan')).toEqual(['unchanged', undefined]);
		expect(hintsOf(result)).toContain(
			'Nothing would be disabled: 1 document was not read, or not stored for certain.',
		);
		expect(hintsOf(result)).toContain(
			'The next run would send 0 new, 0 changed, 0 back again, leave out 1, disable 0, refuse 1.',
		);
	});

	it('needs no memory: with Send Everything it tells what is on the server by now', async () => {
		await night('ab', { mode: 'all' });
		const { items } = await night('abc', { mode: 'all', dryRun });
		expect(column(items, 'plan')).toEqual(['changed', 'changed', 'new']);
	});
});
