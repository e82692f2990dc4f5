import type { Asking } from '../../../../../nodes/XpertAi/threads/thread';
import type { ApiRequest, Outcome } from '../../../../../nodes/XpertAi/transport/request';
import { virtualTime } from '../../../support/virtualTime';
import type { VirtualTime } from '../../../support/virtualTime';
import { success } from '../../threads/support/answering';
import { checked } from './faults';

/** A run as the server tells of it. */
export const RUN = {
	...{ run_id: 'r', thread_id: 't', assistant_id: 'a', status: 'running' },
	created_at: '2026-11-22T10:00:00.000Z',
};

export const ONE_RUN = 'GET /threads/t/runs/r';
export const LIST = 'GET /threads/t/runs';
export const START = 'POST /threads/t/runs';
export const JOIN = 'GET /threads/t/runs/r/stream';
export const CANCEL = 'POST /threads/t/runs/r/cancel';
export const READ = 'GET /threads/t';
export const CONVERSATION = 'GET /conversations/t';
export const SEARCH = 'POST /conversations/search';
export const SAID = 'GET /conversations/c/messages';

/** What a server answers on each of its routes, one after another, the last for ever. */
export type Routes = Record<string, Outcome[]>;

const nameOf = ({ method, path }: ApiRequest): string => `${method} ${path}`;

/** A server with these routes and no other. */
export function serving(routes: Routes, time: VirtualTime = virtualTime()) {
	const asked: ApiRequest[] = [];
	const names = () => asked.map(nameOf);
	const send = async (request: ApiRequest): Promise<Outcome> => {
		const name = nameOf(request);
		const answers = routes[name] ?? [];
		const outcome =
			answers[Math.min(names().filter((one) => one === name).length, answers.length - 1)];
		asked.push(request);
		if (!outcome) throw new Error(`the test gives no answer to ${name}`);
		return await Promise.resolve(checked(request, outcome));
	};
	const asking: Asking = { send, clock: time, signal: time.signal };
	return { asking, asked, names, time };
}

/** One that tells of these runs, whether asked for one or for all. */
export const telling = (...runs: object[]): Outcome =>
	success(runs.map((one) => ({ ...RUN, ...one })));

/** What a server says that has no such route. */
export const NO_ROUTE: Outcome = {
	ok: false,
	failure: { kind: 'status', status: 404, missing: 'route', method: 'GET', path: '/api/ai/x' },
};
