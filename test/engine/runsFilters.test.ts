import type { INodeParameters } from 'n8n-workflow';

import { useFixture } from './support/fixture';
import { condition, putDepartments, putStep, putTool } from './support/filters';
import { byId } from './support/locators';
import { additional, again, ask, bodiesSent, newThreads } from './support/runs';

const fixture = useFixture();
beforeEach(() => void putDepartments(fixture.sandbox));

const QUESTION = 'What is the budget in gold coins?';
const BY_HUMAN = condition('metadata.department', 'eq', { selector: 'human.department' });
const BY_STATE = condition('metadata.department', 'eq', { selector: 'department' });
const MISSING = "Required fixed-filter variable 'human.department' is missing.";

const UNKNOWN_FIELD =
	'The knowledgebase does not know this field. If it is misspelt, correct the filter of the assistant on the server. If it is missing, take all fields of Knowledgebase: Get and this one, without "metadata.", into "Metadata Schema" of Knowledgebase: Update, which replaces them.';

const row = (content: unknown, more = {}) => ({ key: 'department', content, ...more });
const rows = (...values: object[]) => ({ filterValues: { values } }) as INodeParameters;
const department = (name: string) => rows(row(name));

/** Asks the assistant, and gives its item, the names it found and the hints. */
async function asks(
	assistantId: string,
	options: INodeParameters = {},
	more: INodeParameters = {},
) {
	const parameters = {
		threadSource: 'new',
		message: QUESTION,
		...more,
		options: { include: ['passages'], ...options },
	};
	const { items, hints, error } = await fixture.run(
		ask({ assistantId: byId(assistantId), ...parameters }),
		{ items: [{ json: { department: 'hr' } }] },
	);
	const json = items[0]?.json ?? {};
	const sources = (json.sources ?? []) as Array<{ documentName: string }>;
	const found = sources.map(({ documentName }) => documentName).sort();
	const { output, filter } = json;
	const threadId = String(json.threadId);
	return { output, filter, found, threadId, error, hints: hints.map(({ message }) => message) };
}

describe('a value for the filter of a tool', () => {
	it('lets find what it fits alone, which the output proves', async () => {
		const assistant = putTool(fixture.sandbox, { fixed: BY_HUMAN });
		for (const name of ['hr', 'sales']) {
			const { output, filter, found, hints } = await asks(assistant, department(name));
			expect(output).toContain(`The budget of ${name} is`);
			expect(found).toEqual([`${name}.md`]);
			expect(filter).toEqual({ status: 'applied', hitCount: 1 });
			expect(hints).toEqual([]);
		}
		expect(bodiesSent(fixture.sandbox)[0]).toMatchObject({
			input: { message: { input: { input: QUESTION, department: 'hr' } } },
		});
	});

	it.each<[way: string, options: INodeParameters]>([
		['a row with an expression', rows(row('={{ $json.department }}'))],
		['JSON', additional({ message: { input: { department: 'hr' } } })],
		[
			'JSON before a row',
			{ ...department('law'), ...additional({ message: { input: { department: 'hr' } } }) },
		],
	])('may come as %s', async (_, options) => {
		const assistant = putTool(fixture.sandbox, { fixed: BY_HUMAN });
		expect((await asks(assistant, options)).found).toEqual(['hr.md']);
	});

	it('has the type that its row says', async () => {
		const fixed = condition('metadata.year', 'gte', { selector: 'human.from' });
		const assistant = putTool(fixture.sandbox, { fixed });
		const from = async (type: string) => {
			const tags = { key: 'tags', type: 'string[]', content: 'a, b' };
			const teams = { key: 'teams', type: 'string[]', content: '["hr", "it, law"]' };
			const secret = { key: 'secret', type: 'boolean', content: 'true' };
			const from = { key: 'from', type, content: '2026' };
			return await asks(assistant, rows(from, tags, teams, secret));
		};
		expect((await from('number')).found).toHaveLength(3);
		const typed = { from: 2026, tags: ['a', 'b'], teams: ['hr', 'it, law'], secret: true };
		expect(bodiesSent(fixture.sandbox)).toMatchObject([{ input: { message: { input: typed } } }]);
		expect((await from('string')).filter).toEqual({
			status: 'notSearched',
			hitCount: 0,
			reason: "Value type does not match field 'metadata.year' (number).",
		});
	});

	it('counts for its question alone: the next one without it fails in words, and says so', async () => {
		const assistant = putTool(fixture.sandbox, { fixed: BY_HUMAN });
		const { threadId } = await asks(assistant, department('hr'));
		const { output, filter, hints } = await asks(
			assistant,
			{},
			{ threadSource: 'existing', threadId },
		);
		expect(output).toContain(MISSING);
		expect(filter).toEqual({ status: 'notSearched', hitCount: 0, reason: MISSING });
		expect(hints).toEqual([
			`A search failed: ${MISSING} Give it in "Values for Filters" (Key without "human."), and ask anew.`,
		]);
	});

	it.each<[what: string, filter: Parameters<typeof condition>, content: string, advice: string]>([
		[
			'a field that the knowledgebase does not know',
			['metadata.nothere', 'eq', { selector: 'human.department' }],
			'hr',
			UNKNOWN_FIELD,
		],
		[
			'a variable of the environment',
			['metadata.department', 'eq', { selector: 'env.department' }],
			'hr',
			'Only the filter of a step takes it: {"context": {"env": …}} in "Additional Fields (JSON)".',
		],
		[
			'a value of another type',
			['metadata.year', 'eq', { selector: 'human.department' }],
			'hr',
			'Correct the value or its Type in "Values for Filters", and ask anew.',
		],
		[
			'a text that is too long',
			['metadata.department', 'eq', { selector: 'human.department' }],
			'x'.repeat(513),
			'Correct the value or its Type in "Values for Filters", and ask anew.',
		],
	])('has advice that fits in the hint about %s', async (_, filter, content, advice) => {
		const assistant = putTool(fixture.sandbox, { fixed: condition(...filter) });
		const { filter: report, hints } = await asks(assistant, department(content));
		const reason = String((report as { reason?: string }).reason);
		expect(hints).toEqual([`A search failed: ${reason} ${advice}`]);
	});

	it('is the same where the message is answered again', async () => {
		const assistant = putTool(fixture.sandbox, { fixed: BY_HUMAN });
		const { threadId } = await asks(assistant, department('hr'));
		const { items } = await fixture.run(again(), { items: [{ json: { thread: threadId } }] });
		expect(items[0]?.json.filter).toEqual({ status: 'applied', hitCount: 1 });
		expect(items[0]?.json.sources).toMatchObject([{ documentName: 'hr.md' }]);
	});

	it('proves itself also where one request waits for the answer', async () => {
		const assistant = putTool(fixture.sandbox, { fixed: BY_HUMAN });
		const tuning = { inOneRequest: true };
		const { filter, found } = await asks(assistant, department('hr'), { tuning });
		expect({ filter, found }).toEqual({
			filter: { status: 'applied', hitCount: 1 },
			found: ['hr.md'],
		});
		const without = await asks(assistant, {}, { tuning });
		expect(without.filter).toEqual({ status: 'notSearched', hitCount: 0, reason: MISSING });
	});

	it('comes out with Simplify off as well', async () => {
		const assistant = putTool(fixture.sandbox, { fixed: BY_HUMAN });
		const { filter } = await asks(assistant, department('hr'), { simplify: false });
		expect(filter).toEqual({ status: 'applied', hitCount: 1 });
	});
});

describe('a value for a variable of the state', () => {
	it('stays on the thread: the next question has it too', async () => {
		const stateVariables = [{ name: 'department', type: 'string' }];
		const assistant = putTool(fixture.sandbox, { fixed: BY_STATE }, { stateVariables });
		const { found, threadId } = await asks(assistant, department('hr'));
		const next = { threadSource: 'existing', threadId } as INodeParameters;
		const again = await asks(assistant, {}, next);
		expect([found, again.found]).toEqual([['hr.md'], ['hr.md']]);
		expect(again.filter).toEqual({ status: 'applied', hitCount: 1 });
		expect(
			(await asks(assistant, additional({ state: { department: 'law' } }), next)).found,
		).toEqual(['law.md']);
	});
});

describe('a value for the filter of a step', () => {
	it('lets find what it fits alone, which nothing proves', async () => {
		const assistant = putStep(fixture.sandbox, BY_HUMAN);
		const { found, filter, hints } = await asks(assistant, department('hr'));
		expect({ found, filter, hints }).toEqual({
			found: ['hr.md'],
			filter: { status: 'unknown', hitCount: 1 },
			hints: [],
		});
	});

	it('lets find the same where one request waits for the answer', async () => {
		const assistant = putStep(fixture.sandbox, BY_HUMAN);
		const { found, filter, hints } = await asks(assistant, department('hr'), {
			tuning: { inOneRequest: true },
		});
		expect({ found, filter, hints }).toEqual({
			found: ['hr.md'],
			filter: { status: 'unknown', hitCount: 1 },
			hints: [],
		});
	});

	it('that is missing lets the run fail, and the error says where to give it', async () => {
		const assistant = putStep(fixture.sandbox, BY_HUMAN);
		const { error } = await asks(assistant);
		expect(error?.message).toContain(MISSING);
		expect(error?.description).toContain(
			'Give it in "Values for Filters" (Key without "human."), and ask anew.',
		);
	});

	it('on a field that the knowledgebase does not know lets the run fail, and the error says so', async () => {
		const fixed = condition('metadata.nothere', 'eq', { selector: 'human.department' });
		const { error } = await asks(putStep(fixture.sandbox, fixed), department('hr'));
		expect(error?.message).toContain("Unknown knowledge filter field 'metadata.nothere'.");
		expect(error?.description).toContain(UNKNOWN_FIELD);
	});
});

describe('values that do not count', () => {
	it('are told where the assistant has no filter', async () => {
		const assistant = putTool(fixture.sandbox, undefined);
		const { filter, hints } = await asks(assistant, department('hr'));
		expect(filter).toEqual({ status: 'not_applied', hitCount: 3 });
		expect(hints).toEqual([
			'Values for filters were given, but a search had no filter: give it one on the server, in the assistant.',
		]);
	});

	it('are told where no document has them', async () => {
		const assistant = putTool(fixture.sandbox, { fixed: BY_HUMAN });
		const { filter, hints } = await asks(assistant, department('HR'));
		expect(filter).toEqual({ status: 'applied', hitCount: 0 });
		expect(hints).toEqual([
			'A filtered search found no passage: compare "Values for Filters" with the metadata of the documents, capitals included.',
		]);
	});

	it('are told where nothing was looked into', async () => {
		const assistant = putTool(fixture.sandbox, undefined, { answers: 'echo' });
		const { filter, hints } = await asks(assistant, department('hr'));
		expect(filter).toEqual({ status: 'notSearched', hitCount: 0 });
		expect(hints).toEqual(['Values for filters were given, but no knowledge was looked into.']);
	});

	it('are not missed where none were given', async () => {
		const { filter, hints } = await asks(putTool(fixture.sandbox, undefined));
		expect({ filter, hints }).toEqual({ filter: undefined, hints: [] });
	});
});

describe('a value that is refused before anything is sent', () => {
	const EMPTY = 'department in "Values for Filters" must not be empty';

	it.each<[what: string, options: INodeParameters, words: string]>([
		['an empty text', department(''), EMPTY],
		['blanks', department('  '), EMPTY],
		['the folder of all', department(' / '), EMPTY],
		['an expression that gives nothing', rows(row('={{ $json.nothere }}')), EMPTY],
		['an empty list', rows(row('', { type: 'string[]', mayBeEmpty: true })), EMPTY],
		['an expression that gives an empty list', rows(row('={{ [] }}', { type: 'string[]' })), EMPTY],
		[
			'an empty list in JSON',
			additional({ message: { input: { department: [] } } }),
			'"Additional Fields (JSON)" at input.message.input.department must not be empty',
		],
		[
			'null in JSON',
			additional({ message: { input: { department: null } } }),
			'"Additional Fields (JSON)" at input.message.input.department must not be empty',
		],
		[
			'a key of the message',
			rows({ key: 'input', content: 'x' }),
			'input in "Values for Filters" is a part of the message itself',
		],
		['no number', rows(row('x', { type: 'number' })), 'must be a number, but is "x"'],
		[
			'a text with a part that is missing',
			rows(row('=Dept/{{ $json.nothere }}', { mayBeEmpty: true })),
			'department in "Values for Filters" lacks a part: {{ $json.nothere }} gave nothing for this item',
		],
		[
			'a text joined with nothing',
			rows(row('={{ "Dept/" + $json.nothere }}')),
			'department in "Values for Filters" lacks a part: {{ $json.nothere }} gave nothing for this item',
		],
		[
			'a word for a missing value',
			department('undefined'),
			'department in "Values for Filters" holds "undefined", which stands for a missing value',
		],
		[
			'a word for a missing value in a list',
			rows(row('hr, null', { type: 'string[]' })),
			'department in "Values for Filters" holds "null", which stands for a missing value',
		],
		[
			'a list with one missing value of two',
			rows(row("={{ ['hr', $json.nothere] }}", { type: 'string[]' })),
			EMPTY,
		],
		[
			'a list with a missing value',
			rows(row('={{ [$json.nothere] }}', { type: 'string[]' })),
			EMPTY,
		],
		[
			'a word for a missing value in JSON',
			additional({ message: { input: { department: 'undefined' } } }),
			'at input.message.input.department holds "undefined", which stands for a missing value',
		],
	])('is %s', async (_, options, words) => {
		const assistant = putTool(fixture.sandbox, { fixed: BY_HUMAN });
		const { error } = await asks(assistant, options);
		expect(error?.message).toContain(words);
		expect(fixture.sandbox.requests.all).toEqual([]);
	});

	it.each(['references', 'clientMessageId', 'n8nMark'])('is one for %s', async (key) => {
		const { error } = await asks(putTool(fixture.sandbox, undefined), rows({ key, content: 'x' }));
		expect(error?.message).toContain('is a part of the message itself');
	});

	it('but not an empty text of a row that may be empty', async () => {
		const fixed = condition('document.folderPath', 'under', { selector: 'human.folder' });
		const assistant = putTool(fixture.sandbox, { fixed });
		const { found } = await asks(assistant, rows({ key: 'folder', content: '', mayBeEmpty: true }));
		expect(found).toHaveLength(3);
	});
});

describe('Start Run', () => {
	it('takes values as well, and Wait for Run proves them', async () => {
		const assistant = putTool(fixture.sandbox, { fixed: BY_HUMAN });
		const started = await fixture.run(
			ask({
				operation: 'start',
				assistantId: byId(assistant),
				message: QUESTION,
				options: department('sales'),
			}),
			{ items: [{ json: { thread: (await newThreads(fixture.sandbox, 1))[0] } }] },
		);
		const waited = await fixture.run(
			{
				resource: 'thread',
				operation: 'waitForRun',
				threadId: '={{ $json.threadId }}',
				runId: '={{ $json.runId }}',
			},
			{ items: [{ json: started.items[0]?.json ?? {} }] },
		);
		expect(waited.items[0]?.json).toMatchObject({
			filter: { status: 'applied', hitCount: 1 },
			sources: [{ documentName: 'sales.md' }],
		});
	});
});
