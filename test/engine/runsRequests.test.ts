import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mapValues } from 'lodash';
import type { INodeParameters } from 'n8n-workflow';

import { projectRoot } from 'host/paths';
import { type FaultRule, INTERRUPTING_INPUT } from 'sandbox';
import { clock } from './support/clock';
import { byId } from './support/locators';
import {
	answering,
	again,
	ask,
	decide,
	detailsOf,
	occupy,
	onOthers,
	post,
	runsOf,
	says,
	useRuns,
} from './support/runs';

const { fixture, add, newThread } = useRuns();

async function call(parameters: INodeParameters, message = 'Hello', thread = '') {
	const before = fixture.sandbox.requests.all.length;
	const result = await fixture.run(parameters, {
		items: [says(thread, message)],
		onError: 'continueErrorOutput',
	});
	const sent = fixture.sandbox.requests.all.slice(before).map(({ endpoint }) => endpoint);
	return { sent, json: result.items[0]?.json, failed: result.outputs[1]?.[0] };
}

const NEW = ask({ threadSource: 'new' });
const KEY = ask({ threadSource: 'key', conversationKey: 'ann' });

describe('the requests of a question', () => {
	it('are as many as docs/thread-runs.md says', async () => {
		const page = readFileSync(join(projectRoot, 'docs/thread-runs.md'), 'utf8');
		const first = await call(KEY);
		const asked = {
			new: await call(NEW),
			existing: await call(ask(), 'Hello', String(first.json?.threadId)),
			key: await call(KEY),
			newKey: await call(ask({ threadSource: 'key', conversationKey: 'bob' })),
			firstKey: first,
		};
		const counts = mapValues(asked, ({ sent }) => sent.length);
		expect(counts).toEqual({ new: 3, existing: 6, key: 7, newKey: 8, firstKey: 10 });
		const lists = mapValues(asked, ({ sent }) => sent.filter((one) => one === 'listRuns').length);
		expect(lists).toEqual({ new: 0, existing: 1, key: 1, newKey: 1, firstKey: 1 });
		expect(page.replace(/\s+/g, ' ')).toContain(
			'A question takes 3 requests in a new conversation, 6 on an existing thread, 7 with a key and 8 with a new key; the first key of a process takes two more',
		);
	});

	it('are none after it has failed, nor more with a key', async () => {
		const { json } = await call(KEY);
		add({ endpoint: 'runs', do: 'run', outcome: 'fail', error: 'No' });
		const parameters = ask({ options: { whenGivenUp: 'cancel' } });
		const { sent } = await call(parameters, 'Hello', String(json?.threadId));
		expect([...sent].sort()).toEqual(['E13', 'deleteConversation', 'join', 'listRuns', 'runs']);
		fixture.sandbox.faults.clear();
		expect((await call(KEY)).sent).toHaveLength(7);
	});

	it('are few for a decision: nothing comes before what waits', async () => {
		const { json } = await call(NEW, `${INTERRUPTING_INPUT} first`);
		const { sent } = await call(decide(), '', String(json?.threadId));
		expect(sent.slice(0, 4)).toEqual(['E13', 'listRuns', 'E5', 'runs']);
		expect(sent.slice(4).sort()).toEqual(['deleteConversation', 'getMessages', 'join', 'join']);
	});
});

describe('what others have left on a thread', () => {
	it('is named where a message gives up what had waited for a person', async () => {
		const { json } = await call(NEW, `${INTERRUPTING_INPUT} first`);
		const next = await call(ask(), 'Hello', String(json?.threadId));
		expect(next.json).toMatchObject({ status: 'completed', discarded: json?.interrupt });
	});

	it('is not named where it was cancelled before the message', async () => {
		const { json } = await call(NEW, `${INTERRUPTING_INPUT} first`);
		const { threadId, runId } = json ?? {};
		await post(fixture.sandbox, `threads/${String(threadId)}/runs/${String(runId)}/cancel`);
		const next = await call(ask(), 'Hello', String(threadId));
		expect(next.json).toMatchObject({ status: 'completed' });
		expect(next.json).not.toHaveProperty('discarded');
	});

	async function deadThread(): Promise<{ thread: string; dead?: string }> {
		const thread = await newThread();
		add(onOthers(thread, { do: 'run', ms: 60_000 }));
		await occupy(fixture.sandbox, thread, { action: 'send', message: { input: { input: 'Hi' } } });
		fixture.sandbox.killRuns();
		fixture.sandbox.faults.clear();
		return { thread, dead: runsOf(fixture.sandbox.store.runs, thread)[0]?.id };
	}

	it('is not answered again where the first question died', async () => {
		const { thread, dead = '' } = await deadThread();
		const { failed } = await call(again({ tuning: { whenBusy: 'run' } }), '', thread);
		expect(failed?.json.error).toBe('The first question of this thread has not ended');
		expect(detailsOf(failed).description).toContain(`Cancel the run ${dead}`);
		expect(fixture.sandbox.requests.of('runs')).toEqual([]);
	});
});

describe('a conversation made for a run that is refused', () => {
	it.each(['run', 'start'])('is deleted again (%s)', async (operation) => {
		const assistantId = byId('11111111-1111-4111-8111-111111111111');
		const { failed } = await call(ask({ operation, threadSource: 'new', assistantId }));
		expect(failed?.json.error).toContain('was not found');
		const { conversationId } = detailsOf(failed);
		expect(conversationId).toBeDefined();
		expect(fixture.sandbox.store.conversations.has(String(conversationId))).toBe(false);
	});

	it.each([
		['something may have run in it', { do: 'drop', when: 'before' }],
		['a proxy answered, behind which a run may yet begin', { do: 'status', status: 502 }],
		['a redirect leads away from the server, which refused nothing', { do: 'redirect', to: '/' }],
		['a run began in it, although it was refused', { do: 'status', when: 'after', status: 403 }],
	] as const)('stays where %s', async (_, fault) => {
		add({ endpoint: 'runs', ...fault });
		const { failed } = await call(NEW);
		const { conversationId } = detailsOf(failed);
		expect(fixture.sandbox.store.conversations.has(String(conversationId))).toBe(true);
	});

	it('stays where it cannot be read what has run in it, and the refusal is told', async () => {
		add(answering('runs', 403), answering('listRuns', 403));
		const { failed } = await call(NEW);
		expect(failed?.json.error).toBe('This key may not do this: no (HTTP 403)');
		const { conversationId } = detailsOf(failed);
		expect(fixture.sandbox.store.conversations.has(String(conversationId))).toBe(true);
	});
});

describe('a server that knows nothing but the contract', () => {
	const BEYOND = ['runs', 'listRuns', 'run', 'cancel', 'join', 'stream', 'messages', 'getMessages'];

	/** With a 404 in words of its own. */
	const contractOnly = (...more: FaultRule[]) =>
		add(
			...more,
			...[...BEYOND, 'usage', 'conversation'].map(
				(endpoint): FaultRule => answering(endpoint, 404, { body: 'Nothing here.' }),
			),
		);

	it('answers, in a conversation of its own, under a key and on a thread', async () => {
		contractOnly();
		const { json } = await call(NEW, 'one');
		expect(json).toMatchObject({ output: 'Echo: one', status: 'completed' });
		expect(json).not.toHaveProperty('runId');
		expect((await call(ask(), 'two', String(json?.threadId))).json?.output).toBe('Echo: two');
		expect((await call(KEY, 'three')).json?.output).toBe('Echo: three');
		expect((await call(again(), '', String(json?.threadId))).json?.output).toBe('Echo: two');
	});

	it('tells of a failure, of a cancelled run and of one that waits, and takes a decision', async () => {
		contractOnly({ endpoint: 'E4', nth: 1, do: 'run', outcome: 'fail', error: 'No' });
		expect((await call(NEW)).failed?.json.error).toBe('The run failed: No');
		const asked = await call(NEW, `${INTERRUPTING_INPUT} first`);
		expect(asked.json).toMatchObject({ status: 'interrupted', interrupt: [{}] });
		const thread = String(asked.json?.threadId);
		const decided = await call(decide(), '', thread);
		expect(decided.json).toMatchObject({ status: 'completed' });
		const none = await call(decide(), '', thread);
		expect(none.failed?.json.error).toBe('Nothing on this thread waits for a decision');
		add({ endpoint: 'E4', nth: 1, do: 'run', ms: 60_000 });
		const running = call(ask(), 'long', thread);
		await clock.until(() => fixture.sandbox.cancelRuns(thread) > 0);
		expect((await running).failed?.json.error).toBe(
			'The run was cancelled on the server: Canceled by user',
		);
	});
});
