import { intentOf, rejectsWithPayload, withTarget } from '../../../../nodes/XpertAi/runs/input';

describe('the target of a decision', () => {
	it('is the run that waits, unless the user has named one', () => {
		const about = (target: object) => ({ input: { action: 'resume', target } });
		expect(withTarget(about({}), 'r')).toEqual(about({ executionId: 'r' }));
		expect(withTarget(about({ task: 't' }), 'r')).toEqual(about({ task: 't' }));
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
