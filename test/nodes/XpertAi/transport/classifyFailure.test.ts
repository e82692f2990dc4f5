import type { Failure } from '../../../../nodes/XpertAi/transport/failure';
import {
	certainlyNotDone,
	isCutOff,
	isOverdue,
	isRejection,
	isForeignAnswer,
	isForeignNotFound,
	isTooLarge,
	isTransient,
	isOutcomeUnknown,
	mayBePartlyDone,
	mayMeanNoRecord,
} from '../../../../nodes/XpertAi/transport/classifyFailure';
import { failure } from '../ingest/support/outcomes';

const answer = (status: number, retryAfterMs?: number) =>
	failure({ kind: 'status', status, retryAfterMs });
/** The answers with 404: of the API for a record, of the API for a route, and of somebody else. */
const RECORD = failure({ kind: 'status', status: 404, missing: 'record' });
const ROUTE = failure({ kind: 'status', status: 404, missing: 'route' });
const STRAY = answer(404);
const ALL_STATUSES = Array.from({ length: 500 }, (_, index) => 100 + index);

describe('what is tried again', () => {
	it('are the statuses that say "not now", and a 404 that is not the API\'s', () => {
		expect(ALL_STATUSES.filter((status) => isTransient(answer(status)))).toEqual([
			404, 408, 425, 429, 502, 503, 504, 520, 521, 522, 523, 524, 529, 530,
		]);
	});

	it('is what has to wait for a rebuild, by the words of the server: nothing is done of it', () => {
		const rebuild = { ...answer(400), reason: 'Embedding rebuild is running' };
		const meanings = [isTransient, certainlyNotDone, isRejection, mayBePartlyDone];
		expect(meanings.map((means) => means(rebuild))).toEqual([true, true, false, false]);
		const others = [answer(400), { ...rebuild, status: 500 }, { ...rebuild, reason: 'No rebuild' }];
		for (const other of others) expect(isTransient(other)).toBe(false);
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

	it.each([
		'EPROTO',
		'ERR_SSL_WRONG_VERSION_NUMBER',
		'ERR_SSL_PACKET_LENGTH_TOO_LONG',
		'DEPTH_ZERO_SELF_SIGNED_CERT',
	])('nor is it tried again where no secure connection came about: %s', (code) => {
		const insecure = failure({ kind: 'network', code });
		expect([certainlyNotDone(insecure), isTransient(insecure)]).toEqual([true, false]);
	});

	it('does not rest on a code that came with a timeout', () => {
		expect(certainlyNotDone(failure({ kind: 'timeout', code: 'ECONNREFUSED' }))).toBe(false);
	});
});

describe('what a status means for what was sent', () => {
	const statusesOf = (means: (failure: Failure) => boolean) =>
		ALL_STATUSES.filter((status) => means(answer(status)));

	it.each<[string, (failure: Failure) => boolean, number[]]>([
		['too large, so that nothing was read', isTooLarge, [413]],
		['the server itself says no to it', isRejection, [400, 422]],
		['part of it may be done', mayBePartlyDone, [400, 422, 500]],
		['there may be no such record', mayMeanNoRecord, [500]],
		['it did not come in time', isOverdue, [408, 504, 524]],
	])('%s', (_, means, statuses) => expect(statusesOf(means)).toEqual(statuses));

	it('it is not known whether it was done: after "not now", and whatever proxies say', () => {
		const ofProxies = ALL_STATUSES.filter((status) => status > 501);
		expect(statusesOf(isOutcomeUnknown)).toEqual([404, 408, 425, ...ofProxies]);
		expect(isOutcomeUnknown(answer(503, 1000))).toBe(false);
	});
});

it('is no status of the server that stands in a redirect, or with what has no answer', () => {
	const redirects = ALL_STATUSES.map((status) => failure({ kind: 'redirect', status }));
	for (const means of [isTooLarge, isOverdue, mayMeanNoRecord, isTransient, isForeignNotFound])
		expect(redirects.filter(means)).toEqual([]);
});

it('did not come in time where the client waited in vain, and only there without a status', () => {
	expect(isOverdue(failure({ kind: 'timeout' }))).toBe(true);
	expect(isOverdue(failure({ kind: 'network' }))).toBe(false);
});

it.each([
	['network', 'ECONNRESET', true],
	['network', 'EPIPE', true],
	['network', 'ECONNREFUSED', false],
	['network', undefined, false],
	['timeout', 'ECONNRESET', false],
] as const)('was cut off with %s %s: %s', (kind, code, expected) => {
	expect(isCutOff(failure({ kind, code }))).toBe(expected);
});

describe('a 404', () => {
	const meaningOf = (one: Failure) => ({
		stray: isForeignNotFound(one),
		again: isTransient(one),
		strange: isForeignAnswer(one),
		rejection: isRejection(one),
		notDone: certainlyNotDone(one),
		noRecord: mayMeanNoRecord(one),
	});
	const NO = {
		stray: false,
		again: false,
		strange: false,
		rejection: false,
		notDone: false,
		noRecord: false,
	};

	it('of the API for a record is its last word', () => {
		const meaning = { ...NO, rejection: true, noRecord: true };
		expect(meaningOf(RECORD)).toEqual(meaning);
	});

	it('of the API for a route is so too: nothing was read, and nothing done', () => {
		expect(meaningOf(ROUTE)).toEqual({ ...NO, notDone: true });
	});

	it('of somebody else may pass, and is strange where nothing of the API has answered yet', () => {
		expect(meaningOf(STRAY)).toEqual({ ...NO, stray: true, again: true });
		const unanswered = { ...STRAY, unanswered: true };
		expect(meaningOf(unanswered)).toEqual({ ...NO, stray: true, again: true, strange: true });
	});

	it('is strange then like a success that is none of this API, and no status is else', () => {
		expect(isForeignAnswer(failure({ kind: 'unreadable', status: 200 }))).toBe(true);
		for (const one of [
			...ALL_STATUSES.map((status) => answer(status)),
			failure({ kind: 'network' }),
		])
			expect(isForeignAnswer(one)).toBe(false);
	});

	it('is told by its status, not by that of a redirect or of what has no answer', () => {
		for (const kind of ['redirect', 'network', 'timeout', 'unsuccessful'] as const)
			expect(isForeignNotFound(failure({ kind, status: 404 }))).toBe(false);
	});
});
