import {
	valuesForFilters,
	intentOf,
	newestMessageMarkOf,
	type RunBody,
	type RunKind,
	withFileContexts,
	withMessageMark,
	withTargetRun,
} from 'nodes/XpertAi/runs/runBody';
import { threadStateSchema } from 'nodes/XpertAi/threads/thread';

import { bodyWith } from './support/run';

it('withTargetRun names the run', () => {
	const about = (target: object) => ({ input: { action: 'resume', target } });
	expect(withTargetRun(about({}), 'r')).toEqual(about({ executionId: 'r' }));
});

it.each<[string, RunKind, object, object]>([
	['a message', 'message', bodyWith({ input: 'Hi' }), { text: 'Hi', rejects: false }],
	['a confirmation', 'decision', { input: { decision: { type: 'confirm' } } }, { rejects: false }],
	['a rejection', 'decision', { input: { decision: { type: 'reject' } } }, { rejects: true }],
	[
		'changes that change nothing',
		'decision',
		{ input: { patch: { toolCalls: [] } } },
		{ rejects: false },
	],
	[
		'changes of a call',
		'decision',
		{ input: { patch: { toolCalls: [{ id: 'c' }] } } },
		{ changedCallIds: ['c'] },
	],
	['a retry', 'retry', { input: {} }, { rejects: false }],
])('intentOf says what is asked for by %s', (_, kind, body, intent) =>
	expect(intentOf(kind, body as RunBody)).toEqual({ kind, rejects: false, ...intent }),
);

it('takes a key with dots for no path', () => {
	const decoys = {
		'input.message.input': { a: '' },
		'input.message.input.files': [{ fileId: 'x' }],
		'input.decision.type': 'x',
		'input.target': {},
	};
	const message = { ...bodyWith({ folder: '' }), ...decoys };
	expect(valuesForFilters(message)).toEqual({ folder: '' });
	expect(withFileContexts(message, ['a'])).toEqual({
		...decoys,
		...bodyWith({ folder: '', files: [{ fileId: 'a' }] }),
	});
	const rejection = { input: { decision: { type: 'reject' } }, ...decoys };
	expect(intentOf('decision', rejection).rejects).toBe(true);
	expect(withTargetRun(rejection, 'r').input).toMatchObject({ target: { executionId: 'r' } });
});

it.each([
	[
		'the values for filters beside its text',
		{ input: 'Hi', department: 'hr' },
		{ department: 'hr' },
	],
	[
		'no values in what servers know',
		{ input: 'Hi', files: [], references: [], clientMessageId: 'c', n8nMark: 'm' },
		{},
	],
	['no values where it is none', undefined, {}],
])('a message holds %s', (_, input, values) => {
	expect(valuesForFilters(bodyWith(input as object))).toEqual(values);
});

it('withFileContexts appends files to those of the message', () => {
	const files = [{ id: 's' }, { fileId: 'a' }, { fileId: 'b' }];
	const message = bodyWith({ input: 'Hi', files: [{ id: 's' }] });
	expect(withFileContexts(message, ['a', 'b'])).toEqual(bodyWith({ input: 'Hi', files }));
	expect(message).toEqual(bodyWith({ input: 'Hi', files: [{ id: 's' }] }));
	expect(withFileContexts(bodyWith({}), ['a'])).toEqual(bodyWith({ files: [{ fileId: 'a' }] }));
});

it('withMessageMark marks messages, and a thread shows the mark', () => {
	expect(withMessageMark(bodyWith({ input: 'Hi' }), 'm')).toEqual(
		bodyWith({ input: 'Hi', n8nMark: 'm' }),
	);
	expect(
		newestMessageMarkOf(threadStateSchema.parse({ values: { human: { n8nMark: 'm' } } })),
	).toBe('m');
	expect(newestMessageMarkOf(undefined)).toBeUndefined();
});
