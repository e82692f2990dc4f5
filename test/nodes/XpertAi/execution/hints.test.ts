import { hintFor, idsInBody } from '../../../../nodes/XpertAi/execution/hints';
import type { HintContext } from '../../../../nodes/XpertAi/execution/hints';
import type { Failure } from '../../../../nodes/XpertAi/transport/failure';
import { bodyOf } from '../../support/operations';

const ID = '335ccdfa-d2bb-4f15-9f4a-2b180f46d737';

const failed = (status: number, facts: Partial<Failure> = {}): Failure => ({
	kind: 'status',
	status,
	method: 'POST',
	path: '/api/ai/x',
	...facts,
});
const missing = failed(404, {
	missing: 'record',
	reason: 'The requested record was not found',
});

describe('a record that is missing', () => {
	it('is named by its parameter', () => {
		expect(hintFor(missing, { ids: [{ subject: '"Thread"', id: ID }] })).toBe(
			'The server has no record with this ID, or the token may not see it. Check "Thread".',
		);
	});

	it('may be one of several', () => {
		const ids = [
			{ subject: '"Thread"', id: ID },
			{ subject: '"Assistant"', id: ID },
			{ subject: '"Assistant"', id: ID },
		];
		expect(hintFor(missing, { ids })).toContain('Check "Thread" and "Assistant".');
	});

	it.each<[string, Failure, HintContext]>([
		[
			'another address',
			failed(404, { reason: 'Cannot POST /x' }),
			{ ids: [{ subject: '"A"', id: ID }] },
		],
		[
			'something else, which the server names',
			failed(404, { missing: 'record', reason: "Copilot not set for embedding model 'm'" }),
			{ ids: [{ subject: '"A"', id: ID }] },
		],
		['nothing that was given', missing, {}],
	])('is not named where it is %s', (_, failure, meaning) => {
		expect(hintFor(failure, meaning)).toBeUndefined();
	});
});

describe('what the token may not do', () => {
	it('is not put down to an ID where the request has none', () => {
		const hint = hintFor(failed(403), {});
		expect(hint).toContain('The token is valid but may not do this.');
		expect(hint).not.toMatch(/\bIDs?\b/);
	});

	it('may come of an ID, which is named by its parameter', () => {
		const ids = ['"Assistant"', '"Thread"', '"Thread"'].map((subject) => ({ subject, id: ID }));
		expect(hintFor(failed(403), { ids })).toMatch(
			/^The token is valid but may not do this\. .+ Also check "Assistant" and "Thread"\.$/,
		);
	});

	it('is said by the operation where it knows more', () => {
		const ids = [{ subject: '"File"', id: ID }];
		expect(hintFor(failed(403), { ids, statusHints: { 403: 'known' } })).toBe('known');
	});
});

describe('what a status means for an operation', () => {
	it('is said in its own words', () => {
		expect(hintFor(failed(409), { statusHints: { 409: 'again' } })).toBe('again');
		expect(hintFor(failed(410), { statusHints: { 409: 'again' } })).toBeUndefined();
	});

	it('may be told from the answer', () => {
		const statusHints = {
			400: ({ reason }: Failure) => (reason === 'Name Exist' ? 'taken' : undefined),
		};
		expect(hintFor(failed(400, { reason: 'Name Exist' }), { statusHints })).toBe('taken');
		expect(hintFor(failed(400, { reason: 'other' }), { statusHints })).toBeUndefined();
	});

	it('is asked only where the server answered', () => {
		const lost: Failure = { kind: 'unreadable', status: 500, method: 'GET', path: '/' };
		expect(hintFor(lost, { statusHints: { 500: 'x' } })).toBeUndefined();
	});
});

describe('the IDs in a body', () => {
	it('are those at the paths an operation names, by their fields', () => {
		const { fields, fieldByPath, ids = [] } = bodyOf('conversation', 'search');
		const where = { xpertId: 'abc', threadId: 'my thread!' };
		expect(idsInBody({ where }, ids, { fields, fieldByPath })).toEqual([
			{ name: 'xpertId', subject: '"Assistant ID"', id: 'abc' },
			{ name: 'threadId', subject: '"Thread ID"', id: 'my thread!' },
		]);
		expect(idsInBody({ where }, ids, {})).toEqual([
			{ name: 'xpertId', subject: '"JSON Body" at where.xpertId', id: 'abc' },
			{ name: 'threadId', subject: '"JSON Body" at where.threadId', id: 'my thread!' },
		]);
	});

	it.each([undefined, {}, { where: [] }, { where: { xpertId: 5 } }, { where: { xpertId: '' } }])(
		'may be none: %j',
		(body) => expect(idsInBody(body, ['where.xpertId'], {})).toEqual([]),
	);
});
