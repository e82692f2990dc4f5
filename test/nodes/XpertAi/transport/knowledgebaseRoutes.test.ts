import { knowledgebaseRoutes } from 'nodes/XpertAi/transport/knowledgebaseRoutes';
import { anySuccessfulAnswer } from 'nodes/XpertAi/transport/answerSchemas';
import type { ApiRequest } from 'nodes/XpertAi/transport/request';

import { parsing } from '../../support/send';
import { virtualTime } from '../../support/virtualTime';
import { answered, succeeded } from '../ingest/support/outcomes';

const BUSY = answered(503);

/** Routes to a server that gives these outcomes one after another, and what was sent to it. */
function routesTo(...outcomes: Array<typeof BUSY>) {
	const sent: ApiRequest[] = [];
	const send = parsing((request) => {
		sent.push(request);
		return outcomes[sent.length - 1] ?? succeeded([]);
	});
	const limits = { timeoutMs: 5000, retryLimits: { maxTries: 3, maxElapsedMs: 60_000 } };
	return { sent, routes: knowledgebaseRoutes('kb 1', { send, clock: virtualTime() }, limits) };
}

const REQUEST = { method: 'POST', body: '[]', schema: anySuccessfulAnswer } as const;

describe('the routes of a knowledgebase', () => {
	it('name it in each path, and the documents to ask for in one', () => {
		const { routes } = routesTo();
		expect([routes.storePath, routes.processPath, routes.statusPathOf(['a', 'b'])]).toEqual([
			'/knowledges/kb%201/bulk',
			'/knowledges/kb%201/process',
			'/knowledges/kb%201/status?ids=a%2Cb',
		]);
	});

	it('repeat a request that was not answered, with the timeout that was set', async () => {
		const { routes, sent } = routesTo(BUSY);
		expect(await routes.send({ ...REQUEST, path: routes.storePath })).toMatchObject({ ok: true });
		expect(sent.map(({ path, timeoutMs }) => [path, timeoutMs])).toEqual([
			[routes.storePath, 5000],
			[routes.storePath, 5000],
		]);
	});

	it('share the tries of an outage', async () => {
		const { routes, sent } = routesTo(BUSY, BUSY, BUSY, BUSY, BUSY);
		await routes.send({ ...REQUEST, path: routes.storePath });
		await routes.send({ ...REQUEST, path: routes.processPath });
		expect(sent.map(({ path }) => path)).toEqual([
			...Array<string>(3).fill(routes.storePath),
			routes.processPath,
		]);
	});
});
