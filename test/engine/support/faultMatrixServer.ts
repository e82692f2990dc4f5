import { get } from 'lodash';
import { randomUUID } from 'node:crypto';
import dns from 'node:dns';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

import type { Fault } from './faultMatrixFaults';
import { ASKED } from './faultMatrixOperations';
import type { MatrixOperation } from './faultMatrixOperations';
import { isNoRoute } from './faultMatrixTable';
import { listen } from './listen';

/** One experiment: an operation that meets a fault, always or only the first time. */
export interface Cell {
	operation: MatrixOperation;
	fault: Fault;
	lasting: boolean;
	/** Requests of the operation that arrived; those beside them do not count. */
	arrivals: number;
	/** When they arrived. */
	times: number[];
	/** Connections that the fault kept from being made. */
	misses: number;
	/** Whether a run is on the thread. */
	ran: boolean;
	/** What the thread was last asked, as the server shows it there. */
	human?: unknown;
	/** The documents that were stored, by their ids. */
	documents: Map<string, object>;
	/** Whether there is no fault now. */
	calm?: boolean;
}

/** A server on which every cell of the matrix has a path, and a host name, of its own. */
export interface FaultServer {
	/** Base URL of a new cell. */
	add: (cell: Omit<Cell, 'arrivals' | 'misses' | 'times' | 'ran' | 'documents'>) => {
		baseUrl: string;
		cell: Cell;
	};
	close: () => void;
}

type LookupCallback = (
	error: NodeJS.ErrnoException | null,
	addresses?: Array<{ address: string; family: number }> | string,
	family?: number,
) => void;

/** Starts it, and answers for the names `cell<n>.localhost` until it is closed. */
export async function startFaultServer(token: string): Promise<FaultServer> {
	const cells: Cell[] = [];
	const server: Server = createServer((request, response) => {
		const [, number] = /^\/cell(\d+)\//.exec(request.url ?? '') ?? [];
		const cell = cells[Number(number)];
		if (cell) receive(cell, token, request, response);
		else response.writeHead(418).end();
	});
	const port = await listen(server);
	const lookup = jest.spyOn(dns, 'lookup') as unknown as jest.SpyInstance<
		void,
		[string, { all?: boolean }, LookupCallback]
	>;
	lookup.mockImplementation((host, options, callback) => {
		const [, number] = /^cell(\d+)\.localhost$/.exec(host) ?? [];
		resolveHost(cells[Number(number)], host, options.all === true, callback);
	});
	return {
		add: (given) => {
			const counts = { arrivals: 0, misses: 0, times: [], ran: false };
			const cell: Cell = { ...given, ...counts, documents: new Map() };
			const number = cells.push(cell) - 1;
			return { baseUrl: `http://cell${number}.localhost:${port}/cell${number}`, cell };
		},
		close: () => {
			lookup.mockRestore();
			server.closeAllConnections();
			server.close();
		},
	};
}

/** Nothing listens on 127.0.0.2; a host no cell has is not known. */
function resolveHost(
	cell: Cell | undefined,
	host: string,
	all: boolean,
	callback: LookupCallback,
): void {
	let address = '127.0.0.1';
	const { unreachable } = cell?.fault ?? {};
	if (cell && unreachable && !cell.calm && (cell.lasting || cell.misses === 0)) {
		cell.misses += 1;
		address = unreachable === 'refused' ? '127.0.0.2' : '';
	}
	if (!cell || address === '') {
		const error = new Error(`getaddrinfo ENOTFOUND ${host}`);
		callback(Object.assign(error, { code: 'ENOTFOUND', syscall: 'getaddrinfo' }));
	} else if (all) callback(null, [{ address, family: 4 }]);
	else callback(null, address, 4);
}

function receive(
	cell: Cell,
	token: string,
	request: IncomingMessage,
	response: ServerResponse,
): void {
	const { operation, fault } = cell;
	const { misbehave } = fault;
	const isAsked = operation.only?.test(`${request.method} ${request.url}`) ?? true;
	const aside = cell.calm === true || !isAsked;
	if (!aside) {
		cell.arrivals += 1;
		cell.times.push(Date.now());
	}
	const wrong = !aside && (cell.lasting || cell.arrivals === 1);
	if (misbehave && wrong && !fault.read) {
		misbehave({ request, response, answer: '', token });
		return;
	}
	request.on('error', () => undefined);
	const pieces: Buffer[] = [];
	request.on('data', (piece: Buffer) => pieces.push(piece));
	request.on('end', () => {
		const url = request.url ?? '';
		const body = Buffer.concat(pieces).toString();
		if (isBeginning(operation)) cell.human ??= get(parsed(body), 'input.message.input');
		const other = () =>
			isAsked ? operation.answer : (operation.looked ?? answerAside(cell, url, body));
		const answer =
			(url.endsWith('/bulk') && storedIn(cell, body)) ||
			(operation.kind === 'memory' && statusesIn(cell, url)) ||
			(operation.kind === 'start' && isAsked && runOn(url, operation)) ||
			other();
		if (misbehave && wrong) {
			// A run goes on whatever becomes of the answer; a lasting fault kept it from beginning.
			if (isBeginning(operation) && !cell.lasting && !isUntouched(fault)) cell.ran = true;
			misbehave({ request, response, answer, token });
			return;
		}
		if (!aside && isBeginning(operation)) cell.ran = true;
		response.writeHead(201, { 'Content-Type': 'application/json' }).end(answer);
	});
}

const parsed = (body: string): unknown => (body.startsWith('{') ? JSON.parse(body) : undefined);

/** Whether an operation begins a run. */
const isBeginning = ({ kind }: MatrixOperation) => kind === 'run' || kind === 'start';

/** Whether the server has certainly not begun. */
const isUntouched = (fault: Fault) => fault.title.startsWith('429') || isNoRoute(fault);

/** The documents of a batch as a good server answers with them: each with an ID. */
function storedIn({ documents }: Cell, body: string): string {
	const records = (JSON.parse(body) as object[]).map((one) => ({ id: randomUUID(), ...one }));
	for (const record of records) documents.set(record.id, record);
	return JSON.stringify(records);
}

/** The status of those of the documents asked for that were stored. */
function statusesIn({ documents }: Cell, url: string): string | undefined {
	const ids = new URL(url, 'http://localhost').searchParams.get('ids');
	return ids === null
		? undefined
		: JSON.stringify(ids.split(',').flatMap((id) => documents.get(id) ?? []));
}

/** What a good server answers to requests beside those that meet the fault. */
function answerAside(cell: Cell, url: string, body: string): string {
	if (url.endsWith('/runs')) return runsOf(cell, url);
	if (url.endsWith('/search')) return JSON.stringify({ items: [foundIn(url, body)], total: 1 });
	if (!url.endsWith('/runs/wait')) return threadOf(cell, url);
	cell.ran = true;
	return JSON.stringify({ role: 'ai', content: 'the answer' });
}

/** A run on the thread that is asked for. */
function runOn(url: string, { answer }: MatrixOperation): string {
	return JSON.stringify({ ...(JSON.parse(answer) as object), thread_id: threadIn(url) });
}

const threadIn = (url: string) => /\/threads\/([^/?]+)/.exec(url)?.[1];

/** The runs of a thread: those that have begun have an assistant. */
function runsOf({ operation, ran }: Cell, url: string): string {
	const isThere = operation.kind === 'follow' || (ran && operation.kind === 'start');
	const run = JSON.parse(runOn(url, operation)) as object;
	return JSON.stringify(isThere ? [{ ...run, assistant_id: randomUUID() }] : []);
}

/** The conversation of a thread, or the message of a run in it. */
function foundIn(url: string, body: string): object {
	const { where } = JSON.parse(body) as { where: { threadId?: string; executionId?: string } };
	const id = randomUUID();
	if (url.endsWith('/conversations/search')) return { id, status: 'idle', ...where };
	return { id, role: 'ai', content: 'the answer', status: 'success', ...where };
}

/** The thread of a run. */
function threadOf({ ran, human, operation }: Cell, url: string): string {
	const messages = [{ content: ASKED }, { content: 'the answer', tool_calls: [] }];
	return JSON.stringify({
		thread_id: threadIn(url),
		status: 'idle',
		values: { messages: ran || operation.kind === 'follow' ? messages : [], human },
	});
}
