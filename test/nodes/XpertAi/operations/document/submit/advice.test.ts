import type { IDataObject } from 'n8n-workflow';

import {
	processingEndOf,
	processingFlaw,
} from '../../../../../../nodes/XpertAi/ingest/processingStatus';
import { processingAdvice } from '../../../../../../nodes/XpertAi/operations/document/submit/outcomes';
import { sequence } from '../../../../../sandbox/support/recordings';

/** What the recorded server says of documents that it could not process. */
const SAID = sequence('searchable').flatMap(({ response }) =>
	'body' in response && Array.isArray(response.body)
		? (response.body as IDataObject[]).flatMap(({ status, processMsg }) =>
				status === 'error' ? [String(processMsg)] : [],
			)
		: [],
);

const OUT_OF_REACH = 'The server could not fetch the file from its address';

const ADVICE: Array<[begins: string, advice: string]> = [
	['Cannot read properties of undefined', 'Servers read files and nothing else'],
	['Unable to resolve a readable file', 'Leave it out, and send the file with "Documents From"'],
	['connect ECONNREFUSED', OUT_OF_REACH],
	['Failed to get', OUT_OF_REACH],
	['EISDIR', 'Type set to txt and MIME Type to text/plain'],
	['Embedding model not set', 'Give it one with Knowledgebase: Create or Update'],
];

describe('a document that a server could not process', () => {
	it.each(ADVICE)('comes out with the reason and what to do: %s', (begins, advice) => {
		const processMsg = SAID.find((said) => said.startsWith(begins)) ?? '';
		const end = processingEndOf({ id: 'a', status: 'error', processMsg });
		const flaw = processingFlaw(end) ?? '';
		expect(flaw).toBe(`The document could not be processed: ${processMsg}`);
		expect(processingAdvice(flaw)).toContain(advice);
	});

	it.each([
		['plan.odt', 'Servers may not read .odt files'],
		['plan.pdf', 'as it may be damaged or empty'],
		['Version 2.5', 'as it may be damaged or empty'],
	])('is told by its format, where servers are not known to read it: %s', (name, advice) => {
		expect(processingAdvice('The document could not be processed', name)).toContain(advice);
	});

	it('is told with a reason that is in this table', () => {
		const isKnown = (said: string) => ADVICE.some(([begins]) => said.startsWith(begins));
		expect(SAID.filter((said) => !isKnown(said))).toEqual([]);
		expect(SAID.length).toBeGreaterThan(ADVICE.length);
	});
});
