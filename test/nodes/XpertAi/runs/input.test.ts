import {
	hasFilterValues,
	intentOf,
	messageMarkOf,
	rejectsWithPayload,
	withFileContexts,
	withMessageMark,
	withTarget,
} from '../../../../nodes/XpertAi/runs/input';
import { threadState } from '../../../../nodes/XpertAi/threads/thread';

const saying = (input: object) => ({ input: { action: 'send', message: { input } } });

it('withTarget keeps a target that the user has named', () => {
	const about = (target: object) => ({ input: { action: 'resume', target } });
	expect(withTarget(about({}), 'r')).toEqual(about({ executionId: 'r' }));
	expect(withTarget(about({ task: 't' }), 'r')).toEqual(about({ task: 't' }));
});

describe('intentOf', () => {
	const resume = (rest: object) => ({ input: { action: 'resume', ...rest } });
	const calls = (...toolCalls: unknown[]) => resume({ patch: { toolCalls } });

	it.each([
		[saying({ input: 'Hi' }), { kind: 'message', text: 'Hi' }],
		[{ input: { input: { input: 'old form' } } }, { kind: 'message', text: 'old form' }],
		[saying({ input: 7 }), { kind: 'message' }],
		[{ input: { action: 'follow_up' } }, { kind: 'message' }],
		[{}, { kind: 'message' }],
		[resume({ target: {} }), { kind: 'decision' }],
		[resume({ decision: { type: 'confirm' } }), { kind: 'decision' }],
		[resume({ decision: { type: 'reject' } }), { kind: 'decision', rejects: true }],
		[calls(), { kind: 'decision' }],
		[calls({ id: 'c' }, {}), { kind: 'decision', changes: ['c', undefined] }],
		[{ input: { action: 'retry', source: {} } }, { kind: 'retry' }],
	])('reads %j as %j', (body, intent) => expect(intentOf(body)).toEqual(intent));
});

it.each([
	[{ type: 'reject' }, false],
	[{ type: 'reject', payload: undefined }, false],
	[{ type: 'confirm', payload: {} }, false],
	[{}, false],
	...[{}, null, false, '', 'no', 0, [], { only: 1 }].map((payload): [object, boolean] => [
		{ type: 'reject', payload },
		true,
	]),
])('the decision %j rejects with a payload: %s', (decision, rejects) => {
	expect(rejectsWithPayload({ input: { action: 'resume', decision } })).toBe(rejects);
});

it.each([
	[{ input: 'Hi', department: 'hr' }, true],
	[{ input: 'Hi', files: [], references: [], clientMessageId: 'c', n8nMark: 'm' }, false],
	[undefined, false],
])('the message %j holds values for filters: %s', (input, holds) => {
	expect(hasFilterValues(saying(input as object))).toBe(holds);
});

it('withFileContexts appends files to those of the message', () => {
	const files = [{ id: 's' }, { fileId: 'a' }, { fileId: 'b' }];
	const message = saying({ input: 'Hi', files: [{ id: 's' }] });
	expect(withFileContexts(message, ['a', 'b'])).toEqual(saying({ input: 'Hi', files }));
	expect(message).toEqual(saying({ input: 'Hi', files: [{ id: 's' }] }));
	expect(withFileContexts(saying({}), ['a'])).toEqual(saying({ files: [{ fileId: 'a' }] }));
});

it('withMessageMark marks messages of the usual form, and a thread shows the mark', () => {
	expect(withMessageMark(saying({ input: 'Hi' }), 'm')).toEqual(
		saying({ input: 'Hi', n8nMark: 'm' }),
	);
	const odd = { input: { input: { input: 'old form' } } };
	expect(withMessageMark(odd, 'm')).toBe(odd);
	expect(messageMarkOf(threadState.parse({ values: { human: { n8nMark: 'm' } } }))).toBe('m');
	expect(messageMarkOf(undefined)).toBeUndefined();
});
