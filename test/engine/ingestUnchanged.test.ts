import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { derivedId } from 'nodes/XpertAi/payloads/ids';

import { answering, withoutRoute } from './support/faults';
import { clock } from './support/clock';
import { AN_HOUR } from './support/fixture';
import { BY_NAME, TEXTS, column, hintsOf, useIngest, ending, isNote, rows } from './support/ingest';

const { fixture, add, sent, submit, batchSizes, file, storedNames } = useIngest();

const skip = {
	...BY_NAME,
	documentKey: '={{ $json.filePath }}',
	mode: 'changed',
	tuning: { batchSize: 10, concurrency: 1 },
};
const documents = (count: number, marks: Record<number, string> = {}) =>
	rows(count, (index) => ({ filePath: `/${index}`, thumbnail: marks[index] ?? 'first' }));

/** What the requests since the last look held. */
const sentNames = () => {
	const names = sent('E3')
		.flatMap(({ body }) => body as Array<{ name: string }>)
		.filter((document) => !isNote(document))
		.map(({ name }) => name);
	fixture.sandbox.requests.clear();
	return names;
};

/** What the node remembers, in the knowledgebase. */
const notes = () => fixture.sandbox.store.documentsOf(fixture.world.knowledgebaseId).filter(isNote);

describe('a second run that sends what is new or changed', () => {
	it('sends nothing when nothing changed, and says so', async () => {
		await submit(skip, { items: documents(25) });
		expect(batchSizes()).toEqual([10, 10, 5]);
		sentNames();
		const result = await submit(skip, { items: documents(25) });
		expect(sentNames()).toEqual([]);
		expect(column(result.items, 'outcome')).toEqual(Array.from({ length: 25 }, () => 'unchanged'));
		expect(hintsOf(result)).toEqual(['Documents: 25 unchanged and not sent.']);
	});

	it('sends what changed and what is new, and reports all in order', async () => {
		await submit(skip, { items: documents(20) });
		sentNames();
		const { items } = await submit(skip, { items: documents(22, { 3: 'new', 17: 'new' }) });
		expect(sentNames()).toEqual(['doc 3', 'doc 17', 'doc 20', 'doc 21']);
		expect(column(items, 'name')).toEqual(column(documents(22), 'name'));
		expect(column(items, 'outcome').filter((outcome) => outcome === 'stored')).toHaveLength(4);
		expect(storedNames()).toHaveLength(22);
	});
});

describe('what says nothing of the content', () => {
	const outcomes = async (parameters: INodeParameters) => {
		const items = [{ json: { name: 'a', text: 'hello' } }];
		const remembered = { ...TEXTS, mode: 'changed', afterStoring: 'nothing' };
		const result = await submit({ ...remembered, ...parameters }, { items });
		return column(result.items, 'outcome');
	};

	it.each<[string, INodeParameters, INodeParameters]>([
		[
			'Metadata',
			{ documentSettings: { metadata: '{ "a": 1, "b": { "c": 2, "d": [{ "e": 3, "f": 4 }] } }' } },
			{ documentSettings: { metadata: '{ "b": { "d": [{ "f": 4, "e": 3 }], "c": 2 }, "a": 1 }' } },
		],
		[
			'Metadata Rows',
			{
				documentSettings: {
					metadataRows: {
						values: [
							{ key: 'a', content: '1' },
							{ key: 'b', content: '2' },
						],
					},
				},
			},
			{
				documentSettings: {
					metadataRows: {
						values: [
							{ key: 'b', content: '2' },
							{ key: 'a', content: '1' },
						],
					},
				},
			},
		],
		[
			'JSON',
			{
				source: 'json',
				documentKeyField: 'name',
				jsonBody: '{ "name": "a", "type": "md", "x": 1 }',
			},
			{
				source: 'json',
				documentKeyField: 'name',
				jsonBody: '{ "x": 1, "type": "md", "name": "a" }',
			},
		],
	])('is the order of the keys in %s', async (_, first, second) => {
		expect(await outcomes(first)).toEqual(['stored']);
		expect(await outcomes(second)).toEqual(['unchanged']);
	});
});

describe('the requests of a run that mirrors its source', () => {
	const requestsOf = async (parameters: INodeParameters, items: INodeExecutionData[]) => {
		fixture.sandbox.requests.clear();
		const { error } = await submit({ ...parameters, mode: 'mirror' }, { items });
		expect(error).toBeUndefined();
		return sent()
			.map(({ endpoint }) => endpoint)
			.join(' ');
	};

	it('are 12 where 1,000 documents are unchanged', async () => {
		const lines = Array.from({ length: 1000 }, (_, at) => `{"id":"${derivedId('kb', `${at}`)}"}`);
		const items = [await file(lines.join('\n'))];
		await requestsOf({ source: 'records' }, items);
		// Nothing is renewed.
		clock.stand();
		expect(await requestsOf({ source: 'records' }, items)).toBe(
			`status E3 status E3 status ${'status '.repeat(6)}E3`,
		);
		clock.go();
	});

	it('are 12 where one text of two changed, and is waited for', async () => {
		const texts = (text: string) =>
			['a', text].map((one, at) => ({ json: { name: `${at}`, text: one } }));
		await requestsOf(TEXTS, texts('b'));
		expect(await requestsOf(TEXTS, texts('c'))).toBe(
			'status E3 status E3 status E16 status E3 E3 process status E3',
		);
	});
});

describe('what is remembered', () => {
	it('lies in disabled documents of the knowledgebase, told by name, that are none of the output', async () => {
		const { items } = await submit(skip, { items: documents(30) });
		expect(items).toHaveLength(30);
		expect(notes().length).toBeGreaterThan(0);
		for (const { id, name } of notes()) {
			expect(name).toMatch(/^n8n: .*Xpert AI.* \(do not process\)$/);
			expect(fixture.sandbox.store.findable(id)).toBeUndefined();
		}
		const others = fixture.sandbox.store.documentsOf(fixture.world.knowledgebaseId);
		expect(others.length - notes().length).toBe(30);
	});

	it('goes with the documents in requests of the size that is set, notes and all', async () => {
		const tuning = { ...skip.tuning, batchSize: 1000, batchMegabytes: 0.03 };
		await submit({ ...skip, tuning }, { items: documents(400) });
		const sizes = sent('E3')
			.filter(({ body }) => !(body as IDataObject[]).every(isNote))
			.map(({ body }) => JSON.stringify(body).length);
		expect(sizes.length).toBeGreaterThan(1);
		expect(Math.max(...sizes)).toBeLessThanOrEqual(0.03 * 1024 * 1024);
	});

	const LOST = expect.stringMatching(
		/^Notes from before \d{4}-\d\d-\d\d are missing: (up to \d+ )?documents? may still be found although they left the source\./,
	) as string;

	it('that the server has processed counts as nothing known, which is said until that is forgotten', async () => {
		const run = async (more: INodeParameters = {}) =>
			await submit({ ...skip, ...more }, { items: documents(2) });
		await run();
		const memory = notes().find(({ name }) => String(name).includes('has stored ('));
		Object.assign(memory ?? {}, { processMsg: 'Invalid PDF structure' });
		sentNames();
		const result = await run();
		expect(sentNames()).toHaveLength(2);
		for (const one of [result, await run({ options: { dryRun: true } }), await run()])
			expect(hintsOf(one)).toContainEqual(LOST);
		for (const one of [await run({ tuning: { ...skip.tuning, forgetDamage: true } }), await run()])
			expect(hintsOf(one)).not.toContainEqual(LOST);
		expect(sentNames()).toEqual([]);
	});

	it('is nothing on a server without the route, by its own words, and a hint says so', async () => {
		add(withoutRoute('status'));
		await submit(skip, { items: documents(2) });
		sentNames();
		const result = await submit(skip, { items: documents(2) });
		expect(sentNames()).toHaveLength(2);
		expect(notes()).toEqual([]);
		expect(hintsOf(result)).toContain(
			'Nothing is left out: this server does not give back what earlier runs have stored.',
		);
	});
});

describe('a document with a version', () => {
	const submitted = async (
		versions: unknown[],
		{ mark = 'first', ...parameters }: { mark?: string } & INodeParameters = {},
	) => {
		const items = rows(versions.length, (index) => ({
			filePath: `/${index}`,
			thumbnail: mark,
			changed: versions[index] as IDataObject[string],
		}));
		const settings = {
			documentSettings: {
				documentVersion: '={{ $json.changed === 0 ? DateTime.fromMillis(0) : $json.changed }}',
			},
		};
		const { items: output, error } = await submit(
			{ ...skip, ...settings, ...parameters },
			{ items },
		);
		expect(error).toBeUndefined();
		return column(output, 'outcome');
	};

	it('is sent when its version changes, whatever its content; without one, the content counts', async () => {
		await submitted([1, '2026-01-01', null, 0]);
		const bodies = sent('E3').flatMap(({ body }) => body as IDataObject[]);
		expect(JSON.stringify(bodies)).not.toContain('2026-01-01');
		expect(await submitted([1, '2026-01-02', null, 0], { mark: 'second' })).toEqual([
			...['unchanged', 'stored', 'stored', 'unchanged'],
		]);
	});

	it('is sent once where a source comes to have versions, or loses them', async () => {
		const none = { documentSettings: {} };
		for (const [parameters, outcome] of [
			[none, 'stored'],
			[{}, 'stored'],
			[{}, 'unchanged'],
			[none, 'stored'],
			[none, 'unchanged'],
		] as const)
			expect(await submitted(['1'], parameters)).toEqual([outcome]);
	});

	it('is compared before its file is read', async () => {
		const binary = { data: await fixture.engine.binary(Buffer.from('text'), 'a.md', 'text/plain') };
		const parameters = {
			source: 'files',
			mode: 'changed',
			documentSettings: { documentVersion: '1' },
		};
		const outcome = async (given: typeof binary) =>
			column((await submit(parameters, { items: [{ json: {}, binary: given }] })).items, 'outcome');
		expect(await outcome(binary)).toEqual(['stored']);
		const unreadable = { data: { ...binary.data, id: 'filesystem-v2:gone', data: '' } };
		expect(await outcome(unreadable)).toEqual(['unchanged']);
	});

	it.each(['json', 'records'])('may have it in a field, which is not sent: %s', async (source) => {
		const run = async (version: number | string, title: string) => {
			const record = { id: derivedId('kb', 'v'), name: title, version };
			const parameters = {
				source,
				mode: 'changed',
				jsonBody: '={{ [$json] }}',
				documentSettings: { documentVersionField: 'version' },
			};
			const item = source === 'json' ? { json: record } : await file(JSON.stringify(record));
			return column((await submit(parameters, { items: [item] })).items, 'outcome');
		};
		const runs = [await run(1, 'a'), await run(1, 'b'), await run(2, 'b'), await run('2 ', 'c')];
		expect(runs.flat()).toEqual(['stored', 'unchanged', 'stored', 'unchanged']);
		const { documents } = fixture.sandbox.store;
		expect(documents.get(derivedId('kb', 'v'))).toMatchObject({ name: 'b' });
		const stored = sent('E3').flatMap(({ body }) => body as IDataObject[]);
		expect(stored.filter((row) => 'version' in row)).toEqual([]);
	});
});

it('a document that is to be disabled is done when it is stored', async () => {
	const disabled = { id: derivedId('kb', 'a'), name: 'a', disabled: true };
	const parameters = { source: 'json', jsonBody: '={{ [$json] }}', mode: 'mirror' };
	for (const outcome of ['disabled', 'unchanged']) {
		fixture.sandbox.requests.clear();
		const run = { ...parameters, afterStoring: 'process' };
		const { items } = await submit(run, { items: [{ json: disabled }] });
		expect(column(items, 'outcome')).toEqual([outcome]);
		expect(sent('process')).toEqual([]);
	}
	expect(sent('status')).toHaveLength(3);
});

describe('with processing, a document is only left out when it was processed as well', () => {
	const processing = { ...skip, afterStoring: 'process' };
	const waiting = { ...skip, afterStoring: 'wait' };
	const impatient = { ...waiting, options: { waitMinutes: 0 } };
	const document = (process: string, ms: number) =>
		rows(1, () => ({ filePath: '/a', ...ending(process, ms) }));
	it('is believed to be there where the server cannot be asked, and a hint says so', async () => {
		await submit(waiting, { items: document('finish', 10) });
		sentNames();
		// Three requests take the lease and read the memory; the fourth asks after the documents.
		add(answering('status', 403, { nth: 4 }));
		const result = await submit(waiting, { items: document('finish', 10) });
		expect(sentNames()).toEqual([]);
		expect(hintsOf(result).join()).toContain(
			'Not known: whether unchanged documents are still there. This key may not do this',
		);
	});

	it('comes out as running while the server is at it, which the next run asks about', async () => {
		const slow = document('finish', 4000);
		const first = await submit(impatient, { items: slow });
		expect(first.items.map(({ json }) => [json.outcome, json.processing])).toEqual([
			['stored', 'running'],
		]);
		expect(hintsOf(first)).toContain(
			'1 document was still being processed when the wait ended; the next run asks for the end.',
		);
		sentNames();
		const second = await submit(impatient, { items: slow });
		expect(second.items.map(({ json }) => [json.outcome, json.processing])).toEqual([
			['unchanged', 'running'],
		]);
		const third = await submit(waiting, { items: slow });
		expect(third.items.map(({ json }) => [json.outcome, json.processing])).toEqual([
			['unchanged', 'finish'],
		]);
		expect(sentNames()).toEqual([]);
	});

	it('is sent again by the run after the one that saw no progress with it', async () => {
		const stuck = document('finish', AN_HOUR);
		await submit(processing, { items: stuck });
		sentNames();
		const { outputs } = await submit(waiting, { items: stuck, onError: 'continueErrorOutput' });
		expect(sentNames()).toEqual([]);
		expect(column(outputs[1], 'error')).toEqual([
			expect.stringContaining('the server shows no progress'),
		]);
		await submit(processing, { items: stuck });
		expect(sentNames()).toEqual(['doc 0']);
	});

	it('comes out on the error output when it fails in the end, though it was not sent', async () => {
		const slow = document('error', 2500);
		await submit(processing, { items: slow });
		const { outputs } = await submit(waiting, { items: slow, onError: 'continueErrorOutput' });
		expect(column(outputs[1], 'details')).toEqual([
			expect.objectContaining({ outcome: 'unchanged', processing: 'error' }),
		]);
	});
});
