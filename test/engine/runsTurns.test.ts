import { range } from 'lodash';
import type { INodeParameters } from 'n8n-workflow';

import { SAYING_ASSISTANT } from '../../sandbox';
import { derivedId } from '../../nodes/XpertAi/payloads/derivedId';
import { useFixture } from './support/fixture';
import { byId } from './support/locators';
import { ask, post, runsOf, saidOn, says } from './support/runs';

const fixture = useFixture();

const THREAD = derivedId(SAYING_ASSISTANT.id, 'ann');

const keyed = (parameters: INodeParameters = {}) =>
	ask({
		...{ threadSource: 'key', conversationKey: '={{ $json.thread }}' },
		...{ assistantId: byId(SAYING_ASSISTANT.id), ...parameters },
	});

async function say(message: string, parameters: INodeParameters = {}, more = {}) {
	const items = [says('ann', message)];
	const result = await fixture.run(keyed(parameters), { items, ...more });
	return { ...result, json: result.items[0]?.json };
}

const sent = (endpoint: string) => fixture.sandbox.requests.of(endpoint);
const stored = () => runsOf(fixture.sandbox.store.runs, THREAD);

beforeEach(() => fixture.sandbox.store.putAssistant(SAYING_ASSISTANT));

describe('a message under a key', () => {
	it('comes out once it has ended, though its stream stays open and silent', async () => {
		fixture.sandbox.faults.add({ endpoint: 'join', do: 'delay', ms: 600_000 });
		fixture.sandbox.faults.add({ endpoint: 'runs', do: 'run', ms: 300 });
		const { json } = await say('one');
		expect(json).toMatchObject({ output: 'You said: one [users seen: 1]' });
		// Left to itself, a silent stream is given up after 75 seconds.
		expect(json?.seconds).toBeLessThan(60);
	});

	it('comes out of its stream where that speaks just before it is given up', async () => {
		// After ten silent seconds the record says that it has ended.
		fixture.sandbox.faults.add({ endpoint: 'join', nth: 1, do: 'delay', ms: 10_500 });
		const { json } = await say('one');
		expect(json).toMatchObject({ output: 'You said: one [users seen: 1]', recovered: false });
		expect([sent('join'), sent('run')].map(({ length }) => length)).toEqual([1, 1]);
	});
});

describe('a server that does not tell of its runs', () => {
	it('has no such routes: each message is sent to E4, which is found out once an execution', async () => {
		const body = { statusCode: 404, message: `Cannot GET /api/ai/threads/${THREAD}/runs` };
		fixture.sandbox.faults.add({ endpoint: 'listRuns', do: 'status', status: 404, body });
		const items = ['one', 'two'].map((message) => says('ann', message));
		const { items: out } = await fixture.run(keyed(), { items });
		expect(out.map(({ json }) => json.status)).toEqual(['completed', 'completed']);
		expect([sent('runs'), sent('E4')].map(({ length }) => length)).toEqual([0, 2]);
		expect(sent('listRuns')).toHaveLength(2);
	});

	it('may not list them: the item fails, and nothing is said', async () => {
		fixture.sandbox.faults.add({ endpoint: 'listRuns', do: 'status', status: 403, body: 'no' });
		expect((await say('one')).error?.message).toBe('The server answered 403: no');
		expect([sent('runs'), sent('E4')].map(({ length }) => length)).toEqual([0, 0]);
	});

	it('cannot list them for a while: it is asked again, and the message takes its turn', async () => {
		const fault = { endpoint: 'listRuns', do: 'status', status: 503, body: 'down' } as const;
		fixture.sandbox.faults.add({ ...fault, times: 5 });
		expect((await say('one')).json).toMatchObject({ status: 'completed' });
		expect([sent('runs'), sent('E4')].map(({ length }) => length)).toEqual([1, 0]);
		fixture.sandbox.faults.add(fault);
		const { error } = await say('two', { options: { deadlineMinutes: 0.05 } });
		expect(error?.message).toBe('The server answered 503: down');
		expect([sent('runs'), sent('E4')].map(({ length }) => length)).toEqual([1, 0]);
	});

	it('is restarted behind a proxy, whose 404 comes after a list: the message still takes its turn', async () => {
		fixture.sandbox.faults.add({ endpoint: 'runs', do: 'run', ms: 600 });
		await say('zero');
		await post(fixture.sandbox, `threads/${THREAD}/runs`, {
			assistant_id: SAYING_ASSISTANT.id,
			input: { action: 'send', message: { input: { input: 'theirs' } } },
		});
		const body = '<html>404 Not Found</html>';
		const nth = range(2, 10);
		fixture.sandbox.faults.add({ endpoint: 'listRuns', do: 'status', status: 404, body, nth });
		expect((await say('one')).json?.output).toBe('You said: one [users seen: 3]');
		expect(sent('listRuns').filter(({ status }) => status === 404)).toHaveLength(nth.length);
		expect(sent('E4')).toEqual([]);
		expect(saidOn(fixture.sandbox, THREAD)).toEqual(['zero', 'theirs', 'one']);
	});

	it('stays away behind a proxy after a list: the item fails at the deadline, and nothing is said', async () => {
		await say('zero');
		fixture.sandbox.faults.add({ endpoint: 'runs', do: 'run', ms: 60_000 });
		const input = { action: 'send', message: { input: { input: 'theirs' } } };
		const others = { assistant_id: SAYING_ASSISTANT.id, input };
		await post(fixture.sandbox, `threads/${THREAD}/runs`, others);
		const [body, nth] = ['<html>404 Not Found</html>', range(2, 1_000)];
		fixture.sandbox.faults.add({ endpoint: 'listRuns', do: 'status', status: 404, body, nth });
		const { error } = await say('one', { options: { deadlineMinutes: 0.02 } });
		expect(error?.message).toBe('The server answered 404: an HTML page');
		expect(sent('E4')).toEqual([]);
		expect(saidOn(fixture.sandbox, THREAD)).toEqual(['zero', 'theirs']);
	});

	it('cannot list them as it has begun: it is joined all the same', async () => {
		const fault = { endpoint: 'listRuns', do: 'status', status: 403, body: 'no' } as const;
		fixture.sandbox.faults.add({ ...fault, nth: [2, 3] });
		expect((await say('one')).json).toMatchObject({ status: 'completed' });
		expect(stored()).toHaveLength(1);
	});
});
