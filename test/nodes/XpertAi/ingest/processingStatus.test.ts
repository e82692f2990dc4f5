import {
	askStatuses,
	processingState,
	statusesById,
} from '../../../../nodes/XpertAi/ingest/processingStatus';
import type { ApiRequest } from '../../../../nodes/XpertAi/transport/request';
import { virtualTime } from '../../support/virtualTime';
import { checking, succeeded } from './support/outcomes';

type Request = Omit<ApiRequest, 'timeoutMs'>;

it.each([
	['finish', 'finish'],
	['error', 'error'],
	['cancel', 'cancel'],
	['waiting', 'running'],
	['validate', 'running'],
	['embedding', 'running'],
	[null, 'none'],
	['none', 'none'],
])('the status %s is %s in one word', (status, state) => {
	expect(processingState({ id: 'a', status })).toBe(state);
});

it('no status at all is none', () => expect(processingState(undefined)).toBe('none'));

it.each<[string, unknown, string]>([
	['nothing', undefined, 'it is empty'],
	['an object', { message: 'later' }, 'it is not a list of documents'],
	['a list of something else', [{ status: 'finish' }], 'it is not a list of documents'],
	['a list with something else in it', [{ id: 'a' }, null], 'it is not a list of documents'],
	['a list of what has numbers', [{ id: 5, status: 'finish' }], 'it is not a list of documents'],
])('asking where documents stand takes no answer for one that is %s', async (_, answer, reason) => {
	const send = checking(async () => ({ ok: true, status: 200, answer }));
	const routes = {
		startPath: '',
		statusPath: () => '',
		send: async (request: Request) => await send({ ...request, timeoutMs: 1 }),
		clock: virtualTime(),
	};
	const { failure, statuses } = await askStatuses(['a'], routes);
	expect(failure).toMatchObject({ kind: 'unreadable', reason });
	expect(statuses.size).toBe(0);
});

it('asking where documents stand leaves out those the server does not know', async () => {
	const routes = {
		startPath: '',
		statusPath: (ids: string[]) => `?ids=${ids.join(',')}`,
		send: async () => succeeded([{ id: 'a', status: 'finish' }]),
		clock: virtualTime(),
	};
	const { statuses } = await askStatuses(['A', 'b'], routes);
	expect([...statuses]).toEqual([['A', { id: 'A', status: 'finish' }]]);
});

it('an entry of another shape says nothing, and hides no other', () => {
	const answer = [null, { status: 'finish' }, { id: 5 }, { id: 'B', status: 7 }, { id: 'A' }];
	expect([...statusesById(answer)]).toEqual([['a', { id: 'A' }]]);
	expect(statusesById({ id: 'A' }).size).toBe(0);
});
