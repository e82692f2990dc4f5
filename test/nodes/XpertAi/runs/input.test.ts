import {
	intentOf,
	rejectsWithPayload,
	runInput,
	withTarget,
} from '../../../../nodes/XpertAi/runs/input';

describe('the input of a run', () => {
	it('is a message', () => {
		expect(runInput({ kind: 'message', text: 'Hi' })).toEqual({
			action: 'send',
			message: { input: { input: 'Hi' } },
		});
	});

	it('has files under the name that their kind of id needs (recorded: the other one answers 400)', () => {
		const input = { fileContextIds: ['f1'], storageFileIds: ['s1', 's2'] };
		expect(runInput({ kind: 'message', text: 'Hi', ...input })).toEqual({
			action: 'send',
			message: { input: { input: 'Hi', files: [{ fileId: 'f1' }, { id: 's1' }, { id: 's2' }] } },
		});
		expect(runInput({ kind: 'message', text: 'Hi', fileContextIds: [] })).toEqual({
			action: 'send',
			message: { input: { input: 'Hi' } },
		});
	});

	it('has what goes along with a message', () => {
		const along = { state: { a: 1 }, environmentId: 'e', projectId: 'p' };
		expect(runInput({ kind: 'message', text: 'Hi', ...along })).toEqual({
			action: 'send',
			message: { input: { input: 'Hi' } },
			...along,
		});
	});

	it('is a decision on what it is about', () => {
		expect(runInput({ kind: 'decision', decision: 'confirm' })).toEqual({
			action: 'resume',
			target: {},
			decision: { type: 'confirm' },
		});
		const more = { payload: { only: 1 }, target: { task: 't' } };
		expect(runInput({ kind: 'decision', decision: 'confirm', ...more })).toEqual({
			action: 'resume',
			target: { task: 't' },
			decision: { type: 'confirm', payload: { only: 1 } },
		});
	});

	it('changes the arguments of calls that wait, unless it is a rejection', () => {
		const changes = { kind: 'decision', changedArguments: { call: { a: 1 } } } as const;
		expect(runInput({ ...changes, decision: 'confirm' })).toEqual({
			...{ action: 'resume', target: {}, decision: { type: 'confirm' } },
			patch: { toolCalls: [{ id: 'call', args: { a: 1 } }] },
		});
		expect(runInput({ ...changes, decision: 'reject' })).not.toHaveProperty('patch');
	});

	it('goes on with the run of a number, unless the user has named a target', () => {
		const about = (target: object) => ({ input: { action: 'resume', target } });
		expect(withTarget(about({}), 'r')).toEqual(about({ executionId: 'r' }));
		expect(withTarget(about({ task: 't' }), 'r')).toEqual(about({ task: 't' }));
		expect(withTarget(about({}), undefined)).toStrictEqual(about({}));
	});

	it.each([{}, null, false, '', 'no', { only: 1 }])(
		'is a rejection without the payload %j, which would carry out what it rejects (recorded)',
		(payload) => {
			expect(runInput({ kind: 'decision', decision: 'reject', payload })).toEqual({
				action: 'resume',
				target: {},
				decision: { type: 'reject' },
			});
		},
	);

	it('has the last message answered again', () => {
		expect(runInput({ kind: 'retry' })).toEqual({ action: 'retry', source: {} });
	});
});

describe('what a body asks for', () => {
	it.each([
		[{ input: { action: 'send', message: { input: { input: 'Hi' } } } }, 'message', 'Hi'],
		[{ input: { input: { input: 'old form' } } }, 'message', 'old form'],
		[{ input: { action: 'resume', target: {} } }, 'decision', undefined],
		[{ input: { action: 'resume', decision: { type: 'confirm' } } }, 'decision', undefined],
		[{ input: { action: 'resume', patch: { toolCalls: [] } } }, 'decision', undefined],
		[{ input: { action: 'retry', source: {} } }, 'retry', undefined],
		[{ input: { action: 'send', message: { input: { input: 7 } } } }, 'message', undefined],
		[{ input: { action: 'follow_up' } }, 'message', undefined],
		[{}, 'message', undefined],
	])('is read from %j', (body, kind, text) => {
		expect(intentOf(body)).toEqual(text === undefined ? { kind } : { kind, text });
	});
});

it('a body that asks for a rejection says so', () => {
	const body = { input: { action: 'resume', target: {}, decision: { type: 'reject' } } };
	expect(intentOf(body)).toEqual({ kind: 'decision', rejects: true });
});

describe('a body that rejects with a payload, which carries out what it rejects', () => {
	const body = (decision: object) => ({ input: { action: 'resume', decision } });

	it.each([{}, null, false, '', 'no', 0, [], { only: 1 }])('is told: %j', (payload) => {
		expect(rejectsWithPayload(body({ type: 'reject', payload }))).toBe(true);
	});

	it.each([
		{ type: 'reject' },
		{ type: 'reject', payload: undefined },
		{ type: 'confirm', payload: {} },
		{},
	])('is not %j', (decision) => expect(rejectsWithPayload(body(decision))).toBe(false));
});
