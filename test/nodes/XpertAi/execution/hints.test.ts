import { idsInBody, wordsFor } from '../../../../nodes/XpertAi/execution/hints';
import type { HintContext } from '../../../../nodes/XpertAi/execution/hints';
import type { Failure } from '../../../../nodes/XpertAi/transport/failure';
import { bodyOf } from '../../support/operations';

const failed = (status: number, facts: Partial<Failure> = {}): Failure => ({
	kind: 'status',
	status,
	method: 'POST',
	path: '/api/ai/x',
	...facts,
});
const missing = failed(404, { missing: 'record', reason: 'The requested record was not found' });
const NAMED = failed(404, { missing: 'record', reason: "Copilot not set for embedding model 'm'" });
const hintFor = (failure: Failure, context: HintContext) => wordsFor(failure, context).hint;
const ids = ['"Thread"', '"Assistant"', '"Assistant"'].map((field) => ({ field, id: '1' }));
const statusHints = {
	403: 'known',
	409: 'again',
	400: ({ reason }: Failure) => (reason === 'Name Exist' ? 'taken' : undefined),
};
const NO_RECORD = 'The server has no record with this ID, or the key may not see it.';
const NEVER_PUBLISHED =
	'The server has no record with this ID, it was never published, or the key may not see it. Check "Assistant".';
const FORBIDDEN = 'The server knows this key.';

describe('the hint', () => {
	it.each<[Failure, HintContext, string | undefined]>([
		[missing, { ids: ids.slice(0, 1) }, `${NO_RECORD} Check "Thread".`],
		[missing, { ids: ids.slice(1) }, NEVER_PUBLISHED],
		[missing, {}, undefined],
		[failed(404, { reason: 'Cannot POST /x' }), { ids }, undefined],
		[NAMED, { ids }, undefined],
		[failed(403), { ids, statusHints }, 'known'],
		[failed(409), { statusHints }, 'again'],
		[failed(410), { statusHints }, undefined],
		[failed(400, { reason: 'Name Exist' }), { statusHints }, 'taken'],
		[failed(400, { reason: 'other' }), { statusHints }, undefined],
		[failed(409, { kind: 'unreadable' }), { statusHints }, undefined],
	])('for %j with %j is: %s', (failure, context, hint) => {
		expect(hintFor(failure, context)).toBe(hint);
	});

	it('for a 403 names the IDs of the request', () => {
		expect(hintFor(failed(403), { ids })).toMatch(/ Also check "Thread" and "Assistant"\.$/);
		expect(hintFor(failed(403), { ids })).toContain(FORBIDDEN);
		expect(hintFor(failed(403), {})).toContain(FORBIDDEN);
		expect(hintFor(failed(403), {})).not.toMatch(/\bIDs?\b/);
	});

	it('for a rebuild says to wait', () => {
		const reason = 'Embedding rebuild is running';
		expect(hintFor(failed(400, { reason }), { statusHints })).toContain('Run it again then.');
	});
});

describe('the IDs in a body', () => {
	const where = { xpertId: 'abc', threadId: 'my thread!' };
	const { fields, fieldByPath, ids: paths = [] } = bodyOf('conversation', 'search');

	it.each([
		[{ fields, fieldByPath }, '"Assistant ID"', '"Thread ID"'],
		[{}, '"JSON Body" at where.xpertId', '"JSON Body" at where.threadId'],
	])('are named by their fields or paths (%#)', (naming, assistant, thread) => {
		expect(idsInBody({ where }, paths, naming)).toEqual([
			{ name: 'xpertId', field: assistant, id: 'abc' },
			{ name: 'threadId', field: thread, id: 'my thread!' },
		]);
	});

	it.each([undefined, {}, { where: [] }, { where: { xpertId: 5 } }, { where: { xpertId: '' } }])(
		'may be none: %j',
		(body) => expect(idsInBody(body, ['where.xpertId'], {})).toEqual([]),
	);
});
