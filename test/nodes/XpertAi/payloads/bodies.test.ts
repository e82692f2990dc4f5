import { runBodies } from 'nodes/XpertAi/payloads/bodies';

const send = (input: unknown, more = {}) => ({ action: 'send', message: { input }, ...more });
const withInput = (input: unknown) => ({ assistant_id: 'a', input });

describe('the body of E4', () => {
	it.each([
		['message', withInput(send({ input: 'Hi' }))],
		['message', withInput(send({ input: 'Hi', files: [{ id: 'f' }, { fileId: 'g' }] }))],
		['message', withInput(send({ input: 'Hi' }, { state: { a: 1 }, environmentId: 'e' }))],
		['message', { ...withInput(send({ input: 'Hi' })), context: { user: 'u' } }],
		['decision', withInput({ action: 'resume', target: {}, decision: { type: 'confirm' } })],
		[
			'decision',
			withInput({ action: 'resume', target: { a: 1 }, decision: { type: 'reject', payload: [1] } }),
		],
		['retry', withInput({ action: 'retry', source: {} })],
	] as const)('of the kind %s is taken as %j', (kind, body) => {
		expect(runBodies[kind].parse(body)).toEqual(body);
	});

	it.each([
		['message', { input: send({ input: 'Hi' }) }],
		['message', withInput(send({ input: '' }))],
		['message', withInput(send({ input: 5 }))],
		['message', withInput(send({ input: 'Hi', files: [{ id: '' }] }))],
		['message', withInput(send({ input: 'Hi', files: ['f'] }))],
		['message', withInput(send({ input: 'Hi' }, { state: 'a' }))],
		['message', { ...withInput(send({ input: 'Hi' })), context: 'user' }],
		['decision', withInput({ action: 'resume', target: [], decision: { type: 'confirm' } })],
		['decision', withInput({ action: 'resume', target: {}, decision: { type: 'perhaps' } })],
	] as const)('of the kind %s is not taken as %j', (kind, body) => {
		expect(runBodies[kind].safeParse(body).success).toBe(false);
	});
});
