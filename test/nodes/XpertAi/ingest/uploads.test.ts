import fc from 'fast-check';

import { serialize, type ReadyDocument } from '../../../../nodes/XpertAi/ingest/readyDocument';
import type { DocumentRecord } from '../../../../nodes/XpertAi/payloads/document';
import { uploadFiles } from '../../../../nodes/XpertAi/ingest/uploads';
import { prepared } from '../../support/documents';
import { parsing } from '../../support/send';
import { virtualTime } from '../../support/virtualTime';
import { answered, succeeded } from './support/outcomes';

type Fate = 'none' | 'uploaded' | 'failing' | 'unreadable';
interface Plan {
	fate: Fate;
	/** Turns of the event loop its upload takes. */
	turns: number;
}

const AT_ONCE = 5;
const REFUSED = answered(500);
const GONE = new Error('the file is gone');

/** Uploads documents of which each has its fate, and gathers what became of them. */
async function uploadAll(plans: Plan[], goOn: () => boolean = () => true, taken = Infinity) {
	const ready: number[] = [];
	const told = { rejected: [], unreadable: [], notSent: [] } as Record<string, number[]>;
	const records: DocumentRecord[] = [];
	let [underWay, most, begun] = [0, 0, 0];
	const documents = plans.map(({ fate }, origin): ReadyDocument<number> => {
		const content = Buffer.from('a');
		const file = async () => {
			begun += 1;
			if (fate === 'unreadable') throw GONE;
			return await Promise.resolve({ name: `${origin}`, mimeType: 'text/plain', content });
		};
		return { ...prepared({ name: `${origin}` }, origin), ...(fate === 'none' ? {} : { file }) };
	});
	const send = parsing(async ({ body }) => {
		most = Math.max(most, ++underWay);
		const { name } = (body as FormData).get('file') as File;
		const { fate, turns } = plans[Number(name)] ?? { fate: 'none', turns: 0 };
		for (let turn = 0; turn < turns; turn += 1)
			await new Promise((resolve) => setImmediate(resolve));
		underWay -= 1;
		return fate === 'failing' ? REFUSED : succeeded({ url: `/files/${name}` });
	});
	const gate = {
		get canSend() {
			return goOn();
		},
	};
	const client = { send, clock: virtualTime() };
	for await (const one of uploadFiles({ documents, client, timeoutMs: 1000, gate })) {
		if ('outcome' in one) {
			if ('document' in one) told[one.outcome]?.push(one.document.origin);
			continue;
		}
		const { record, json, bytes, origin } = one;
		ready.push(origin);
		records.push(record);
		expect({ json, bytes }).toEqual(serialize(record));
		if (ready.length >= taken) break;
	}
	return { ready, told, records, most, begun, underWay };
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

describe('any mix of documents, files and failures', () => {
	it('is passed on in order or reported, each document once, with limited concurrency', async () => {
		await fc.assert(
			fc.asyncProperty(plans, async (list) => {
				const { ready, told, records, most } = await uploadAll(list);
				expect(records).toEqual(
					ready.map((at) => ({
						name: `${at}`,
						...(list[at]?.fate === 'uploaded' && { fileUrl: `/files/${at}` }),
					})),
				);
				expect(ready).toEqual(withFate(list, 'none', 'uploaded'));
				expect(told.rejected).toEqual(withFate(list, 'failing'));
				expect(told.unreadable).toEqual(withFate(list, 'unreadable'));
				expect(most).toBeLessThanOrEqual(AT_ONCE);
			}),
		);
	});

	it('starts no upload once it may not, and reports the documents as not sent', async () => {
		await fc.assert(
			fc.asyncProperty(plans, fc.integer({ min: 0, max: 10 }), async (list, allowed) => {
				let left = allowed;
				const { begun, told, underWay } = await uploadAll(list, () => left-- > 0);
				const files = withFate(list, 'uploaded', 'failing', 'unreadable');
				expect(begun).toBe(Math.min(allowed, files.length));
				expect(told.notSent).toEqual(files.slice(allowed));
				expect(underWay).toBe(0);
			}),
		);
	});
});

it('uploads whose consumer has left are still waited for', async () => {
	const list: Plan[] = [
		{ fate: 'uploaded', turns: 0 },
		...Array.from({ length: AT_ONCE - 1 }, (): Plan => ({ fate: 'failing', turns: 4 })),
	];
	const { ready, underWay } = await uploadAll(list, undefined, 1);
	expect([ready, underWay]).toEqual([[0], 0]);
});
