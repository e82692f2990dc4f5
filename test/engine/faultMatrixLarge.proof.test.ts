import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';

import { createEngine } from './support/engine';
import type { Engine } from './support/engine';
import { ONE_RECORD } from './support/records';
import { matrixOperations } from './support/faultMatrixOperations';
import type { Kind } from './support/faultMatrixReactions';
import { listen } from './support/listen';

const MEGABYTE = 1024 * 1024;
const SIZE = 200 * MEGABYTE;
/** Others are answered as an upload or a read is. */
const ALONE: Kind[] = ['write', 'update', 'read', 'upload', 'submit', 'run'];
const PIECE = Buffer.alloc(MEGABYTE, 'x');

/** Writes `start`, so much text that the whole is 200 MB, and `end`, never faster than it is read. */
async function pour(response: ServerResponse, start: string, end: string): Promise<void> {
	response.write(start);
	for (let written = 0; written < SIZE; written += PIECE.length) {
		if (response.destroyed) return;
		if (!response.write(PIECE)) await new Promise((resolve) => response.once('drain', resolve));
	}
	response.end(end);
}

/** What stands before and behind a further text in the answer of a good server. */
function around(answer: string): [start: string, end: string] {
	const good = JSON.parse(answer) as object | object[];
	const [first, ...others] = Array.isArray(good) ? good : [good];
	const large = { ...first, message: MARK };
	const [start = '', end = ''] = JSON.stringify(
		Array.isArray(good) ? [large, ...others] : large,
	).split(MARK);
	return [start, end];
}

const MARK = 'here';

/** The thread that is asked for: at rest, and nothing was said on it. */
const threadAt = (url = '') => ({
	thread_id: url.match(/threads\/([^/?]+)/)?.[1],
	status: 'idle',
	values: { messages: [] },
});

describe('an answer of 200 MB', () => {
	let engine: Engine;
	let server: Server;
	let baseUrl: string;
	let status = 200;
	let kind: Kind;
	let answer: string;
	let requests = 0;
	let atStart = 0;

	beforeAll(async () => {
		engine = await createEngine();
		atStart = process.memoryUsage().rss;
		server = createServer((request, response) => {
			const isRun = request.url?.endsWith('/runs/wait') === true;
			const aside = kind === 'run' && !isRun;
			if (!aside) requests += 1;
			request.resume().on('end', () => {
				response.writeHead(status, { 'Content-Type': 'application/json' });
				// What a run reads of its thread beside it is small.
				if (aside) response.end(JSON.stringify(threadAt(request.url)));
				else if (isRun) void pour(response, '{"role":"ai","content":"', '"}');
				else void pour(response, ...around(answer));
			});
		});
		baseUrl = `http://127.0.0.1:${await listen(server)}`;
	});
	beforeEach(() => {
		requests = 0;
	});
	afterAll(() => {
		server.closeAllConnections();
		server.close();
	});

	async function run(given: Kind) {
		kind = given;
		const binary = await engine.binary(Buffer.from('hello'), 'hello.txt', 'text/plain');
		const operation = matrixOperations().find((one) => one.kind === kind);
		if (!operation) throw new Error(`no operation of the kind ${kind}`);
		answer = operation.answer(ONE_RECORD);
		let peak = 0;
		const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 20);
		const result = await engine.run({
			parameters: operation.parameters(ONE_RECORD),
			credential: { baseUrl, accessToken: 'token' },
			items: [{ json: {}, binary: { data: binary } }],
		});
		clearInterval(watch);
		return { result, growth: (Math.max(peak, process.memoryUsage().rss) - atStart) / MEGABYTE };
	}

	it.each(ALONE)('comes through (%s), within 1.2 GB', async (each) => {
		status = 200;
		const { result, growth } = await run(each);
		if (process.env.SHOW_MEMORY) process.stderr.write(`${each}: ${Math.round(growth)} MB\n`);
		expect(result.error).toBeUndefined();
		expect(result.items.length).toBeGreaterThan(0);
		expect(requests).toBe(1);
		expect(growth).toBeLessThan(1_200);
	});

	it('that says no fails with its status, and leaves the answer out of the error', async () => {
		status = 400;
		const { result } = await run('write');
		expect(result.error?.message).toMatch(/^The server answered 400: /);
		expect(JSON.stringify(result.error).length).toBeLessThan(10_000);
		expect(requests).toBe(1);
	});
});
