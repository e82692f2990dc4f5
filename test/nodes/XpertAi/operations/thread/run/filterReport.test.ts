import get from 'lodash/get';

import { filterReport } from '../../../../../../nodes/XpertAi/operations/thread/run/answerFields';
import { RunEvents, stepsOf } from '../../../../../../nodes/XpertAi/threads/runEvents';
import type { Part } from '../../../../../../nodes/XpertAi/threads/runEvents';
import { sequences } from '../../../../../sandbox/support/recordings';

const MISSING = "Required fixed-filter variable 'human.department' is missing.";
const HR = { status: 'applied', hitCount: 1 };
const FAILED = { status: 'notSearched', hitCount: 0, reason: MISSING };

/** Recordings keep of what a tool has found the names, and what it says of its filter. */
const whole = <Value>(value: Value): Value =>
	JSON.parse(JSON.stringify(value).replaceAll('"CUT TO ', '"')) as Value;

const [TOOL, STEP] = ['tool', 'step'].map(
	(what) =>
		`${what}, human.department: runs, retry with and without the value, a next question without it`,
) as [string, string];

const exchangesOf = (sequence: string) => sequences('filters-retry').get(sequence) ?? [];

/** What the streams of a sequence tell, in their order. */
function streamsOf(sequence: string): RunEvents[] {
	const streams = exchangesOf(sequence).filter(({ request }) => request.path.endsWith('/stream'));
	return streams.map(({ request, response }) => {
		const [, runId = ''] = /runs\/([^/]+)/.exec(request.path) ?? [];
		const events = new RunEvents(runId);
		for (const { id, data } of whole('events' in response ? (response.events ?? []) : []))
			events.addEvent({ id, name: undefined, data: JSON.stringify(data) } as never);
		return events;
	});
}

/** What the messages of a sequence tell, in their order. */
function messagesOf(sequence: string): RunEvents[] {
	const searches = exchangesOf(sequence).filter(({ request }) => /messages/.test(request.path));
	return searches.map(({ response }) => {
		const events = new RunEvents(String(get(response, 'body.items.0.executionId')));
		events.readContent(whole(get(response, 'body.items.0.content') as unknown));
		return events;
	});
}

describe.each([
	['streams', streamsOf],
	['messages', messagesOf],
] as const)('what recorded %s say of a filter', (_, read) => {
	it('is how each search of a tool was filtered, and why one failed', () => {
		const proofs = read(TOOL).map(({ parts }) => filterReport(parts, false));
		expect(proofs).toEqual([HR, HR, HR, FAILED, FAILED, HR]);
	});

	it('is nothing for a step, but that it has searched where values were given', () => {
		const all = read(STEP);
		expect(all.map(({ parts }) => filterReport(parts, false))).toEqual(all.map(() => undefined));
		const [hr] = all;
		expect(filterReport(hr?.parts ?? [], true)).toEqual({ status: 'unknown', hitCount: 1 });
	});

	it('is a tool that failed among the steps as well, with its reason', () => {
		const failed = read(TOOL)[3];
		expect(stepsOf(failed?.parts ?? [])).toEqual([
			{
				action: expect.objectContaining({ toolInput: { input: 'budget gold coins' } }),
				observation: MISSING,
			},
		]);
	});
});

const look = (filterStatus: string, hitCount: number): Part => ({
	type: 'component',
	data: {
		tool: 'retriever-1',
		output: JSON.stringify({ diagnostics: [{ filterStatus, hitCount }] }),
	},
});
const step = (count: number): Part => ({
	type: 'component',
	data: { type: 'knowledges', data: Array.from({ length: count }, () => ({})) },
});
const list: Part = { type: 'component', data: { tool: 'mail', output: '[1]' } };
const failed: Part = {
	type: 'component',
	data: { tool: 'retriever-1', status: 'fail', error: 'Why' },
};

describe('several searches', () => {
	it.each<[what: string, parts: Part[], status: string, hitCount: number]>([
		['applied', [look('applied', 2), look('applied', 3)], 'applied', 5],
		['one without', [look('applied', 2), look('not_applied', 3)], 'not_applied', 5],
		['one dropped', [look('dynamic_fallback', 2), look('applied', 1)], 'dynamic_fallback', 3],
		['one of a step', [look('applied', 2), step(3)], 'unknown', 5],
		['the list of another tool', [look('applied', 2), list], 'applied', 2],
	])('are as the worst of them: %s', (_, parts, status, hitCount) => {
		expect(filterReport(parts, true)).toStrictEqual({ status, hitCount });
	});

	it('say why one failed beside one that did not', () => {
		expect(filterReport([failed, look('applied', 1)], false)).toEqual({ ...HR, reason: 'Why' });
	});

	it.each<[what: string, parts: Part[]]>([
		['a helper', [{ type: 'component', data: { tool: 'helper', output: 'Error: no' } }]],
		[
			'another tool that failed',
			[{ type: 'component', data: { tool: 'mail', status: 'fail', error: 'x' } }],
		],
		['a text', [{ type: 'text', text: 'hello' }]],
		['no filter', [look('not_applied', 3)]],
	])('are none with %s', (_, parts) => {
		expect(filterReport(parts, false)).toBeUndefined();
	});
});
