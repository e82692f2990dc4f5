import type { IDataObject } from 'n8n-workflow';

import { AN_HOUR, useFixture } from './support/fixture';
import { BY_NAME, column, embedsDocuments, ending, ingestOn, isNote, rows } from './support/ingest';

const fixture = useFixture();
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
		await night('process', ending('finish', AN_HOUR));
		sent();
		const stuck = await night('wait', ending('finish', AN_HOUR));
		expect(sent()).toEqual([]);
		expect(column(stuck.outputs[1], 'error')).toEqual([
			expect.stringContaining('the server shows no progress'),
		]);
		await night('process', ending('finish', AN_HOUR));
		expect(sent()).toEqual(['doc 0']);
	});

	it.each(['error', 'cancel'])('where its processing has ended with %s', async (end) => {
		await night('wait', ending(end));
		expect(sent()).toEqual(['doc 0']);
		await night('nothing', ending(end));
		expect(sent()).toEqual(['doc 0']);
	});
});
