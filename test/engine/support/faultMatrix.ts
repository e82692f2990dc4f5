import { escapeRegExp } from 'lodash';
import { ClientRequest } from 'node:http';
import dns from 'node:dns';

import type { FaultRule, Sandbox } from '../../../sandbox';
import type { LoggedRequest } from '../../../sandbox/requestLog';
import { startCaseSandbox } from './caseOperations';
import { ONE_RECORD, createWorld, type World } from './records';
import { clock } from './clock';
import type { CredentialData } from './credentials';
import { MARK, type Fault } from './faultMatrixFaults';
import type { MatrixOperation } from './faultMatrixOperations';
import {
	ANSWERED,
	FOREIGN_404,
	OTHER_RECORD,
	REPORTED,
	TIMED_OUT,
	UNCERTAIN,
} from './faultMatrixReactions';

/** An operation that meets a fault, always or only once. */
export interface Cell {
	operation: MatrixOperation;
	fault: Fault;
	isLasting: boolean;
}

export interface OpenCell extends Cell {
	world: World;
	credential: CredentialData;
	/** Requests of the operation that arrived, and connections that the fault kept from being made. */
	requests: () => number;
	times: () => number[];
	requestIds: () => string[];
	/** Takes the fault away, and may have something else answered. */
	calm: (answer?: string) => void;
	arm: () => void;
}

/** A sandbox that meets one operation after another with a fault. */
export interface FaultySandbox {
	sandbox: Sandbox;
	open: (cell: Cell) => Promise<OpenCell>;
	close: () => Promise<void>;
}

/** Faults with which the server has done the work, unless they last. */
const MAY_BE_DONE = [UNCERTAIN, FOREIGN_404, TIMED_OUT, OTHER_RECORD, ANSWERED, REPORTED];

const BEGINNING = ['run', 'start'];

type Lookup = (
	error: NodeJS.ErrnoException | null,
	addresses?: Array<{ address: string; family: number }> | string,
	family?: number,
) => void;

/** Starts it; until it is closed, it answers for the names `cell<n>.localhost`, and requests time out on the clock. */
export async function startFaultySandbox(): Promise<FaultySandbox> {
	const sandbox = await startCaseSandbox({ accessToken: MARK, clock });
	const { port } = new URL(sandbox.url);
	let cells = 0;
	let unreachable: Fault['unreachable'];
	let misses = 0;
	let isLasting = false;

	const lookup = jest.spyOn(dns, 'lookup') as unknown as jest.SpyInstance<
		void,
		[string, { all?: boolean }, Lookup]
	>;
	lookup.mockImplementation((host, options, callback) => {
		const isMissed = unreachable !== undefined && (isLasting || misses === 0);
		if (isMissed) misses += 1;
		if (isMissed && unreachable === 'unknownHost') {
			const error = new Error(`getaddrinfo ENOTFOUND ${host}`);
			callback(Object.assign(error, { code: 'ENOTFOUND', syscall: 'getaddrinfo' }));
			return;
		}
		// Nothing listens on 127.0.0.2.
		const address = isMissed ? '127.0.0.2' : '127.0.0.1';
		if (options.all) callback(null, [{ address, family: 4 }]);
		else callback(null, address, 4);
	});
	const timeouts = jest.spyOn(ClientRequest.prototype, 'setTimeout');
	timeouts.mockImplementation(function (this: ClientRequest, ms: number, onTimeout?: () => void) {
		if (onTimeout) clock.later(ms, onTimeout);
		return this;
	});

	return {
		sandbox,
		open: async (cell) => {
			const { operation, fault } = cell;
			const { meets, beside } = operation;
			clock.reset();
			const isOnSandbox = beside === undefined;
			sandbox.faults.clear();
			if (isOnSandbox) sandbox.reset();
			const world = isOnSandbox ? await clock.during(createWorld(sandbox)) : ONE_RECORD;
			timeouts.mockClear();
			const answer = operation.answer(world);
			const arm = () => {
				[unreachable, misses, isLasting] = [fault.unreachable, 0, cell.isLasting];
				sandbox.faults.clear();
				sandbox.requests.clear();
				sandbox.faults.add(...rulesOf(cell, answer));
			};
			arm();
			const met = () => sandbox.requests.all.filter((one) => isPicked(one, operation));
			cells += 1;
			return {
				...cell,
				world,
				credential: { baseUrl: `http://cell${cells}.localhost:${port}`, accessToken: MARK },
				requests: () => met().length + misses,
				times: () => met().map(({ arrivedAt }) => arrivedAt),
				requestIds: () => sandbox.requests.all.map(({ id }) => id),
				arm,
				calm: (given = answer) => {
					unreachable = undefined;
					sandbox.faults.clear();
					if (!isOnSandbox) sandbox.faults.add(...goodAnswers({ meets, beside }, given));
				},
			};
		},
		close: async () => {
			lookup.mockRestore();
			timeouts.mockRestore();
			await sandbox.close();
		},
	};
}

/** The fault, then what is answered where it does not act; the sandbox takes the first that it can. */
function rulesOf({ operation, fault, isLasting }: Cell, answer: string): FaultRule[] {
	const { kind, meets, beside } = operation;
	const isDone = !isLasting && MAY_BE_DONE.includes(fault.reactions);
	const rules = fault.rules?.(answer, isDone ? 'after' : 'before') ?? [];
	const times = isLasting ? undefined : 1;
	const faults = rules.map((rule): FaultRule => ({ ...meets, times, ...rule }));
	if (beside !== undefined) return [...faults, ...goodAnswers({ meets, beside }, answer)];
	// The stream, which meets no fault, would tell of the end of the run.
	if (kind === 'follow') faults.push({ endpoint: 'join', do: 'status', status: 400 });
	// A fault that lasts keeps a run from beginning.
	const isKept = isLasting && BEGINNING.includes(kind) && !fault.isUnread;
	return isKept ? [...faults, { ...meets, ...answering(answer) }] : faults;
}

const answering = (body: string) => ({
	do: 'status' as const,
	status: 201,
	body,
	contentType: 'application/json',
});

const goodAnswers = (
	{ meets, beside }: Pick<MatrixOperation, 'meets' | 'beside'>,
	answer: string,
): FaultRule[] => [{ ...meets, ...answering(answer) }, answering(beside ?? '')];

function isPicked(request: LoggedRequest, { meets }: MatrixOperation): boolean {
	const { endpoint = request.endpoint, method = request.method, path = '' } = meets;
	return (
		request.endpoint === endpoint &&
		request.method === method &&
		new RegExp(path).test(request.path)
	);
}

/** Words to compare with: `…` stands for any. */
export function worded(words: string): unknown {
	if (!words.includes('…')) return words;
	const parts = words.split('…').map(escapeRegExp);
	return expect.stringMatching(new RegExp(`^${parts.join('.*')}$`));
}
