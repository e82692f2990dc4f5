import fc from 'fast-check';

import { serialize } from '../../../../nodes/XpertAi/ingest/batches';
import type { ReadyDocument } from '../../../../nodes/XpertAi/ingest/batches';
import type { DocumentRecord } from '../../../../nodes/XpertAi/payloads/document';
import { uploadFiles } from '../../../../nodes/XpertAi/ingest/uploads';
import { prepared } from '../../support/documents';
import { failure } from './support/outcomes';

type Fate = 'none' | 'uploaded' | 'failing' | 'unreadable';
interface Plan {
	fate: Fate;
	/** Turns of the event loop its upload takes. */
	turns: number;
}

const AT_ONCE = 5;
const REFUSED = failure({ kind: 'status', status: 500 });
const GONE = new Error('the file is gone');

/** Uploads documents of which each has its fate, and gathers what became of them. */
async function uploadAll(plans: Plan[], goOn: () => boolean = () => true, taken = Infinity) {
	const [ready, failed, unreadable]: [number[], number[], number[]] = [[], [], []];
	const leftOut: number[] = [];
	const records: DocumentRecord[] = [];
	let [underWay, most, begun] = [0, 0, 0];
	const documents = plans.map(({ fate }, origin): ReadyDocument<number> => {
		const file: ReadyDocument<number>['file'] = async () => await Promise.reject(GONE);
		return { ...prepared({ name: `${origin}` }, origin), ...(fate === 'none' ? {} : { file }) };
	});
	const handedOn = uploadFiles(documents, {
		concurrency: AT_ONCE,
		upload: async ({ origin }) => {
			begun += 1;
			most = Math.max(most, ++underWay);
			const { fate, turns } = plans[origin] ?? { fate: 'none', turns: 0 };
			for (let turn = 0; turn < turns; turn += 1)
				await new Promise((resolve) => setImmediate(resolve));
			underWay -= 1;
			if (fate === 'unreadable') throw GONE;
			if (fate === 'failing') return { failure: REFUSED, attempts: 1 };
			return { file: { fileUrl: `/files/${origin}` } };
		},
		onOutcome: ({ document, outcome }) =>
			(outcome === 'notSent' ? leftOut : failed).push(document.origin),
		onUnreadable: ({ origin }) => unreadable.push(origin),
		mayUpload: goOn,
	});
	for await (const { record, json, bytes, origin } of handedOn) {
		ready.push(origin);
		records.push(record);
		expect({ json, bytes }).toEqual(serialize(record));
		if (ready.length >= taken) break;
	}
	return { ready, failed, unreadable, leftOut, records, most, begun, underWay };
}

const plans = fc.array(
	fc.record<Plan>({
		fate: fc.constantFrom<Fate>('none', 'uploaded', 'failing', 'unreadable'),
		turns: fc.integer({ min: 0, max: 4 }),
	}),
	{ maxLength: 30 },
);
const withFate = (list: Plan[], ...fates: Fate[]) =>
	list.flatMap(({ fate }, index) => (fates.includes(fate) ? [index] : []));
const inOrder = (list: number[]) => [...list].sort((a, b) => a - b);

describe('any mix of documents, files and failures', () => {
	it('is passed on in order or reported, each document once, with limited concurrency', async () => {
		await fc.assert(
			fc.asyncProperty(plans, async (list) => {
				const { ready, failed, unreadable, records, most } = await uploadAll(list);
				expect(records).toEqual(
					ready.map((at) => ({
						name: `${at}`,
						...(list[at]?.fate === 'uploaded' && { fileUrl: `/files/${at}` }),
					})),
				);
				expect(ready).toEqual(withFate(list, 'none', 'uploaded'));
				expect(inOrder(failed)).toEqual(withFate(list, 'failing'));
				expect(inOrder(unreadable)).toEqual(withFate(list, 'unreadable'));
				expect(most).toBeLessThanOrEqual(AT_ONCE);
			}),
		);
	});

	it('starts no upload once it may not, and reports the documents as not sent', async () => {
		await fc.assert(
			fc.asyncProperty(plans, fc.integer({ min: 0, max: 10 }), async (list, allowed) => {
				let left = allowed;
				const { begun, leftOut, underWay } = await uploadAll(list, () => left-- > 0);
				const files = withFate(list, 'uploaded', 'failing', 'unreadable');
				expect(begun).toBe(Math.min(allowed, files.length));
				expect(leftOut).toEqual(files.slice(allowed));
				expect(underWay).toBe(0);
			}),
		);
	});
});

it('uploads whose consumer has left are still waited for and reported', async () => {
	const list: Plan[] = [
		{ fate: 'uploaded', turns: 0 },
		...Array.from({ length: AT_ONCE - 1 }, (): Plan => ({ fate: 'failing', turns: 4 })),
	];
	const { ready, failed, underWay } = await uploadAll(list, undefined, 1);
	expect([ready, failed, underWay]).toEqual([[0], [1, 2, 3, 4], 0]);
});
