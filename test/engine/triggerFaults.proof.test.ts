import { startSandbox } from '../../sandbox';
import type { FaultRule, Sandbox } from '../../sandbox';
import { EVENTS } from '../../nodes/XpertAiTrigger/fields';
import { say, talk } from './support/conversations';
import { createPollEngine } from './support/pollEngine';
import type { ActiveTrigger, PollEngine } from './support/pollEngine';
import { useShortSleeps } from './support/shortSleeps';

/** What a proxy, a container that starts, or somebody else answers. */
const answer = (status: number, body: unknown): FaultRule => ({
	do: 'status',
	status,
	body,
	when: 'before',
	ms: 0,
});

const json = (statusCode: number, message: string) =>
	answer(statusCode, { statusCode, message, error: 'Said by a test' });

const STATUSES = [
	400, 401, 403, 407, 408, 409, 413, 422, 425, 429, 500, 501, 502, 503, 504, 520, 522, 529,
];

const FAULTS: Array<[string, FaultRule]> = [
	...STATUSES.map((status): [string, FaultRule] => [`${status}`, answer(status, 'Not now')]),
	['404 of a proxy', answer(404, '<html><title>404 Not Found</title></html>')],
	['404 of a missing route', json(404, 'Cannot POST /api/ai/conversations/search')],
	['404 of a missing record', json(404, 'The requested record was not found')],
	['an empty 200', answer(200, '')],
	['[]', answer(200, [])],
	['{}', answer(200, {})],
	['a list that is not counted', answer(200, { items: [] })],
	['a list of nothing', answer(200, { items: [], total: 0 })],
	['JSON of another server', answer(200, { status: 'ok', items: [{ name: 'a' }], total: 1 })],
	['an HTML page', answer(200, '<!DOCTYPE html><title>Welcome</title>')],
	['a cut connection', { do: 'drop', when: 'before', ms: 0, reset: true }],
	['a torn answer', { do: 'truncate', bytes: 40 }],
	['a slow answer', { do: 'delay', ms: 400, when: 'before' }],
];

/** The requests of a poll, and which of its endpoint they are; the third try of a request is its last. */
const REQUESTS: Array<
	[string, (threads: string[]) => { endpoint: string; nth?: number[]; path?: string }]
> = [
	['the look at what was read before', () => ({ endpoint: 'E5', nth: [1, 2, 3] })],
	['the reading of what is new', () => ({ endpoint: 'E5', nth: [2, 3, 4] })],
	['the first thread', ([path]) => ({ endpoint: 'E15', path })],
	['the last thread', (threads) => ({ endpoint: 'E15', path: threads.at(-1) })],
	['all threads', () => ({ endpoint: 'E15' })],
];

useShortSleeps(100);

let engine: PollEngine;
let sandbox: Sandbox;
let active: ActiveTrigger | undefined;

beforeAll(async () => {
	engine = await createPollEngine();
});

beforeEach(async () => {
	sandbox = await startSandbox();
	// Of no interest, and more than a page of what is looked at again.
	const began = Date.now() - 120_000;
	for (let n = 0; n < 120; n++) {
		const updatedAt = new Date(began + n).toISOString();
		sandbox.store.putConversation({ title: 'Under way', status: 'busy', updatedAt });
	}
});

afterEach(async () => {
	await active?.deactivate();
	await sandbox.close();
});

async function activate(onlyWith: string, staticData?: ActiveTrigger['stored']) {
	await active?.deactivate();
	active = await engine.activate({
		parameters: { events: [...EVENTS], options: { onlyWith } },
		credential: { baseUrl: sandbox.url, accessToken: sandbox.accessToken },
		// Less than a slow answer takes.
		budgetMs: 300,
		staticData: staticData?.(),
	});
	return active;
}

describe.each(REQUESTS)('a poll in which %s meets', (_, request) => {
	it.each(FAULTS)(
		'%s: the next two give exactly what happened, each once',
		async (_name, fault) => {
			const first = await activate('echo');
			const threads: string[] = [];
			for (const text of ['One', 'Two', 'Three']) threads.push(await talk(sandbox, text));

			sandbox.faults.add({ ...request(threads), ...fault });
			await first.poll();
			sandbox.faults.clear();
			threads.push(await talk(sandbox, 'Four'));
			await say(sandbox, threads[1] ?? '', 'Two again');
			const { stored } = first;
			const second = await activate('echo', stored);
			await second.poll();
			await second.poll();

			const replies = [...first.items(), ...second.items()].map(({ output }) => output);
			const changes = ['One', 'Three', 'Four', 'Two again'].map((text) => `Echo: ${text}`);
			// The second was seen before it changed again, or not: the server shows the last change alone.
			expect(replies.filter((reply) => reply !== 'Echo: Two').sort()).toEqual(changes.sort());
			expect(replies.filter((reply) => reply === 'Echo: Two').length).toBeLessThan(2);
		},
	);
});
