import type { IDataObject } from 'n8n-workflow';

import { useFixture } from './support/fixture';
import { BY_NAME, column, embedsDocuments, ending, ingestOn, isNote, rows } from './support/ingest';
import { useFastClock } from './support/shortSleeps';

const fixture = useFixture();
useFastClock(100);
embedsDocuments(fixture);
const { submit } = ingestOn(fixture);

const night = async (afterStoring: 'process' | 'wait' | 'nothing', more: IDataObject) =>
	await submit(
		{ ...BY_NAME, documentKey: '={{ $json.name }}', mode: 'changed', afterStoring },
		{ items: rows(1, () => more), onError: 'continueErrorOutput' },
	);
/** The names of the documents that were sent since the last look. */
const sent = () => {
	const names = fixture.sandbox.requests
		.of('E3')
		.flatMap(({ body }) => body as IDataObject[])
		.filter((document) => !isNote(document))
		.map(({ name }) => name);
	fixture.sandbox.requests.clear();
	return names;
};

describe('a document with the same content is sent again by the next run', () => {
	it('where the server has shown no progress with it', async () => {
		const HOUR = 3_600_000;
		await night('process', ending('finish', HOUR));
		sent();
		const stuck = await night('wait', ending('finish', HOUR));
		expect(sent()).toEqual([]);
		expect(column(stuck.outputs[1], 'error')).toEqual([
			expect.stringContaining('the server shows no progress'),
		]);
		await night('process', ending('finish', HOUR));
		expect(sent()).toEqual(['doc 0']);
	});

	it.each(['error', 'cancel'])('where its processing has ended with %s', async (end) => {
		await night('wait', ending(end));
		expect(sent()).toEqual(['doc 0']);
		await night('nothing', ending(end));
		expect(sent()).toEqual(['doc 0']);
	});
});
