import type { MemoryRoutes } from 'nodes/XpertAi/ingest/memory/notes';
import { derivedId } from 'nodes/XpertAi/payloads/ids';

import { calling, type RawCall } from '../../../support/send';
import { journaledBatch } from '../support/journaledBatch';
import { Knowledgebase, open } from '../support/knowledgebase';
import { answered } from '../support/outcomes';

const MIB = 1024 * 1024;
const BATCH = 100;

/** A server behind a proxy that takes 1 MiB in a request, as nginx does; counts what it is sent. */
function server() {
	const knowledgebase = new Knowledgebase();
	const sent = { requests: 0, bytes: 0 };
	const { send, ...paths } = knowledgebase.routes();
	const behindProxy: RawCall = async (request) => {
		if (typeof request.body !== 'string') return await send(request);
		const bytes = Buffer.byteLength(request.body);
		sent.requests += 1;
		sent.bytes += bytes;
		return bytes > MIB ? answered(413) : await send(request);
	};
	/** What was sent since the last look. */
	const look = () => {
		const seen = { ...sent };
		Object.assign(sent, { requests: 0, bytes: 0 });
		return seen;
	};
	return { routes: { ...paths, send: calling(behindProxy) }, rows: knowledgebase.rows, look };
}

async function night(routes: MemoryRoutes, ids: string[], contentOf: (at: number) => string) {
	const memory = await open(routes);
	const changed = ids.filter((id, at) => !memory.known.hasSameContent(id, contentOf(at)));
	const position = new Map(ids.map((id, at) => [id, at]));
	for (let at = 0; at < changed.length; at += BATCH) {
		const batch = changed.slice(at, at + BATCH);
		const numberOf = (id: string) => position.get(id) ?? 0;
		// What is counted is what goes beside the documents.
		const contents = new Map(batch.map((id) => [id, contentOf(numberOf(id))]));
		const journaled = await journaledBatch(memory, routes, contents);
		expect(await journaled?.send()).toMatchObject({ ok: true });
		journaled?.ended(true, false);
		for (const id of batch) {
			const number = numberOf(id);
			const called = { key: `${number}`, name: `documents/number ${number}.md` };
			memory.recordStored(id, contentOf(number), called);
		}
	}
	await memory.close();
	return { memory, sent: changed.length };
}

it.each([10_000, 100_000, 500_000])(
	'%d documents are remembered behind a proxy of 1 MiB, in notes that do not grow with them',
	async (count) => {
		const { routes, rows, look } = server();
		const ids = Array.from({ length: count }, (_, at) => derivedId('kb', `${at}`));
		const first = await night(routes, ids, () => 'copy #1');
		const load = look();
		expect([first.sent, first.memory.failures]).toEqual([count, {}]);
		// A tenth of what documents of 1 KB take, with their names.
		expect(load.bytes).toBeLessThan(count * 102);
		expect(
			Math.max(...[...rows.values()].map(({ processMsg = '' }) => processMsg.length)),
		).toBeLessThan(256 * 1024);
		const second = await night(routes, ids, () => 'copy #1');
		const unchanged = look();
		expect([second.sent, second.memory.knownCountBefore]).toEqual([0, count]);
		// That it begins, that it is at work, that it has ended.
		expect(unchanged).toMatchObject({ requests: 3 });
		expect(unchanged.bytes).toBeLessThan(1300);
		const third = await night(routes, ids, (at) => (at % 100 === 0 ? 'copy #2' : 'copy #1'));
		const few = look();
		expect(third.sent).toBe(count / 100);
		// Each piece that holds a changed document is written whole.
		expect(few.bytes).toBeLessThan(count * 35);
		const left = ids.slice(count / 10);
		const fourth = await night(routes, left, (at) =>
			(at + count / 10) % 100 === 0 ? 'copy #2' : 'copy #1',
		);
		expect(fourth.sent).toBe(0);
		const brought = new Set(left);
		const gone = [...fourth.memory.known.ids()].filter((id) => !brought.has(id));
		expect(new Set(gone)).toEqual(new Set(ids.slice(0, count / 10)));
	},
	300_000,
);
