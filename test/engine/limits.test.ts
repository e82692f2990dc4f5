import { escapeRegExp } from 'lodash';
import type { INodeParameters } from 'n8n-workflow';

import { ask, says, useRuns } from './support/runs';

const { fixture, newThread, sent } = useRuns();

/** What an operation says to a number: nothing where it takes it. */
async function refusal(parameters: INodeParameters): Promise<string> {
	const thread = await newThread();
	const { error } = await fixture.run(parameters, { items: [says(thread, 'Hello')] });
	return error?.message ?? '';
}

const RUN = '2f78e81b-096f-42ff-8ac0-8403fd81392d';
const thread = { resource: 'thread', threadId: '={{ $json.thread }}' };
const OPERATIONS: Array<[string, INodeParameters]> = [
	['Ask and Wait', ask()],
	['Get Run', { ...thread, operation: 'getRun', runId: RUN }],
];

describe.each(OPERATIONS)('Runs at Once of %s', (_, parameters) => {
	it('may be 50, as its field says', async () => {
		const said = await refusal({ ...parameters, tuning: { concurrency: 50 } });
		expect(said).not.toContain('Runs at Once');
	});

	it.each([
		['at most 50, but is "51"', '={{ "51" }}'],
		['at least 1, but is 0', 0],
	])('fails its item with: %s', async (demand, concurrency) => {
		const { outputs } = await fixture.run(
			{ ...parameters, tuning: { concurrency } },
			{ items: [{ json: { thread: RUN } }], onError: 'continueErrorOutput' },
		);
		expect(outputs[1]?.[0]?.json.error).toMatch(new RegExp(`^"Runs at Once".* must be ${demand}`));
		expect(sent()).toEqual([]);
	});
});

describe.each<[string, (value: number) => INodeParameters, number, number]>([
	[
		'Requests at Once',
		(concurrency) => ({
			resource: 'conversation',
			operation: 'create',
			options: { concurrency },
		}),
		20,
		21,
	],
	[
		'Expires After (Seconds)',
		(seconds) => ({
			resource: 'chatSession',
			operation: 'create',
			additionalFields: { expires_after: seconds },
		}),
		86_400,
		86_401,
	],
])('%s', (name, parameters, most, more) => {
	it('may be as much as its field says, and no more', async () => {
		expect(await refusal(parameters(most))).toBe('');
		expect(await refusal(parameters(more))).toMatch(
			new RegExp(`^"${escapeRegExp(name)}".* must be at most ${most},`),
		);
	});
});
