import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';

import { paths, sources } from 'test/nodes/support/paths';
import { PROPERTY_RUNS } from 'test/support/propertyRuns';
import { useFixture } from './support/fixture';

const fixture = useFixture();

/** Each is a handful of requests over HTTP. */
const RUNS = Math.ceil(PROPERTY_RUNS / 2);

/** What is sent to the server, and what comes out of the node, with expressions that read a path in this way. */
async function results(parameter: string, jsons: IDataObject[]) {
	fixture.sandbox.reset();
	const { outputs, error } = await fixture.run(
		{
			resource: 'knowledgebase',
			operation: 'create',
			name: 'Manuals',
			additionalFields: { description: parameter, avatar: parameter, recall: { topK: parameter } },
		},
		{ items: jsons.map((json) => ({ json })), onError: 'continueErrorOutput' },
	);
	const errors = outputs[1]?.map(({ json }) => json.error);
	return { bodies: fixture.sent().map(({ body }) => body), errors, message: error?.message };
}

it('an expression that only reads gives the same as if n8n evaluates it, for any item', async () => {
	await fc.assert(
		fc.asyncProperty(
			paths,
			fc.array(sources, { minLength: 2, maxLength: 4 }),
			async (path, jsons) => {
				const read = await results(`={{ ${path} }}`, jsons);
				expect(read).toEqual(await results(`={{ [${path}][0] }}`, jsons));
			},
		),
		{ numRuns: RUNS },
	);
});
