import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { derivedId } from 'nodes/XpertAi/payloads/ids';
import type { FaultRule } from 'sandbox';
import { answering } from './support/faults';
import { clock } from './support/clock';
import { REFUSED_SOURCE_TYPE, TEXTS, column, hintsOf, useIngest, isNote } from './support/ingest';

const { fixture, add, submit, file, sent } = useIngest();

const ALL = 'abcdefghij';

/** One item for each letter, whose text is to be found under it. */
const texts = (letters: string, more: Record<string, string> = {}) =>
	[...letters].map((name) => ({ json: { name, text: more[name] ?? `The word is ${name}.` } }));
const fromText = (more: INodeParameters = {}) => ({
	...TEXTS,
	mode: 'mirror',
	...more,
});
const night = async (
	letters: string,
	more: Parameters<typeof submit>[1] & { parameters?: INodeParameters } = {},
) => {
	const { parameters, ...rest } = more;
	return await submit(fromText(parameters), { items: texts(letters), ...rest });
};
const idOf = (name: string) => derivedId(fixture.world.knowledgebaseId, name);
/** The id of the document that holds a note, by its name on the server with … for the node's. */
const noteId = (title: string) => {
	const name = `n8n: ${title.replace('…', 'Xpert AI')} (do not process)`;
	const { store } = fixture.sandbox;
	const note = store.documentsOf(fixture.world.knowledgebaseId).find((one) => one.name === name);
	if (note === undefined) throw new Error(`No note is called ${name}`);
	return note.id;
};
const found = () => [...ALL].filter((name) => fixture.sandbox.store.findable(idOf(name))).join('');
/** The ids of the documents that were taken out of answers since the last look. */
const disabled = () => {
	const ids = fixture.sandbox.requests
		.of('E3')
		.flatMap(({ body }) => body as IDataObject[])
		.filter((document) => document.disabled === true && !isNote(document))
		.map(({ id }) => id);
	fixture.sandbox.requests.clear();
	return ids;
};

const RECORDS: INodeParameters = {
	source: 'records',
	documentKeyField: 'name',
	mode: 'mirror',
	sourceName: 'records',
	maxGonePercent: 100,
};

describe('documents that are gone from the source', () => {
	it('are taken out of every answer once, one item each, and counted', async () => {
		await night(ALL);
		const result = await night('abcdefgh');
		expect(found()).toBe('abcdefgh');
		expect(column(result.items, 'outcome')).toEqual([
			...Array.from({ length: 8 }, () => 'unchanged'),
			'disabled',
			'disabled',
		]);
		expect(result.items.slice(8)).toEqual(
			['i', 'j'].map((name) => ({
				json: { name: `${name}.md`, outcome: 'disabled', key: name, id: idOf(name) },
				pairedItem: { item: 0 },
			})),
		);
		expect(hintsOf(result)[0]).toContain('8 unchanged and not sent, 2 disabled');
		// Their names stay on the server, which clears what does not come.
		const { documents } = fixture.sandbox.store;
		expect(documents.get(idOf('i'))).toMatchObject({ name: 'i.md', disabled: true });
		expect(disabled()).toHaveLength(2);
		await night('abcdefgh');
		expect(disabled()).toEqual([]);
	});

	it('stay where nothing else is asked for, and are still known when it is', async () => {
		await night(ALL);
		await night('abcdefgh', { parameters: { mode: 'changed' } });
		expect(found()).toBe(ALL);
		await night('abcdefgh');
		expect(found()).toBe('abcdefgh');
	});

	it('are left to the next run where there is no answer when they are disabled', async () => {
		await night(ALL);
		add(answering('E3', 404, { nth: 5 }));
		const result = await night('abcdefgh', { parameters: { tuning: { retryMinutes: 0 } } });
		expect(hintsOf(result).join()).toContain('Documents that are gone were not all disabled.');
		expect(column(result.items, 'outcome')).not.toContain('disabled');
		fixture.sandbox.faults.clear();
		await night('abcdefgh');
		expect(found()).toBe('abcdefgh');
	});
});

const UNSTORED = '1 document was not read, or not stored for certain';

describe('nothing is disabled', () => {
	const idOfA = derivedId('kb', 'a');
	it('when one of several files of records is empty, which is said', async () => {
		await submit(RECORDS, { items: [await file('{"name":"a"}'), await file('{"name":"b"}')] });
		const result = await submit(RECORDS, { items: [await file('{"name":"a"}'), await file('\n')] });
		expect(hintsOf(result)).toContain('Nothing was disabled: 1 file of records held none.');
		expect(hintsOf(result)).toContain('Files of records that held none: 1.');
		expect(disabled()).toEqual([]);
	});

	it.each<[string, FaultRule]>([
		[UNSTORED, { endpoint: 'E3', nth: 4, do: 'drop', when: 'after' }],
		[UNSTORED, answering('E3', 403, { nth: 4 })],
		['the processing could not be started or followed', answering('process', 403)],
	])('when %s', async (reason, fault) => {
		await night(ALL);
		disabled();
		add(fault);
		const result = await night('abcdefgh', {
			items: texts('abcdefgh', { a: 'It has changed.' }),
			parameters: { tuning: { retryMinutes: 0 } },
			onError: 'continueErrorOutput',
		});
		expect(disabled()).toEqual([]);
		expect(hintsOf(result)).toContain(`Nothing was disabled: ${reason}.`);
	});

	it.each<[string, IDataObject[], string]>([
		['came without an ID', [{ id: idOfA }, { name: 'none' }], '1 document came without an ID'],
		['did not come at all', [], 'the source brought no documents'],
	])('when documents %s, whatever share may be gone', async (_, documents, reason) => {
		const bring = async (brought: IDataObject[]) =>
			await submit({
				source: 'json',
				jsonBody: JSON.stringify(brought),
				mode: 'mirror',
				sourceName: 'json',
				maxGonePercent: 100,
			});
		await bring([{ id: idOfA }, { id: derivedId('kb', 'b') }]);
		expect(hintsOf(await bring(documents))).toContain(`Nothing was disabled: ${reason}.`);
		expect(disabled()).toEqual([]);
	});

	it('when a document that is refused has no key', async () => {
		await night(ALL);
		disabled();
		const result = await night('', {
			items: [...texts('abcdefgh'), { json: { text: 'no name' } }],
			onError: 'continueErrorOutput',
		});
		expect(hintsOf(result)).toContain(`Nothing was disabled: ${UNSTORED}.`);
		expect(disabled()).toEqual([]);
	});

	it('though a document could not be processed, as such a one may come every night', async () => {
		await night(ALL);
		const metadata = { sandbox: { process: 'error' } };
		const bad = { json: { name: 'a', text: 'Changed.', metadata } };
		const withSettings = {
			...fromText(),
			documentSettings: {
				metadata: '={{ $json.metadata ?? "{}" }}',
			},
		};
		await submit(withSettings, {
			items: [bad, ...texts('bcdefgh')],
			onError: 'continueErrorOutput',
		});
		expect(disabled()).toEqual([idOf('i'), idOf('j')]);
	});
});

describe('a document that is refused for itself keeps no other from being disabled', () => {
	const all = { mode: 'mirror', maxGonePercent: 100, sourceName: 's' };
	const files = async (texts: Record<string, string>) => {
		const binary = async (name: string, text: string) =>
			await fixture.engine.binary(Buffer.from(text, 'latin1'), name, 'text/plain');
		const made = Object.entries(texts).map(async ([name, text]) => await binary(name, text));
		return (await Promise.all(made)).map((data) => ({ json: {}, binary: { data } }));
	};
	const lines = async (...records: object[]) => [
		await file(records.map((record) => JSON.stringify(record)).join('\n')),
	];
	const json = async (...records: object[]) => await Promise.resolve([{ json: { records } }]);
	const record = (name: string, more = {}) => ({ id: idOf(name), name, ...more });
	const OLD = '\xd0\xcf\x11\xe0';
	const REFUSED = { sourceType: REFUSED_SOURCE_TYPE };

	// What is brought first; and then, without its last document and with a flaw.
	it.each<[string, INodeParameters, ...Array<() => Promise<INodeExecutionData[]>>]>([
		[
			'an empty text',
			TEXTS,
			async () => await Promise.resolve(texts('abz')),
			async () => await Promise.resolve(texts('ab', { b: ' ' })),
		],
		[
			'an empty file',
			{ source: 'files' },
			async () => await files({ 'a.md': 'A', 'b.md': 'B', 'z.md': 'Z' }),
			async () => await files({ 'a.md': 'A', 'b.md': '' }),
		],
		[
			'a file of an old format',
			{ source: 'files', documentKey: '={{ $binary.data.fileName[0] }}' },
			async () => await files({ 'a.md': 'A', 'b.md': 'B', 'z.md': 'Z' }),
			async () => await files({ 'a.md': 'A', 'b.xls': OLD }),
		],
		[
			'a record without a text',
			{ source: 'records', textField: 'text', documentKeyField: 'key' },
			async () => await lines(...[...'abz'].map((key) => ({ key, text: key }))),
			async () => await lines({ key: 'a', text: 'a' }, { key: 'b', text: '' }),
		],
		[
			'a record that the server refuses',
			{ source: 'json', jsonBody: '={{ $json.records }}' },
			async () => await json(record('a'), record('b'), record('z')),
			async () => await json(record('a'), record('b', REFUSED)),
		],
	])('%s', async (_, parameters, first, then) => {
		const bring = async (items: INodeExecutionData[] = []) =>
			await submit({ ...parameters, ...all }, { items, onError: 'continueErrorOutput' });
		expect((await bring(await first?.())).outputs[1]).toEqual([]);
		disabled();
		const { outputs } = await bring(await then?.());
		expect(outputs[1]).toHaveLength(1);
		expect(column(outputs[0], 'outcome').slice(-1)).toEqual(['disabled']);
		expect(disabled()).toHaveLength(1);
	});
});

it('nothing is disabled where, after a long silence, the server does not say whether another run is at work', async () => {
	await night(ALL);
	disabled();
	const refused = { do: 'status', status: 403 } as const;
	const path = `=${noteId('when … began')}%2C${noteId('whether … is at work')}`;
	add({ endpoint: 'status', path: idOf('a'), do: 'delay', ms: 60_000 });
	const running = night('abcdefgh');
	const asked = () => fixture.sandbox.requests.of('status').map((request) => request.path);
	await clock.until(() => asked().some((one) => one.includes(idOf('a'))));
	// The run can renew its lease no more, and looks after the answer whether it still has it.
	add({ ...refused, endpoint: 'E3' }, { ...refused, endpoint: 'status', path });
	const result = await running;
	expect(hintsOf(result)).toContain(
		'Nothing was disabled: whether another run of this source is at work is not known.',
	);
	expect(found()).toBe(ALL);
});

describe('when more is missing than may be', () => {
	it('nothing is disabled, and the run fails after storing what came, saying how to allow it', async () => {
		await night(ALL);
		disabled();
		const { error } = await night('', { items: texts('abcde', { a: 'Changed.' }) });
		expect(error?.message).toBe(
			'Nothing was disabled: 5 of 10 documents are missing from this run, more than "Stop If More Than (%) Are Gone" allows (20)',
		);
		expect(error?.description).toMatch(
			/^All that came is stored\. Missing are for example( [f-j]\.md[,.]){3}/,
		);
		expect(error?.description).toContain(
			'set "Stop If More Than (%) Are Gone" to 50 for one scheduled run',
		);
		expect(disabled()).toEqual([]);
		expect(fixture.sandbox.store.findable(idOf('a'))?.chunks).toEqual(['Changed.']);
		await night('abcde', { parameters: { maxGonePercent: 50 } });
		expect(found()).toBe('abcde');
	});
});

describe('when no document that came was known', () => {
	const OTHER_KEYS = { documentKey: '=new/{{ $json.name }}' };

	it('nothing is disabled, and the run fails after storing what came, saying that keys differ', async () => {
		await night('abcd');
		disabled();
		const { error } = await night('abcd', { parameters: OTHER_KEYS });
		expect(error?.message).toBe(
			'Nothing was disabled: none of 4 known documents is in this run, whose keys differ from those before',
		);
		expect(error?.description).toMatch(
			/^All that came is stored beside the others\. Before, for example: [a-d], [a-d], [a-d]; now: new\/a, /,
		);
		expect(disabled()).toEqual([]);
		expect(found()).toBe('abcd');
	});

	it.each<[string, INodeParameters, string, [string, string]]>([
		['are still made otherwise', OTHER_KEYS, 'a.md', ['a', 'new/a']],
		['are corrected', {}, 'a.md', ['new/a', 'a']],
		['are corrected, with a summary as output', { output: 'summary' }, 'a.md', ['new/a', 'a']],
	])(
		'the next run says the same while keys %s, and advises no more than one run',
		async (_, parameters, name, [old, now]) => {
			await night('abcd');
			await night('abcd', { parameters: OTHER_KEYS });
			const { error } = await night('abcd', { parameters });
			expect(error?.message).toMatch(
				/^Nothing was disabled: 4 of 8 documents are missing from this run/,
			);
			expect(error?.description).toContain(
				`"${name}" is missing under the key "${old}", and came under "${now}". Where keys are made otherwise than in an earlier run, documents are stored twice: correct "Document Key" if it is wrong now. If it is right now, also after a correction, set "Stop If More Than (%) Are Gone" to 50 for one scheduled run, which disables the copies under the other keys. `,
			);
		},
	);

	it('the next run does not mean documents whose names occur more than once', async () => {
		const parameters = { name: 'readme', documentKey: '={{ $json.name }}' };
		await night('abcd', { parameters });
		const { error } = await night('aefgh', { parameters });
		expect(error?.description).not.toContain('is missing under the key');
		expect(error?.description).toContain('Missing are for example');
	});

	it('Document: Disable takes the old ones out, after which runs go on', async () => {
		await night('abcd');
		await night('abcd', { parameters: OTHER_KEYS });
		const { knowledgebaseId } = fixture.world;
		const old = { documentsBy: 'id', documentIds: [...'abcd'].map(idOf).join(', ') };
		await fixture.run({ resource: 'document', operation: 'disable', knowledgebaseId, ...old });
		const { error, items } = await night('abcd', { parameters: OTHER_KEYS });
		expect([error, column(items, 'outcome')]).toEqual([undefined, Array(4).fill('unchanged')]);
		expect(found()).toBe('');
	});

	it('a share of 100 allows it, as for a source that is always new', async () => {
		await night('ab');
		await night('cd', { parameters: { maxGonePercent: 100 } });
		expect(found()).toBe('cd');
	});
});

describe('When Run Again: Mirror the Source', () => {
	it('is refused in a loop before anything is sent, in words', async () => {
		const { error } = await night(ALL, { loops: 'n8n-nodes-base.wait' });
		expect(error?.message).toBe(
			'"When Run Again" cannot be "Mirror the Source (Disable What Is Gone)" in a loop, as that needs all documents in one run: take the node out of the loop, or choose "Send New and Changed" [item 0]',
		);
		expect(sent()).toEqual([]);
	});

	const TESTED = '2 of 10 documents are missing from this run. A scheduled run would disable them.';
	const BY_HAND = 'A run by hand does so with the option "Disable in Manual Runs".';
	const UNTOLD =
		'Disabled in a sub-workflow: this n8n does not say whether its parent was only tested, so it counts as scheduled.';
	const integrated = (calledFrom: object) => ({ mode: 'integrated', calledFrom }) as const;

	it.each([
		['by hand', { mode: 'manual' }, TESTED],
		[
			'in a test of the outermost',
			integrated({ outermost: 'manual', caller: 'integrated' }),
			TESTED,
		],
		['in a test, told of by the caller alone', integrated({ caller: 'manual' }), TESTED],
		['by a schedule', integrated({ outermost: 'trigger', caller: 'integrated' }), undefined],
		['by a webhook', integrated({ caller: 'webhook' }), undefined],
		['n8n does not tell how', integrated({}), UNTOLD],
		['by another sub-workflow', integrated({ caller: 'integrated' }), UNTOLD],
		['as the retry of an execution', { mode: 'retry' }, TESTED],
		['in an evaluation', { mode: 'evaluation' }, TESTED],
		['in a way nobody knows', { mode: 'internal' }, TESTED],
		['by a chat', { mode: 'chat' }, undefined],
		['on the command line', { mode: 'cli' }, undefined],
		['after an error', { mode: 'error' }, undefined],
	] as const)('disables unless it is only tested: started %s', async (_, run, words) => {
		await night(ALL);
		disabled();
		const result = await night('abcdefgh', run);
		expect(disabled()).toHaveLength(words === TESTED ? 0 : 2);
		expect(hintsOf(result).filter((hint) => [TESTED, UNTOLD].includes(hint))).toEqual(
			words === undefined ? [] : [words],
		);
	});

	const BY_HAND_TOO = { parameters: { options: { disableInManualRuns: true } } };

	it('disables by hand too where Disable in Manual Runs is on, and in no retry', async () => {
		await night(ALL);
		disabled();
		expect(hintsOf(await night('abcdefgh', { ...BY_HAND_TOO, mode: 'retry' }))).toContain(TESTED);
		expect(disabled()).toEqual([]);
		const result = await night('abcdefgh', { ...BY_HAND_TOO, mode: 'manual' });
		expect(hintsOf(result)).not.toContain(TESTED);
		expect([disabled().length, found()]).toEqual([2, 'abcdefgh']);
	});

	it('fails by hand as well where Disable in Manual Runs is on and too many are missing', async () => {
		await night(ALL);
		const { error } = await night('abcde', { ...BY_HAND_TOO, mode: 'manual' });
		expect(error?.message).toMatch(/^Nothing was disabled: 5 of 10 documents are missing/);
		expect(found()).toBe(ALL);
	});

	it('says nothing of its parent where all that is gone is out of answers already', async () => {
		await night(ALL);
		const { knowledgebaseId } = fixture.world;
		const byId = { documentsBy: 'id', documentIds: `${idOf('i')}, ${idOf('j')}` };
		await fixture.run({ resource: 'document', operation: 'disable', knowledgebaseId, ...byId });
		expect(hintsOf(await night('abcdefgh', integrated({})))).not.toContain(UNTOLD);
	});

	it('leaves what is newer in a retry, and counts it', async () => {
		await night('ab');
		const result = await night('', {
			items: texts('abc', { a: 'It is older.' }),
			mode: 'retry',
			onError: 'continueRegularOutput',
		});
		expect(column(result.items, 'outcome')).toEqual([undefined, 'unchanged', 'found']);
		expect(hintsOf(result)).toContain(
			'1 document was not sent: this is a retry, and what is stored may be newer.',
		);
		expect(fixture.sandbox.store.findable(idOf('a'))?.chunks).toEqual(['The word is a.']);
	});

	it.each([
		['manual', true],
		['retry', false],
	] as const)('says how a run by hand disables, and only there: %s', async (mode, isSaid) => {
		await night(ALL);
		expect(hintsOf(await night('abcdefgh', { mode })).includes(BY_HAND)).toBe(isSaid);
	});

	it('says by hand that a scheduled run would disable none, and does not fail', async () => {
		await night(ALL);
		const result = await night('abcde', { mode: 'manual' });
		expect(result.error).toBeUndefined();
		expect(hintsOf(result)).toContain(
			'5 of 10 documents are missing from this run. A scheduled run would disable none: more than 20 %.',
		);
		expect(hintsOf(result).join()).toMatch(
			/All that came is stored\. Missing are for example( [f-j]\.md[,.]){3} .* for one scheduled run\./,
		);
	});
});
