import { runBody, threadState } from '../../../../../nodes/XpertAi/payloads/run';

const send = (input: unknown) => ({ action: 'send', message: { input } });
const withInput = (input: unknown) => ({ assistant_id: 'a', input });

describe('the body of E4', () => {
	it.each([
		withInput(send({ input: 'Hi' })),
		withInput(send({ input: 'Hi', files: [{ id: 'f' }] })),
		withInput({ action: 'resume', target: {}, decision: { type: 'confirm' } }),
		withInput({ action: 'resume', target: { a: 1 }, decision: { type: 'reject', payload: [1] } }),
		withInput({ messages: [{ role: 'user', content: 'Hi' }] }),
		{ assistant_id: 'a', command: { resume: { type: 'confirm' } } },
		{ assistant_id: 'a', command: { resume: false } },
		{ ...withInput(send({ input: 'Hi' })), config: { tags: ['t'] } },
	])('is taken as %j', (body) => {
		expect(runBody.parse(body)).toEqual(body);
	});

	it.each([
		{ input: send({ input: 'Hi' }) },
		withInput(send({ input: '' })),
		withInput(send({ input: 5 })),
		withInput(send({ input: 'Hi', files: [{ id: '' }] })),
		withInput(send({ input: 'Hi', files: ['f'] })),
		withInput({ action: 'resume', target: [], decision: { type: 'confirm' } }),
		withInput({ action: 'resume', target: {}, decision: { type: 'perhaps' } }),
		withInput({ messages: [] }),
		withInput({ messages: [{ role: 'nobody', content: 'Hi' }] }),
		withInput({ messages: [{ role: 'user', content: '' }] }),
		{ ...withInput(send({ input: 'Hi' })), after_seconds: -1 },
		{ ...withInput(send({ input: 'Hi' })), multitask_strategy: 'queue' },
		{ ...withInput(send({ input: 'Hi' })), if_not_exists: 'maybe' },
		{ ...withInput(send({ input: 'Hi' })), config: 'tags' },
	])('is not taken as %j', (body) => {
		expect(runBody.safeParse(body).success).toBe(false);
	});
});

describe('the state of a thread', () => {
	it.each([
		{},
		{ thread_id: 't', status: 'idle', values: { messages: [] } },
		{ values: null },
		{ values: { messages: null, documents: [1] } },
		{ values: { messages: [{ type: 'ai', content: [{ type: 'text' }], id: 'm' }] }, more: 1 },
	])('is read from %j, and nothing is lost', (state) => {
		expect(threadState.parse(state)).toEqual(state);
	});
});
