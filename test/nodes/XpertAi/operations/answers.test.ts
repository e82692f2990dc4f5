import { catalogue } from 'nodes/XpertAi/catalogue';
import { type DeclaredOperation, isCoded } from 'nodes/XpertAi/execution/operation';
import { answerIssue } from 'nodes/XpertAi/transport/answer';
import { unreadableReason } from 'nodes/XpertAi/transport/unreadable';

import { endpointOf } from '../../support/properties';
import { recordings } from 'test/sandbox/support/recordings';

const DECLARED = catalogue
	.flatMap(({ operations }) => operations)
	.filter((operation): operation is DeclaredOperation => !isCoded(operation));

/** What is wrong with an answer of an operation, as its requests are checked. */
function flawOf({ answerSchema: form }: DeclaredOperation, answer: unknown, askedId = '') {
	const flaw = unreadableReason(answer, 'text');
	if (flaw !== undefined) return flaw;
	const asked = { id: askedId, threadId: askedId };
	const schema = typeof form === 'function' ? form(asked) : form;
	const { error } = schema.safeParse(answer);
	return error && answerIssue(answer, error);
}

/** Successes that the real server gave; those that the recording has cut are left out. */
const RECORDED = DECLARED.flatMap((operation) =>
	(recordings().get(endpointOf(operation).replace(/^E(\d)$/, 'E0$1')) ?? [])
		.filter(({ response: { status, body } }) => status < 300 && typeof body !== 'string')
		.map(({ label, request, response }) => ({
			name: `${endpointOf(operation)} "${label}"`,
			operation,
			askedId: request.path.split('/').at(-1),
			body: response.body,
		})),
);

describe('the answers that a real server gave', () => {
	it('are recorded of most operations', () => {
		expect(RECORDED.length).toBeGreaterThan(100);
		expect(
			new Set(RECORDED.map(({ operation }) => endpointOf(operation))).size,
		).toBeGreaterThanOrEqual(13);
	});

	it.each(RECORDED)('are taken: $name', ({ operation, askedId, body }) => {
		expect(flawOf(operation, body, askedId)).toBeUndefined();
	});
});

/** Instead of a flaw, where an operation takes any answer. */
const UNCHECKED = 'no flaw: declare what the answer must be as `answer`';

describe.each(DECLARED)('$action', (operation) => {
	it.each([
		['nothing', undefined],
		['an empty object', {}],
		['a word', 'ok'],
		['null', null],
		['an error in a success', { statusCode: 500, message: 'Internal server error' }],
		['a failure in a success', { success: false }],
		['the answer of another service', { service: 'billing', healthy: true }],
		['a list of another service', [{ service: 'billing' }]],
	])('does not take %s for its answer', (_, answer) => {
		// What stands in a list is the server's own.
		if (Array.isArray(answer) && operation.paging && flawOf(operation, []) === undefined) return;
		// A conversation that was deleted is answered with nothing (recorded).
		if (answer === undefined && isDeletion(operation))
			expect(flawOf(operation, answer)).toBeUndefined();
		else expect(flawOf(operation, answer) ?? UNCHECKED).toMatch(/^it /);
	});
});

const isDeletion = (operation: DeclaredOperation) => endpointOf(operation) === 'deleteConversation';

/** What of an answer is needed to go on with it, by the endpoint. */
const NEEDED = {
	E1: ['id'],
	E2: ['id'],
	E6: ['client_secret'],
	E12: ['id', 'storageFileId'],
	E13: ['id', 'threadId'],
	E14: ['originalName'],
	E16: ['id', 'url'],
	E17: ['affected'],
};

describe.each(Object.entries(NEEDED))('a recorded answer of %s', (endpoint, keys) => {
	const recorded = RECORDED.find(({ operation }) => endpointOf(operation) === endpoint);

	it.each(keys)('is not taken without its %s', (key) => {
		const { operation, askedId, body } = recorded ?? {};
		expect(body).toHaveProperty(key);
		for (const nothing of [undefined, null, '']) {
			const flaw = operation && flawOf(operation, { ...(body as object), [key]: nothing }, askedId);
			expect(flaw).toMatch(/^it holds no /);
		}
	});
});

it.each(['E2', 'getConversation', 'updateConversation'])(
	'%s does not take another record',
	(endpoint) => {
		const operation = DECLARED.find((one) => endpointOf(one) === endpoint) as DeclaredOperation;
		for (const id of ['abc', 'ABC', 'aBc'])
			expect(flawOf(operation, { id }, 'ABC')).toBeUndefined();
		expect(flawOf(operation, { id: 'abd' }, 'ABC')).toMatch(/^it is about another /);
	},
);
