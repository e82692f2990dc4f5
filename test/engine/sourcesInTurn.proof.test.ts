import { range } from 'lodash';

import { TEXTS, useIngest } from './support/ingest';

const { add, fixture, sent, submit } = useIngest();

/** So long that the lease of a source would be renewed many times, if it were held to the end of a run over many. */
const REQUEST_MS = 50;

/** How many requests one run over so many sources sends for each of them, in its first night and in the next one. */
async function requestsASource(count: number): Promise<number[]> {
	const parameters = {
		...TEXTS,
		afterStoring: 'process',
		mode: 'mirror',
		sourceName: '={{ $json.tenant }}',
	};
	const items = range(count).map((at) => ({
		json: { name: 'a', tenant: `tenant ${at} of ${count}`, text: `Text ${at}` },
	}));
	add({ do: 'delay', ms: REQUEST_MS });
	const nights = [];
	for (const _ of range(2)) {
		fixture.sandbox.requests.clear();
		const { error } = await submit(parameters, { items });
		expect(error).toBeUndefined();
		nights.push(sent().length / count);
	}
	return nights;
}

it('a run over many sources sends no more for each of them than a run over few', async () => {
	const few = await requestsASource(10);
	const many = await requestsASource(400);
	for (const [night, requests] of many.entries())
		expect(requests).toBeLessThanOrEqual(1.05 * (few[night] ?? 0));
}, 600_000);
