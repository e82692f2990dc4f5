import type { Failure } from '../../../../nodes/XpertAi/transport/failure';
import {
	certainlyNotDone,
	isMissing,
	isRejection,
	isTooLarge,
	isTransient,
	mayBeDoneBehind,
	mayBePartlyDone,
	mayGoOnBehind,
	mayMeanNoRecord,
} from '../../../../nodes/XpertAi/transport/meaning';
import { failure } from '../ingest/support/outcomes';

const answer = (status: number, retryAfterMs?: number) =>
	failure({ kind: 'status', status, retryAfterMs });
const ALL_STATUSES = Array.from({ length: 500 }, (_, index) => 100 + index);

describe('what is tried again', () => {
	it('are the statuses that say "not now", and no others', () => {
		expect(ALL_STATUSES.filter((status) => isTransient(answer(status)))).toEqual([
			408, 425, 429, 502, 503, 504,
		]);
	});

	it.each<[Failure['kind'], boolean]>([
		['network', true],
		['timeout', true],
		['unreadable', true],
		['refused', false],
		['blocked', false],
		['cancelled', false],
		['redirect', false],
	])('%s: %s', (kind, expected) => expect(isTransient(failure({ kind }))).toBe(expected));

	it('is no answer whose status is missing', () => {
		expect(isTransient(failure({ kind: 'status' }))).toBe(false);
	});
});

describe('what the server has certainly not done', () => {
	it('are requests it limits: 429, and 503 only when it says when to come back', () => {
		expect(ALL_STATUSES.filter((status) => certainlyNotDone(answer(status)))).toEqual([429]);
		expect(ALL_STATUSES.filter((status) => certainlyNotDone(answer(status, 0)))).toEqual([
			429, 503,
		]);
	});

	it.each([
		['ECONNREFUSED', true],
		['ENOTFOUND', true],
		['EAI_AGAIN', true],
		['EHOSTUNREACH', true],
		['ENETUNREACH', true],
		['ECONNRESET', false],
		['EPIPE', false],
		['ERR_SOCKET_CLOSED', false],
		[undefined, false],
	])('a connection that broke with %s: %s', (code, expected) => {
		expect(certainlyNotDone(failure({ kind: 'network', code }))).toBe(expected);
	});

	it.each<[Failure['kind'], boolean]>([
		['refused', true],
		['blocked', true],
		['timeout', false],
		['unreadable', false],
		['cancelled', false],
	])('%s: %s', (kind, expected) => expect(certainlyNotDone(failure({ kind }))).toBe(expected));

	it('does not rest on a code that came with a timeout', () => {
		expect(certainlyNotDone(failure({ kind: 'timeout', code: 'ECONNREFUSED' }))).toBe(false);
	});
});

describe('what a status means for what was sent', () => {
	const statusesOf = (means: (failure: Failure) => boolean) =>
		ALL_STATUSES.filter((status) => means(answer(status)));

	it.each<[string, (failure: Failure) => boolean, number[]]>([
		['too large, so that nothing was read', isTooLarge, [413]],
		['the server itself says no to it', isRejection, [400, 404, 422]],
		['part of it may be done', mayBePartlyDone, [400, 404, 422, 500]],
		['it is not there', isMissing, [404]],
		['there may be no such record', mayMeanNoRecord, [404, 500]],
		['a gateway gave up, and the server may go on', mayGoOnBehind, [408, 502, 503, 504, 524]],
	])('%s', (_, means, statuses) => expect(statusesOf(means)).toEqual(statuses));

	it('something on the way may have done it: every status above 501', () => {
		expect(statusesOf(mayBeDoneBehind)).toEqual(ALL_STATUSES.filter((status) => status > 501));
		expect(mayBeDoneBehind(answer(503, 1000))).toBe(false);
	});
});
