import { z } from 'zod';

import { type AdviceContext, apiError, callOrThrow } from 'nodes/XpertAi/execution/apiError';
import type { Failure } from 'nodes/XpertAi/transport/failure';
import { failureDescription } from 'nodes/XpertAi/transport/failureText';
import { contextWith } from '../../support/context';
import { node } from '../../support/node';

const failed = (status: number, facts: Partial<Failure> = {}): Failure => ({
	kind: 'status',
	status,
	method: 'POST',
	path: '/api/ai/x',
	...facts,
});
const missing = failed(404, { missing: 'record', reason: 'The requested record was not found' });
const NAMED = failed(404, { missing: 'record', reason: "Copilot not set for embedding model 'm'" });
const hintFor = (failure: Failure, context: AdviceContext) =>
	apiError(failure, { ...context, node }).description;
const ids = ['"Thread"', '"Assistant"', '"Assistant"'].map((label) => ({ label, id: '1' }));
const statusAdvice = {
	403: 'known',
	409: 'again',
	400: ({ reason }: Failure) => (reason === 'Name Exist' ? 'taken' : undefined),
};
const NO_RECORD = 'The server has no record with this ID, or the key may not see it.';
const NEVER_PUBLISHED =
	'The server has no record with this ID, it was never published, or the key may not see it. Check "Assistant".';
const FORBIDDEN = 'The server knows this key.';

describe('the hint', () => {
	it.each<[string, Failure, AdviceContext, string | undefined]>([
		[
			'a missing record names the one field with an ID',
			missing,
			{ ids: ids.slice(0, 1) },
			`${NO_RECORD} Check "Thread".`,
		],
		[
			'a missing assistant says that it may not be published',
			missing,
			{ ids: ids.slice(1) },
			NEVER_PUBLISHED,
		],
		['a missing record without IDs is none', missing, {}, undefined],
		[
			'a route that is not there is none',
			failed(404, { reason: 'Cannot POST /x' }),
			{ ids },
			undefined,
		],
		['a record that the reason names is none', NAMED, { ids }, undefined],
		[
			'a reason with more before it is none',
			{ ...missing, reason: `Model: ${missing.reason}` },
			{ ids },
			undefined,
		],
		[
			'a reason with more behind it is none',
			{ ...missing, reason: `${missing.reason}: m` },
			{ ids },
			undefined,
		],
		['a status is that of the operation', failed(403), { ids, statusAdvice }, 'known'],
		['a status without IDs is that of the operation', failed(409), { statusAdvice }, 'again'],
		['a timeout is none', failed(0, { kind: 'timeout' }), { statusAdvice }, undefined],
		['another status is none', failed(410), { statusAdvice }, undefined],
		[
			'a 400 of a name that is taken is that of the operation',
			failed(400, { reason: 'Name Exist' }),
			{ statusAdvice },
			'taken',
		],
		['another 400 is none', failed(400, { reason: 'other' }), { statusAdvice }, undefined],
		[
			'an unreadable answer is none',
			failed(409, { kind: 'unreadable' }),
			{ statusAdvice },
			undefined,
		],
	])('for %s', (_, failure, context, hint) => {
		expect(hintFor(failure, context) ?? '').toBe(hint ?? failureDescription(failure));
	});

	it('for a 403 names the IDs of the request', () => {
		expect(hintFor(failed(403), { ids })).toMatch(/ Also check "Thread" and "Assistant"\.$/);
		expect(hintFor(failed(403), { ids })).toContain(FORBIDDEN);
		expect(hintFor(failed(403), {})).toContain(FORBIDDEN);
		expect(hintFor(failed(403), {})).not.toMatch(/\bIDs?\b/);
	});

	it('for a rebuild says to wait', () => {
		const reason = 'Embedding rebuild is running';
		expect(hintFor(failed(400, { reason }), { statusAdvice })).toContain('Run it again then.');
	});
});

it('a request of a list in the editor fails with an error of its node', async () => {
	const context = contextWith({ getExecutionCancelSignal: () => undefined });
	const send = async () => ({ ok: false as const, failure: missing });
	const request = { method: 'GET', path: '/x', schema: z.unknown(), repeatable: true } as const;
	await expect(callOrThrow(context, send, request)).rejects.toMatchObject({ node });
});

it('the record that a 404 is about is named alone', () => {
	const run = { label: '"Run"', id: '9' };
	const { message } = apiError(missing, { node, ids, missingRecord: run });
	expect(message).toBe('Run 9 was not found');
});
