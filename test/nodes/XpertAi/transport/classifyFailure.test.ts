import * as classify from '../../../../nodes/XpertAi/transport/classifyFailure';
import type { Failure } from '../../../../nodes/XpertAi/transport/failure';
import { failure } from '../ingest/support/outcomes';

const { MAX_FOREIGN_ANSWERS: _, ...PREDICATES } = classify;
const STATUSES = Array.from({ length: 500 }, (_one, index) => 100 + index);
const of404 = (facts: Partial<Failure> = {}): Facts => ({ kind: 'status', status: 404, ...facts });
const BUSY: Facts = { kind: 'status', status: 400, reason: 'Embedding rebuild is running' };

type Facts = Omit<Failure, 'method' | 'path'>;
type Predicate = keyof typeof PREDICATES;

/** Which predicates a failure meets. */
const meanings = (facts: Facts) =>
	Object.entries(PREDICATES).flatMap(([name, means]) => (means(failure(facts)) ? [name] : []));

describe('a status without more', () => {
	it.each<[Predicate, number[]]>([
		['isTransient', [404, 408, 425, 429, 502, 503, 504, 520, 521, 522, 523, 524, 529, 530]],
		['isOutcomeUnknown', [404, 408, 425, ...STATUSES.filter((status) => status > 501)]],
		['certainlyNotDone', [429]],
		['isRejection', [400, 422]],
		['mayBePartlyDone', [400, 422, 500]],
		['mayMeanNoRecord', [500]],
		['isTooLarge', [413]],
		['isOverdue', [408, 504, 524]],
		['isForeignNotFound', [404]],
		['isForeignAnswer', []],
		['isNoRoute', [404, 405, 501]],
		['isBusy', []],
		['isCutOff', []],
	])('%s: %j', (name, statuses) => {
		const found = STATUSES.filter((status) =>
			PREDICATES[name](failure({ kind: 'status', status })),
		);
		expect(found).toEqual(statuses);
	});

	it('says nothing with a redirect', () => {
		const redirects = STATUSES.map((status) => failure({ kind: 'redirect', status }));
		const { isTooLarge, isOverdue, mayMeanNoRecord, isTransient } = PREDICATES;
		const { isForeignNotFound, isNoRoute } = PREDICATES;
		const all = [isTooLarge, isOverdue, mayMeanNoRecord, isTransient, isForeignNotFound, isNoRoute];
		for (const means of all) expect(redirects.filter(means)).toEqual([]);
	});
});

const NEVER_SENT: Predicate[] = ['isTransient', 'certainlyNotDone', 'isNeverSent'];
const LOST: Predicate[] = ['isTransient', 'isOutcomeUnknown'];

describe('a failure', () => {
	it.each<[Facts, Predicate[]]>([
		[{ kind: 'network' }, LOST],
		[{ kind: 'timeout' }, [...LOST, 'isOverdue']],
		[{ kind: 'timeout', code: 'ECONNREFUSED' }, [...LOST, 'isOverdue']],
		[{ kind: 'timeout', code: 'ECONNRESET' }, [...LOST, 'isOverdue']],
		[{ kind: 'unreadable', status: 200 }, [...LOST, 'isForeignAnswer']],
		[{ kind: 'refused' }, ['certainlyNotDone', 'isNeverSent']],
		[{ kind: 'blocked' }, ['certainlyNotDone', 'isNeverSent']],
		[{ kind: 'cancelled' }, []],
		[{ kind: 'redirect' }, []],
		[{ kind: 'unsuccessful' }, []],
		[{ kind: 'status' }, []],

		[{ kind: 'network', code: 'ECONNREFUSED' }, NEVER_SENT],
		[{ kind: 'network', code: 'ENOTFOUND' }, NEVER_SENT],
		[{ kind: 'network', code: 'EAI_AGAIN' }, NEVER_SENT],
		[{ kind: 'network', code: 'EHOSTUNREACH' }, NEVER_SENT],
		[{ kind: 'network', code: 'ENETUNREACH' }, NEVER_SENT],
		[{ kind: 'network', code: 'ECONNRESET' }, [...LOST, 'isCutOff']],
		[{ kind: 'network', code: 'EPIPE' }, [...LOST, 'isCutOff']],
		[{ kind: 'network', code: 'ERR_SOCKET_CLOSED' }, LOST],
		[{ kind: 'network', code: 'EPROTO' }, ['certainlyNotDone', 'isNeverSent']],
		[
			{ kind: 'network', code: 'ERR_SSL_WRONG_VERSION_NUMBER' },
			['certainlyNotDone', 'isNeverSent'],
		],
		[
			{ kind: 'network', code: 'ERR_SSL_PACKET_LENGTH_TOO_LONG' },
			['certainlyNotDone', 'isNeverSent'],
		],
		[{ kind: 'network', code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }, ['certainlyNotDone', 'isNeverSent']],

		[{ kind: 'status', status: 503, retryAfterMs: 0 }, ['isTransient', 'certainlyNotDone']],
		[{ kind: 'status', status: 502, retryAfterMs: 0 }, LOST],
		[BUSY, ['isTransient', 'certainlyNotDone', 'isBusy']],
		[{ ...BUSY, reason: 'No rebuild' }, ['isRejection', 'mayBePartlyDone']],
		[{ ...BUSY, status: 500 }, ['mayMeanNoRecord', 'mayBePartlyDone']],

		[of404({ missing: 'record' }), ['mayMeanNoRecord', 'isRejection', 'mayBePartlyDone']],
		[of404({ missing: 'route' }), ['certainlyNotDone', 'isNoRoute']],
		[of404(), [...LOST, 'isForeignNotFound', 'isNoRoute']],
		[of404({ unanswered: true }), [...LOST, 'isForeignNotFound', 'isForeignAnswer', 'isNoRoute']],
	])('%j means %j', (facts, expected) => {
		expect(meanings(facts).sort()).toEqual([...expected].sort());
	});
});
