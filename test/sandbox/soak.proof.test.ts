import type { AxiosInstance } from 'axios';
import { startSandbox, type FaultRule, type Sandbox } from '../../sandbox';
import { clientFor } from './support/client';

const BATCH = 100;
const BATCHES = 200;
const TEXT = 'x'.repeat(1000);

const idOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
const batch = (number: number) =>
	Array.from({ length: BATCH }, (_, i) => ({
		id: idOf(number * BATCH + i),
		name: `document ${number * BATCH + i}`,
		pages: [{ pageContent: TEXT }],
	}));

/** One request in five goes wrong, each in a way drawn at random. */
const ONE_IN_FIVE: FaultRule = {
	endpoint: 'E3',
	probability: 0.2,
	seed: 7,
	do: 'oneOf',
	actions: [
		{ do: 'status', status: 503, headers: { 'retry-after': '0' } },
		{ do: 'status', status: 502, when: 'after' },
		{ do: 'status', status: 504, when: 'during', ms: 1 },
		{ do: 'drop', when: 'unread' },
		{ do: 'drop', reset: true },
		{ do: 'drop', when: 'during', ms: 1 },
		{ do: 'drop', when: 'after' },
		{ do: 'truncate', bytes: 100 },
		{ do: 'delay', ms: 5 },
	],
};

let sandbox: Sandbox;
let client: AxiosInstance;
let path: string;

const start = async (options: Parameters<typeof startSandbox>[0]) => {
	sandbox = await startSandbox(options);
	client = clientFor(sandbox);
	path = `/api/ai/knowledges/${sandbox.store.putKnowledgebase({ name: 'Handbook' }).id}/bulk`;
};
afterEach(() => sandbox.close());

/** Sends a batch until it is answered with 201; gives how often it was sent. */
async function sendUntilStored(documents: unknown[]): Promise<number> {
	for (let tries = 1; ; tries += 1) {
		const answer = await client.post<unknown>(path, documents).catch(() => undefined);
		if (answer?.status === 201 && Array.isArray(answer.data)) return tries;
		if (tries === 20) throw new Error('Never stored');
	}
}

describe('20,000 documents over a bad connection', () => {
	it('are all there, once each, in whatever way requests fail', async () => {
		await start({ logBodies: false });
		sandbox.faults.add(ONE_IN_FIVE);
		let sent = 0;
		for (let number = 0; number < BATCHES; number += 1)
			sent += await sendUntilStored(batch(number));
		expect(sandbox.store.documents.size).toBe(BATCH * BATCHES);
		expect(sandbox.requests.all).toHaveLength(sent);
		const [{ seen = 0, fired = 0 } = {}] = sandbox.faults.list();
		expect(seen).toBe(sent);
		expect(fired / seen).toBeGreaterThan(0.12);
		expect(fired / seen).toBeLessThan(0.28);
		const happened = sandbox.requests.all.flatMap(({ faults }) => faults ?? []);
		expect(happened).toHaveLength(fired);
		expect(new Set(happened.map((fault) => JSON.stringify(fault))).size).toBe(9);
	});
});
