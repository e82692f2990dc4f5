import { createServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { countBy, merge, times } from 'lodash';
import type { INodeParameters } from 'n8n-workflow';

import type { FaultRule } from 'sandbox';
import { ALL_CASES } from './support/cases';
import type { CredentialData } from './support/credentials';
import { useFixture, watchOpenedFiles } from './support/fixture';
import { listen } from './support/listen';

const fixture = useFixture();
const { add, sent } = fixture;

const TIMES = 5;

function active() {
	const { TCPSocketWrap: connections = 0, Timeout: timers = 0 } = countBy(
		process.getActiveResourcesInfo(),
	);
	return { connections, timers };
}

/** What ends the operations that wait soon. */
const SOON: Record<string, INodeParameters> = {
	E3: { tuning: { retryMinutes: 0.02 } },
	E4: { options: { deadlineMinutes: 0.05 } },
	runs: { options: { deadlineMinutes: 0.05 } },
};

async function runAll(
	credential: Partial<CredentialData> = {},
	bytes = 5_000_000,
	timeout = 1,
): Promise<void> {
	const content = Buffer.alloc(bytes);
	const data = await fixture.engine.binary(content, 'a.bin', 'application/octet-stream');
	const runs = ALL_CASES.flatMap(({ endpoint, good }) =>
		times(TIMES, async () => {
			const parameters = good(fixture.world);
			const soon = { options: { timeout }, tuning: { timeout } };
			const items = [{ json: {}, binary: { data } }];
			await fixture.run(merge(soon, parameters, SOON[endpoint]), { items, credential });
		}),
	);
	await Promise.all(runs);
}

describe('when an execution has ended, nothing of it is left open', () => {
	const faults: Array<[string, FaultRule[]]> = [
		['that found a good server', []],
		['that was refused', [{ do: 'status', status: 403 }]],
		['whose connection broke before its request was read', [{ do: 'drop', when: 'unread' }]],
		['whose connection was reset', [{ do: 'drop', when: 'before', reset: true }]],
		['whose answer broke off', [{ do: 'truncate' }]],
		['that got no answer in time', [{ do: 'delay', ms: 2_000 }]],
	];

	let before: ReturnType<typeof active>;
	let files: ReturnType<typeof watchOpenedFiles>;
	const openFiles = () => files.filter(({ closed }) => !closed);
	beforeEach(() => {
		before = active();
		files = watchOpenedFiles();
	});
	afterEach(async () => {
		jest.restoreAllMocks();
		const isOpen = () => {
			const { connections, timers } = active();
			const isQuiet = connections <= before.connections && timers <= before.timers;
			return !isQuiet || openFiles().length > 0;
		};
		while (isOpen()) await nextTurn();
	});

	it.each(faults)('one %s', async (_title, rules) => {
		add(...rules);
		await runAll();
		expect(sent().length).toBeGreaterThan(ALL_CASES.length);
	});

	it('one whose request was not read to its end', async () => {
		// More than what is on its way between two sockets.
		const bytes = 20_000_000;
		let cut = 0;
		const server = createServer((socket) => {
			socket.once('data', async () => {
				socket.pause();
				// The clock does not move while the bytes of a socket wait, so turns of the process count here.
				for (let turn = 0; turn < 200; turn += 1) await nextTurn();
				if (openFiles().length > 0) cut += 1;
				socket.resetAndDestroy();
			});
		});
		await runAll({ baseUrl: `http://127.0.0.1:${await listen(server)}` }, bytes, 300);
		server.close();
		expect(cut).toBeGreaterThan(0);
	});
});
