import { range } from 'lodash';

import { type Part, type PartOptions, type Row, figure } from '../report';
import { type Night, measure } from '../support/nights';
import { onServer } from '../support/server';

/** Nights of a file of records in a small heap: a mode, how many nights, and the megabytes of the heap. */
const HEAPS = [
	{ mode: 'changed', label: 'Send New and Changed', nights: 1, megabytes: 128 },
	{ mode: 'mirror', label: 'Mirror the Source', nights: 3, megabytes: 192 },
] as const;

/** Whether sources far larger than the heap run through, also in the nights that compare them with what is stored. */
export const heapPart: Part = {
	name: 'heap',
	measure: async (options) => {
		const rows: Row[] = [];
		for (const heap of HEAPS) rows.push(await rowOf(heap, sizeOf(options)));
		return rows;
	},
};

function sizeOf({ quick, million }: PartOptions): number {
	if (quick) return 20_000;
	return million ? 1_000_000 : 200_000;
}

async function rowOf(
	{ mode, label, nights, megabytes }: (typeof HEAPS)[number],
	documents: number,
): Promise<Row> {
	const records = `${figure(documents)} records of 200 bytes, ${label}`;
	const what = `nights that end well: ${records}, in a heap of ${megabytes} MB`;
	const night: Night = { documents, mode, source: 'records', processes: false, textLength: 48 };
	let passed = 0;
	try {
		await onServer('bare', async (server) => {
			for (const _ of range(nights)) {
				await measure(server, night, [`--max-old-space-size=${megabytes}`]);
				passed += 1;
			}
		});
	} catch (error) {
		console.error(error);
	}
	return { what, measured: String(passed), bound: `${nights}`, met: passed === nights };
}
