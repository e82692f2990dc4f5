import fc from 'fast-check';

import { virtualTime } from '../../support/virtualTime';
import { anyTroubles } from './support/arbitraries';
import { drop, faultsAt } from './support/faults';
import type { Fault } from './support/faults';
import { KeyServer, answerTo } from './support/keyServer';
import type { Troubles } from './support/keyServer';
import { SECOND } from './support/run';
import { KEY_THREAD, sayUnderKey } from './support/talk';
import type { Said } from './support/talk';
import { PROPERTY_RUNS } from '../../../support/propertyRuns';

const RUNS = Math.ceil(PROPERTY_RUNS / 4);

const MESSAGES = ['one', 'two', 'three'];

interface Talk {
	server: KeyServer;
	said: Said[];
}

/** Ann says the messages under one key, one after another. */
async function talk(troubles: Troubles): Promise<Talk> {
	const time = virtualTime();
	const server = new KeyServer(troubles, time);
	const said: Said[] = [];
	for (const message of MESSAGES) said.push(await sayUnderKey(server.send, time, message));
	return { server, said };
}

/** Each message was said once at most, and none is said to be answered but with its own answer. */
function expectNoFalseWord({ server, said }: Talk): void {
	expect(server.overlaps).toBe(0);
	for (const [index, message] of MESSAGES.entries()) {
		const runs = server.runs.filter(({ text }) => text === message);
		const { result } = said[index] ?? {};
		expect(runs.length).toBeLessThanOrEqual(1);
		if (result?.reason?.includes('did not reach')) expect(runs).toEqual([]);
		if (result?.status !== 'completed') continue;
		expect(runs).toHaveLength(1);
		expect(result.output).toBe(answerTo(message, runs[0]?.seen));
		expect(result).not.toHaveProperty('remembered');
	}
}

describe('a conversation with a key', () => {
	it('is one conversation on one thread, and each message is said once, whatever happens', async () => {
		await fc.assert(
			fc.asyncProperty(anyTroubles, async (troubles) => {
				const course = await talk(troubles);
				const threads = course.server.conversations.map(({ threadId }) => threadId);
				expect([[], [KEY_THREAD]]).toContainEqual(threads);
				expectNoFalseWord(course);
			}),
			{ numRuns: RUNS },
		);
	});

	it('gets every message where nothing goes wrong', async () => {
		const { server, said } = await talk({ runMs: SECOND });
		expect(said.map(({ result }) => result?.output)).toEqual(
			MESSAGES.map((message, index) => answerTo(message, index + 1)),
		);
		expect(server.runs.map(({ text }) => text)).toEqual(MESSAGES);
	});
});

describe('a conversation with a key, with one fault at one of its requests', () => {
	/** The places of the requests of a talk that nothing befalls. */
	const places = async (runMs: number) => [...(await talk({ runMs })).server.requests.keys()];

	it.each([0, 5 * SECOND])(
		'says nothing false, and answers the two messages after it in the same conversation (runs of %i ms)',
		async (runMs) => {
			for (const at of await places(runMs)) {
				for (const fault of faultsAt(at)) {
					const course = await talk({ runMs, once: { at, fault } });
					expectNoFalseWord(course);
					expectGoneOn(course, at, fault);
				}
			}
		},
	);

	/** The messages that no fault has met are answered, and all are in one conversation. */
	function expectGoneOn({ server, said }: Talk, at: number, fault: Fault): void {
		const what = JSON.stringify({ at, fault, said });
		const failed = said.findIndex(({ result }) => result?.status !== 'completed');
		const after = said.filter((_, index) => index !== failed);
		expect({ what, all: after.map(({ result }) => result?.status) }).toEqual({
			what,
			all: after.map(() => 'completed'),
		});
		expect(new Set(after.map(({ threadId }) => threadId))).toEqual(new Set([KEY_THREAD]));
		expect(new Set(after.map(({ conversationId }) => conversationId)).size).toBe(1);
		expect(server.conversations).toHaveLength(1);
	}
});

describe('one key of two people', () => {
	it('is never one memory, whatever one fault does to the requests of the second', async () => {
		const clean = await together();
		for (let at = clean.begun; at < clean.server.requests.length; at++) {
			for (const fault of faultsAt(at)) {
				const { server, ann, bert } = await together({ once: { at, fault } });
				expect(ann.result?.output).toBe(answerTo('a1', 1));
				for (const { text } of server.runs.filter(({ threadId }) => threadId === KEY_THREAD))
					expect(text).toBe('a1');
				for (const [index, { result }] of bert.entries())
					if (result?.status === 'completed')
						expect(result.output).toMatch(new RegExp(`^answer to b${index + 1}, heard [12]$`));
				expect(bert.filter(({ result }) => result?.status === 'completed').length).toBeGreaterThan(
					0,
				);
				const threads = new Set(bert.flatMap(({ threadId }) => threadId ?? []));
				expect(threads.size).toBe(1);
			}
		}
	});

	/** Ann says one thing, then Bert two. */
	async function together(troubles: Troubles = {}) {
		const time = virtualTime();
		const server = new KeyServer(troubles, time);
		const ann = await sayUnderKey(server.send, time, 'a1');
		const begun = server.requests.length;
		const bert: Said[] = [];
		for (const message of ['b1', 'b2'])
			bert.push(await sayUnderKey(server.sendOf('bert'), time, message));
		return { server, ann, begun, bert };
	}
});

describe('two first messages under one key at the same moment', () => {
	it('end in one conversation, the older', async () => {
		const time = virtualTime();
		const server = new KeyServer({}, time);
		const both = await Promise.all([
			sayUnderKey(server.send, time, 'one'),
			sayUnderKey(server.send, time, 'two'),
		]);
		expect(server.conversations.length).toBe(2);
		expect(new Set(both.map(({ conversationId }) => conversationId)).size).toBe(1);
		const next = await sayUnderKey(server.send, time, 'three');
		expect(next.conversationId).toBe(both[0]?.conversationId);
	});

	it('also where the answer of one is lost', async () => {
		const time = virtualTime();
		const server = new KeyServer({ creations: [drop(true)] }, time);
		const both = await Promise.all([
			sayUnderKey(server.send, time, 'one'),
			sayUnderKey(server.send, time, 'two'),
		]);
		expect(new Set(both.map(({ conversationId }) => conversationId)).size).toBe(1);
	});
});
