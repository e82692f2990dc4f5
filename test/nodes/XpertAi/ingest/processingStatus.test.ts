import { listWith } from '../../../../nodes/XpertAi/ingest/answeredRecords';
import {
	fetchStatuses,
	processingState,
	statusesById,
} from '../../../../nodes/XpertAi/ingest/processingStatus';
import { answerIssue } from '../../../../nodes/XpertAi/transport/answer';
import { calling, success } from '../../support/send';
import { virtualTime } from '../../support/virtualTime';

it.each([
	['finish', 'finish'],
	['error', 'error'],
	['cancel', 'cancel'],
	['waiting', 'running'],
	['validate', 'running'],
	['embedding', 'running'],
	[null, 'none'],
	['none', 'none'],
])('the status %s is the state %s', (status, state) => {
	expect(processingState({ id: 'a', status })).toBe(state);
	expect(processingState(undefined)).toBe('none');
});

it.each<[string[], unknown, boolean]>([
	[['a', 'B'], [{ id: 'b' }, { id: 'A' }, { id: 'c' }], true],
	[['a', 'b'], [{ id: 'a' }], false],
	[['a', 'b'], { a: 1, b: 2 }, false],
	[['a', 'b'], [{}, 'a', 'b'], false],
	[[], [], true],
	[[], {}, false],
])('a list that must name %j may be %j: %s', (ids, answer, isRight) => {
	const { error } = listWith(ids).safeParse(answer);
	const flaw = isRight ? undefined : 'it does not list the documents that it should';
	expect(error && answerIssue(answer, error)).toBe(flaw);
});

describe('fetching statuses', () => {
	/** Asks a server that gives this answer. */
	async function ask(answer: unknown, requiredId?: string) {
		const paths: string[] = [];
		const send = calling(({ path }) => {
			paths.push(path);
			return success(answer);
		});
		const routes = {
			clock: virtualTime(),
			startPath: '',
			statusPath: (ids: string[]) => ids.join(','),
			send,
		};
		return { paths, ...(await fetchStatuses(['A', 'b'], routes, requiredId)) };
	}

	it('leaves out documents that the server does not know', async () => {
		const { statuses, paths } = await ask([{ id: 'a', status: 'finish' }]);
		expect([...statuses]).toEqual([['a', { id: 'a', status: 'finish' }]]);
		expect(paths).toEqual(['A,b']);
	});

	it('adds the required document, without which an answer does not count', async () => {
		const { statuses, paths, failure } = await ask([{ id: 'a' }, { id: 'w' }], 'w');
		expect([[...statuses.keys()], paths, failure]).toEqual([['a', 'w'], ['A,b,w'], undefined]);
		const reason = 'it does not list the documents that it should';
		expect(await ask([], 'w')).toMatchObject({ failure: { kind: 'unreadable', reason } });
	});

	it.each<[string, unknown, string]>([
		['nothing', undefined, 'it is empty'],
		['an object', { message: 'later' }, 'it is not a list of documents'],
		['a list of something else', [{ status: 'finish' }], 'it is not a list of documents'],
		['a list with something else in it', [{ id: 'a' }, null], 'it is not a list of documents'],
		['a list of what has numbers', [{ id: 5, status: 'finish' }], 'it is not a list of documents'],
	])('refuses an answer that is %s', async (_, answer, reason) => {
		const { failure, statuses } = await ask(answer);
		expect(failure).toMatchObject({ kind: 'unreadable', reason });
		expect(statuses.size).toBe(0);
	});
});

it('an entry of another shape is ignored', () => {
	const answer = [null, { status: 'finish' }, { id: 5 }, { id: 'B', status: 7 }, { id: 'A' }];
	expect([...statusesById(answer)]).toEqual([['a', { id: 'A' }]]);
	expect(statusesById({ id: 'A' }).size).toBe(0);
});
