import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { runAndWait } from '../../../../nodes/XpertAi/runs/runAndWait';
import { createConversation } from '../../../../nodes/XpertAi/runs/openConversation';
import type { Clock } from '../../../../nodes/XpertAi/transport/clock';
import type { Send } from '../../../../nodes/XpertAi/transport/request';
import { SAYING_ASSISTANT, startSandbox } from '../../../../sandbox';
import type { Sandbox } from '../../../../sandbox';
import { runsOf } from '../../../engine/support/runs';
import { saying } from './support/run';
import { checked, fail } from './support/faults';
import { PROPERTY_RUNS } from '../../../support/propertyRuns';

/** Each is some dozens of requests over HTTP. */
const RUNS = Math.min(16, Math.ceil(PROPERTY_RUNS / 40));

/** So much sooner than in earnest everything is looked at again, but not before a busy server has stored what was said. */
const SOONER = 20;
const LEAST_MS = 150;

const clock: Clock = {
	now: () => Date.now(),
	later: () => undefined,
	random: Math.random,
	sleep: async (ms, signal) =>
		await sleep(Math.max(LEAST_MS, ms / SOONER), undefined, { signal }).catch(() => undefined),
};

let server: Sandbox;
beforeAll(async () => {
	server = await startSandbox();
	server.store.putAssistant(SAYING_ASSISTANT);
});
afterAll(async () => await server.close());

/** Sends as a worker of its own does; none of them hears a stream, so that each asks for its run. */
const send: Send = async (request) => {
	if (request.stream) return fail(request, { kind: 'status', status: 404, reason: 'no streams' });
	const response = await fetch(`${server.url}/api/ai${request.path}`, {
		method: request.method,
		body: request.body as string | undefined,
		headers: {
			Authorization: `Bearer ${server.accessToken}`,
			'Content-Type': 'application/json',
		},
	});
	const text = await response.text();
	const { status } = response;
	if (!response.ok) return fail(request, { kind: 'status', status, reason: text });
	return checked(request, { ok: true, status, answer: text ? JSON.parse(text) : '' });
};

/** Says something on a thread, as an execution on any worker. */
async function say(threadId: string, text: string) {
	const body = { ...saying(text), assistant_id: SAYING_ASSISTANT.id };
	return await runAndWait({
		...{ send, clock, threadId, body, isNew: false, takesTurns: true, whenBusy: 'wait' },
		...{ whenStopped: 'leave', whenLate: 'leave', deadline: Date.now() + 60_000 },
		numbers: { areMissing: false },
	});
}

const worker = fc.record({
	fromMs: fc.constantFrom(0, 0, 3, 20, 60),
	times: fc.constantFrom(1, 2),
});

describe('workers that say something on one thread at the same moment', () => {
	it('are all answered, one after another, and no message is lost', async () => {
		const goes = fc.record({
			workers: fc.array(worker, { minLength: 2, maxLength: 3 }),
			// Far longer than a look takes, also on a busy machine: a shorter one may have ended before it.
			runMs: fc.constantFrom(400, 600),
			isNew: fc.boolean(),
		});
		let kept = 0;
		await fc.assert(
			fc.asyncProperty(goes, async ({ workers, runMs, isNew }) => {
				const threadId = randomUUID();
				server.faults.clear();
				for (const endpoint of ['E4', 'runs'] as const)
					server.faults.add({ endpoint, do: 'run', ms: runMs });
				const asking = { send, clock };
				await createConversation(asking, threadId, {}, 5000);
				if (!isNew) await say(threadId, 'before');
				const said = await Promise.all(
					workers.map(async ({ fromMs, times }, index) => {
						await sleep(fromMs);
						const verdicts = [];
						for (let turn = 0; turn < times; turn++)
							verdicts.push({
								text: `w${index}t${turn}`,
								...(await say(threadId, `w${index}t${turn}`)),
							});
						return verdicts;
					}),
				);
				const verdicts = said.flat();
				const runs = runsOf(server.store.runs, threadId).filter(
					({ status }) => status === 'success',
				);
				const texts = runs.map(({ text }) => text).filter((text) => text !== 'before');
				expect([...texts].sort()).toEqual(verdicts.map(({ text }) => text).sort());
				const { messages = [], lost = [] } = server.store.threads.get(threadId) ?? {};
				const forgotten = verdicts.filter(({ remembered }) => remembered === false);
				for (const { text, ...verdict } of verdicts) {
					expect(verdict).toMatchObject({ status: 'completed' });
					expect(verdict.output).toContain(`You said: ${text} [`);
					expect(runs.find(({ id }) => id === verdict.runId)?.text).toBe(text);
				}
				// Where requests take as long as runs, two may meet: then what was lost is said.
				expect(messages).toHaveLength(2 * (runs.length - forgotten.length));
				if (forgotten.length > 0) return;
				kept += 1;
				expect(lost).toEqual([]);
			}),
			{ numRuns: RUNS },
		);
		expect(kept).toBeGreaterThan(0);
	});
});
