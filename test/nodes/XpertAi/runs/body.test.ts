import {
	filterValuesIn,
	intentOf,
	messageMarkOf,
	withFileContexts,
	withMessageMark,
	withTarget,
} from '../../../../nodes/XpertAi/runs/run';
import type { RunBody, RunKind } from '../../../../nodes/XpertAi/runs/run';
import { threadState } from '../../../../nodes/XpertAi/threads/thread';

const saying = (input: object) => ({ input: { action: 'send', message: { input } } });

it('withTarget names the run', () => {
	const about = (target: object) => ({ input: { action: 'resume', target } });
	expect(withTarget(about({}), 'r')).toEqual(about({ executionId: 'r' }));
});

it.each<[RunKind, object, object]>([
	['message', saying({ input: 'Hi' }), { text: 'Hi', rejects: false }],
	['decision', { input: { decision: { type: 'confirm' } } }, { rejects: false }],
	['decision', { input: { decision: { type: 'reject' } } }, { rejects: true }],
	['decision', { input: { patch: { toolCalls: [] } } }, { rejects: false }],
	['decision', { input: { patch: { toolCalls: [{ id: 'c' }] } } }, { changes: ['c'] }],
	['retry', { input: {} }, { rejects: false }],
])('intentOf says what a %s with %j asks for', (kind, body, intent) =>
	expect(intentOf(kind, body as RunBody)).toEqual({ kind, rejects: false, ...intent }),
);

it('takes a key with dots for no path', () => {
	const decoys = {
		'input.message.input': { a: '' },
		'input.message.input.files': [{ fileId: 'x' }],
		'input.decision.type': 'x',
		'input.target': {},
	};
	const message = { ...saying({ folder: '' }), ...decoys };
	expect(filterValuesIn(message)).toEqual({ folder: '' });
	expect(withFileContexts(message, ['a'])).toEqual({
		...decoys,
		...saying({ folder: '', files: [{ fileId: 'a' }] }),
	});
	const rejection = { input: { decision: { type: 'reject' } }, ...decoys };
	expect(intentOf('decision', rejection).rejects).toBe(true);
	expect(withTarget(rejection, 'r').input).toMatchObject({ target: { executionId: 'r' } });
});

it.each([
	[{ input: 'Hi', department: 'hr' }, { department: 'hr' }],
	[{ input: 'Hi', files: [], references: [], clientMessageId: 'c', n8nMark: 'm' }, {}],
	[undefined, {}],
])('the message %j holds the values for filters %j', (input, values) => {
	expect(filterValuesIn(saying(input as object))).toEqual(values);
});

it('withFileContexts appends files to those of the message', () => {
	const files = [{ id: 's' }, { fileId: 'a' }, { fileId: 'b' }];
	const message = saying({ input: 'Hi', files: [{ id: 's' }] });
	expect(withFileContexts(message, ['a', 'b'])).toEqual(saying({ input: 'Hi', files }));
	expect(message).toEqual(saying({ input: 'Hi', files: [{ id: 's' }] }));
	expect(withFileContexts(saying({}), ['a'])).toEqual(saying({ files: [{ fileId: 'a' }] }));
});

it('withMessageMark marks messages, and a thread shows the mark', () => {
	expect(withMessageMark(saying({ input: 'Hi' }), 'm')).toEqual(
		saying({ input: 'Hi', n8nMark: 'm' }),
	);
	expect(messageMarkOf(threadState.parse({ values: { human: { n8nMark: 'm' } } }))).toBe('m');
	expect(messageMarkOf(undefined)).toBeUndefined();
});
