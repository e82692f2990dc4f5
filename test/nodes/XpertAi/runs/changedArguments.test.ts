import get from 'lodash/get';
import isEqual from 'lodash/isEqual';

import type { RunBody } from '../../../../nodes/XpertAi/runs/input';
import type { Outcome, Send } from '../../../../nodes/XpertAi/transport/request';
import { recordedBody } from '../threads/support/recorded';
import { THREAD } from './support/modelServer';
import { MINUTE, run } from './support/run';

const PART = 'changed arguments, confirmed twice';
function tasksOf(label: string): unknown[] {
	const body = recordedBody('decisions', label, PART);
	const tasks: unknown = get(body, ['items', 0, 'operation', 'tasks']);
	return tasks as unknown[];
}

/** What waits as a person is asked, and once its arguments were changed. */
const WAITING = tasksOf('conversation, while it waits');
const CHANGED = tasksOf('conversation, after the first confirm');
const CALL = String(get(WAITING, [0, 'call', 'id']));
const ANSWER = 'You said: changed by a person';

/** Where a thread is: what waits on it, or nothing any more. */
type Place = unknown[] | 'idle';

interface Plan {
	/** Where the thread is, and where each confirmation that arrives takes it. */
	places?: Place[];
	/** Which request breaks after it has arrived, and from which on none arrives, counted from 1. */
	breaks?: number;
	lost?: number;
	/** Which request gets lost on its way, which nobody can tell from one that breaks. */
	vanishes?: number;
	/** How often the thread is read before it shows what a request that breaks has done. */
	readsBefore?: number;
}

/** A server whose thread goes from place to place with each confirmation. */
function server({ places = [WAITING, CHANGED, 'idle'], ...plan }: Plan) {
	const { breaks, lost, vanishes, readsBefore = 0 } = plan;
	const bodies: unknown[] = [];
	let at = 0;
	let reads = 0;
	const send: Send = async ({ method, path, body }) => {
		const place = (): Place => places[at] ?? 'idle';
		const ok = (answer: unknown): Outcome => ({ ok: true, status: 200, answer });
		const status = () => (place() === 'idle' ? 'idle' : 'interrupted');
		if (method === 'GET') {
			if (reads > 0 && --reads === 0) at += 1;
			// What is carried out shows in its messages first (recorded).
			const more = reads > 0 ? [done] : at === places.length - 1 ? [done, told] : [];
			const changes = { updated_at: String(at), values: { messages: [asked, calling, ...more] } };
			return ok({ thread_id: THREAD, status: status(), ...changes });
		}
		if (path === '/conversations/search') {
			const tasks = place();
			const operation = tasks === 'idle' ? null : { tasks };
			return ok({ items: [{ id: 'c', threadId: THREAD, status: status(), operation }] });
		}
		bodies.push(JSON.parse(String(body)));
		const failure = { kind: 'network', code: 'ECONNRESET', method, path } as const;
		if (lost !== undefined && bodies.length >= lost)
			return { ok: false, failure: { ...failure, code: 'ECONNREFUSED' } };
		if (bodies.length === vanishes) return { ok: false, failure };
		if (bodies.length === breaks && readsBefore > 0) reads = readsBefore;
		else at += 1;
		if (bodies.length === breaks) return { ok: false, failure };
		return ok({ role: 'ai', content: place() === 'idle' ? ANSWER : '' });
	};
	return { send, bodies };
}

const asked = { id: 'p', content: 'delete it' };
const calling = { id: 'a', content: '', tool_calls: [{ id: CALL }] };
const done = { id: 't', content: 'done', tool_call_id: CALL };
const told = { id: 'b', content: ANSWER, tool_calls: [] };

const resume = (more: object = {}): RunBody => ({
	assistant_id: 'a',
	input: { action: 'resume', target: {}, decision: { type: 'confirm' }, ...more },
});
const changing = (...ids: unknown[]) =>
	resume({ patch: { toolCalls: ids.map((id) => ({ id, args: { input: 'changed' } })) } });

async function decide(body: RunBody, plan: Plan = {}) {
	const { send, bodies } = server(plan);
	const { verdict } = await run({}, { send, body, deadlineMs: 3 * MINUTE });
	return { verdict, bodies };
}

describe('a confirmation with changed arguments', () => {
	it('is confirmed a second time, without them, as the server wants it (recorded)', async () => {
		const { verdict, bodies } = await decide(changing(CALL));
		expect(bodies).toEqual([changing(CALL), resume()]);
		expect(verdict).toMatchObject({ status: 'completed', output: ANSWER, recovered: false });
		expect(verdict.advice).toBeUndefined();
	});

	it('is carried out also where the wait for the first of both breaks', async () => {
		const { verdict, bodies } = await decide(changing(CALL), { breaks: 1 });
		expect(bodies).toEqual([changing(CALL), resume()]);
		expect(verdict).toMatchObject({ status: 'completed', output: ANSWER });
	});

	it('is followed to its end where the wait for the second breaks, although the same waits on', async () => {
		const { verdict, bodies } = await decide(changing(CALL), { breaks: 2, readsBefore: 5 });
		expect(bodies).toHaveLength(2);
		expect(verdict).toMatchObject({ status: 'completed', output: ANSWER, recovered: true });
	});

	it('whose second never arrives is not said to go on', async () => {
		const { verdict } = await decide(changing(CALL), { vanishes: 2 });
		expect(verdict.reason).toContain('The decision may have reached the assistant');
		expect(verdict.advice).toContain('The changed arguments have arrived.');
	});

	it('goes on to what waits next, which is not confirmed', async () => {
		const { verdict, bodies } = await decide(changing(CALL), { places: [WAITING, CHANGED, NEXT] });
		expect(bodies).toHaveLength(2);
		expect(verdict).toMatchObject({ status: 'interrupted', interrupt: NEXT });
		expect(verdict.advice).toBeUndefined();
	});

	it('that comes to nothing the second time says what has arrived, and how to go on', async () => {
		const { verdict } = await decide(changing(CALL), { lost: 2 });
		expect(verdict.status).toBe('failed');
		expect(verdict.advice).toBe(
			'The changed arguments have arrived. If the thread still waits, decide again, with "Changed Arguments" left empty.',
		);
	});

	it('that comes to nothing the first time does not say that they have arrived', async () => {
		const { verdict, bodies } = await decide(changing(CALL), { lost: 1 });
		expect(bodies.every((body) => isEqual(body, changing(CALL)))).toBe(true);
		expect(verdict.status).toBe('failed');
		expect(verdict.advice ?? '').not.toContain('have arrived');
	});
});

const NEXT = [{ id: 'next', name: 'second', call: { id: 'call_2', name: 'second', args: {} } }];

describe('a second confirmation is not sent where something else waits than what was confirmed', () => {
	it.each([
		['a call that nobody has seen', [{ ...(WAITING[0] as object), id: 'anew' }]],
		['another tool', [{ id: 'anew', name: 'another' }]],
		['one tool more', [...CHANGED, ...CHANGED]],
		['nothing any more', 'idle'],
		['one of two calls anew', [...CHANGED, ...WAITING], [...WAITING, ...WAITING]],
	] as Array<[string, Place, Place?]>)('%s', async (_, place, waiting = WAITING) => {
		const { bodies, verdict } = await decide(changing(CALL), { places: [waiting, place] });
		expect(bodies).toEqual([changing(CALL)]);
		expect(verdict.status).toBe(place === 'idle' ? 'completed' : 'interrupted');
	});
});

describe('changed arguments are not sent, as the server would carry out what waits as it is', () => {
	it.each([
		['of a call that does not wait', changing('call_unknown')],
		['of one that does not wait beside one that does', changing(CALL, 'call_unknown')],
		['of a call that is not named', changing(undefined)],
	])('%s', async (_, body) => {
		const { verdict, bodies } = await decide(body);
		expect(bodies).toEqual([]);
		expect(verdict).toMatchObject({
			status: 'failed',
			reason: '"Changed Arguments" names a call that does not wait',
			advice: `Nothing was decided. Waiting: ${CALL}.`,
		});
	});

	it.each([changing(CALL), changing(undefined)])(
		'where the server shows no calls, as arguments were changed before',
		async (body) => {
			const { verdict, bodies } = await decide(body, { places: [CHANGED, 'idle'] });
			expect(bodies).toEqual([]);
			expect(verdict.reason).toBe('What waits does not show its calls');
			expect(verdict.advice).toContain(
				'Leave "Changed Arguments" empty to confirm them, or reject.',
			);
		},
	);

	it.each<Place>([[], 'idle'])('where nothing waits: %j', async (place) => {
		const { verdict, bodies } = await decide(changing(CALL), { places: [place] });
		expect(bodies).toEqual([]);
		expect(verdict.reason).toBe('Nothing on this thread waits for a decision');
	});
});
