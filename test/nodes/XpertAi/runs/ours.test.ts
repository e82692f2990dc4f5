import {
	isCarriedOut,
	isKept,
	isOfAnother,
	isRejected,
	messagesOfRun,
	ownReplies,
	questionOf,
} from '../../../../nodes/XpertAi/runs/ours';
import type { RunUnderWay } from '../../../../nodes/XpertAi/runs/run';
import type { ThreadMessage, ThreadState } from '../../../../nodes/XpertAi/threads/state';
import { virtualTime } from '../../support/virtualTime';
import { UNNUMBERED, saying } from './support/run';

const message = (id: string, content: unknown, more: object = {}) =>
	({ id, content, ...more }) as ThreadMessage;
const person = (id: string, content: string) => message(id, content);
const assistant = (id: string, content: unknown, tool_calls: unknown[] = []) =>
	message(id, content, { tool_calls });
const tool = (id: string) => message(id, 'done', { tool_call_id: 'call' });

const thread = (messages: ThreadMessage[], input?: string, status = 'idle'): ThreadState =>
	({ thread_id: 't', status, values: { messages, input } }) as ThreadState;

/** A run that says "Hi", unless it is another one. */
function underWay(more: Partial<RunUnderWay> = {}): RunUnderWay {
	const send = async () => await Promise.reject(new Error('nothing is asked'));
	return {
		...{ ...UNNUMBERED, send, sendUnlimited: send, clock: virtualTime(), deadline: 0 },
		...{ threadId: 't', body: saying('Hi'), isNew: false, whenBusy: 'wait', waiting: [] },
		...{ asked: { kind: 'message', text: 'Hi' }, question: 'Hi', ...more },
	};
}

const EARLIER = [person('1', 'p'), assistant('2', 'an older answer')];
const before = thread(EARLIER, 'p');
const RETRY = { asked: { kind: 'retry' }, question: 'p', before } as const;
const REJECT = { asked: { kind: 'decision', rejects: true }, question: 'p', before } as const;

describe('the question of a run', () => {
	it('is what it says, or what its thread was asked last', () => {
		expect(questionOf({ kind: 'message', text: 'Hi' }, before)).toBe('Hi');
		expect(questionOf({ kind: 'retry' }, thread(EARLIER, 'as the thread names it'))).toBe(
			'as the thread names it',
		);
		expect(questionOf({ kind: 'decision' }, thread(EARLIER))).toBe('p');
		expect(questionOf({ kind: 'retry' }, thread([]))).toBe('');
	});
});

describe('what was said to us', () => {
	it('is what follows our question, up to the next one', () => {
		const ours = [person('3', 'Hi'), assistant('4', 'Ho')];
		const after = thread([...EARLIER, ...ours, person('5', 'q'), assistant('6', 'x')]);
		expect(ownReplies(underWay({ before }), after)).toEqual([assistant('4', 'Ho')]);
		expect(ownReplies(underWay({ before }), before)).toBeUndefined();
	});

	it('again to the last question is not there before that was replaced', () => {
		expect(ownReplies(underWay(RETRY), before)).toBeUndefined();
		const replaced = thread([person('3', 'p'), assistant('4', 'Ho')], 'p');
		expect(ownReplies(underWay(RETRY), replaced)).toEqual([assistant('4', 'Ho')]);
	});

	it('after a decision goes on with the question before it', () => {
		const after = thread([...EARLIER, tool('3'), assistant('4', 'Ho'), person('5', 'q')]);
		expect(ownReplies(underWay(REJECT), after)).toEqual([tool('3'), assistant('4', 'Ho')]);
	});
});

describe('all messages of a run', () => {
	it('are those after its question, also from before a decision', () => {
		const waited = [person('1', 'p'), assistant('2', '', [{ id: 'call' }])];
		const after = thread([...waited, tool('3'), assistant('4', 'Ho')]);
		const run = underWay({ ...REJECT, before: thread(waited) });
		expect(messagesOfRun(run, after)).toEqual(after.values?.messages?.slice(1));
	});

	it('are found in other words of the server only where the thread names its question as the last', () => {
		const messages = [...EARLIER, person('3', 'A person asks: Hi'), assistant('4', 'Ho')];
		expect(messagesOfRun(underWay(), thread(messages, 'Hi'))).toEqual([assistant('4', 'Ho')]);
		expect(messagesOfRun(underWay(), thread(messages, 'another'))).toBeUndefined();
	});

	it('are not known without a question, or without its thread', () => {
		const nobodySays = underWay({ question: undefined });
		const said = thread([person('1', 'undefined')]);
		expect(messagesOfRun(nobodySays, said)).toBeUndefined();
		expect(ownReplies(nobodySays, said)).toBeUndefined();
		expect(messagesOfRun(underWay(), undefined)).toBeUndefined();
	});
});

describe('what was said', () => {
	const isOnThread = (reply: string, ...fresh: ThreadMessage[]) =>
		isKept(underWay({ before }), thread([...EARLIER, ...fresh]), reply);

	it('is kept where the thread holds our question', () => {
		expect(isOnThread('all words of the run', person('3', 'Hi'), assistant('4', 'Ho'))).toBe(true);
	});

	it('is kept where the thread holds the answer that came to us, or its last words', () => {
		const others = person('3', 'in words of the server');
		expect(isOnThread('Ho', others, assistant('4', 'Ho'))).toBe(true);
		expect(isOnThread('I look. Ho', others, assistant('4', 'Ho'))).toBe(true);
	});

	it('is not kept where only others are there: another answer, our words from a person, or nothing', () => {
		const others = person('3', 'of Bert');
		expect(isOnThread('Ho', others, assistant('4', 'He'))).toBe(false);
		expect(isOnThread('I look. Ho', others, assistant('4', 'I look. '))).toBe(false);
		expect(isOnThread('Ho', person('3', 'Ho'))).toBe(false);
		expect(isOnThread('Ho', others, assistant('4', ''))).toBe(false);
		expect(isOnThread('an older answer')).toBe(false);
	});
});

describe('a thread that names another question as its last', () => {
	it('does not tell of our run', () => {
		expect(isOfAnother(underWay(), thread([], 'of Bert'))).toBe(true);
		expect(isOfAnother(underWay(), thread([], 'Hi, with more of the server'))).toBe(false);
		expect(isOfAnother(underWay(), thread([]))).toBe(false);
		expect(isOfAnother(underWay(), undefined)).toBe(false);
		expect(isOfAnother(underWay({ question: undefined }), thread([], 'of Bert'))).toBe(false);
	});
});

describe('a no', () => {
	const called = assistant('2', '', [{ id: 'call' }]);

	it('was heard where the thread is at rest with the call that waited', () => {
		expect(isRejected(underWay(REJECT), thread([called]))).toBe(true);
		expect(isRejected(underWay(REJECT), thread([called], 'p', 'interrupted'))).toBe(false);
		expect(isRejected(underWay(REJECT), thread([called, assistant('3', 'Ho')]))).toBe(false);
		expect(isRejected(underWay(REJECT), thread([]))).toBe(false);
		expect(isRejected(underWay(REJECT), undefined)).toBe(false);
		expect(isRejected(underWay(RETRY), thread([called]))).toBe(false);
	});

	it('came too late where a tool has answered since', () => {
		const carriedOut = thread([...EARLIER, tool('3')]);
		expect(isCarriedOut(underWay(REJECT), carriedOut)).toBe(true);
		expect(isCarriedOut(underWay(REJECT), thread([...EARLIER, person('3', 'q')]))).toBe(false);
		expect(isCarriedOut(underWay({ ...REJECT, before: carriedOut }), carriedOut)).toBe(false);
		expect(isCarriedOut(underWay({ before }), carriedOut)).toBe(false);
	});
});
