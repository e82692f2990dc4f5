import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { type Operation, isCoded } from 'nodes/XpertAi/execution/operation';
import { operationFields } from 'nodes/XpertAi/execution/nodeProperties';

import { OPERATIONS } from '../nodes/support/properties';
import { calledBy, titleOf } from './support/caseOperations';
import { ALL_CASES } from './support/cases';
import { useFixture } from './support/fixture';
import { withoutOurs } from './support/runs';

const fixture = useFixture();

/** What a newer server might take. */
const MORE: IDataObject = { custom: { x: 1 } };

/** Whether an operation sends a file. */
const uploads = (operation: Operation) => !isCoded(operation) && operation.body?.isForm === true;

describe('the request each operation sends, as it arrives at a server', () => {
	it('covers all seventeen endpoints of the contract', () => {
		const endpoints = ALL_CASES.map(({ endpoint }) => endpoint);
		expect(endpoints).toEqual(
			expect.arrayContaining(Array.from({ length: 17 }, (_, i) => `E${i + 1}`)),
		);
	});

	it('covers every operation of the catalogue', () => {
		expect(ALL_CASES.map(titleOf).sort()).toEqual(OPERATIONS.map(({ title }) => title).sort());
	});

	// Find Changes asks several times: ingestFindChanges.test.ts has what for.
	const askingOnce = ALL_CASES.filter(({ calls }) => calls !== 'document: findChanges');
	it.each(askingOnce)('$calls, with its output paired', async ({ endpoint, good, request }) => {
		const { items, error } = await fixture.run(good(fixture.world));

		// A run also reads its thread before and after (E15).
		const arrived = fixture.sandbox.requests.of(endpoint);
		expect(arrived).toHaveLength(1);
		const [{ endpoint: reached, method, path, body, headers }] = arrived as [(typeof arrived)[0]];
		const expected = request(fixture.world);
		expect({ reached, method, path }).toEqual({
			reached: endpoint,
			method: expected.method,
			path: expected.path,
		});
		if (expected.body !== undefined) {
			expect(withoutOurs(body)).toEqual(expected.body);
			expect(headers['content-type']).toBe('application/json');
		}
		expect(headers.authorization).toBe(`Bearer ${fixture.sandbox.accessToken}`);

		// Servers answer E10 with 400 "not yet implemented".
		if (endpoint === 'E10') return;
		expect(error).toBeUndefined();
		expect(items.length).toBeGreaterThan(0);
		for (const item of items) expect(item.pairedItem).toEqual({ item: 0 });
	});

	it.each(ALL_CASES.filter((one) => uploads(calledBy(one))))(
		'$calls uploads the file as the one part "file", with its name and type',
		async ({ good }) => {
			const binary = await fixture.engine.binary(Buffer.from('Grüße'), '文件 1.txt', 'text/plain');
			await fixture.run(good(fixture.world), { items: [{ json: {}, binary: { data: binary } }] });

			const [request] = fixture.sandbox.requests.all;
			expect(request?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
			expect(request?.files).toEqual([
				expect.objectContaining({
					field: 'file',
					filename: '文件 1.txt',
					mimetype: 'text/plain',
					content: Buffer.from('Grüße'),
				}),
			]);
		},
	);

	it('E12 sends its optional parts as text, and target as JSON', async () => {
		const parts = {
			target: '{"kind":"storage"}',
			purpose: 'chat_attachment',
			parseMode: 'deep',
			conversationId: 'c0000000-0000-4000-8000-000000000001',
			threadId: 't1',
			projectId: 'c0000000-0000-4000-8000-000000000002',
			xpertId: 'c0000000-0000-4000-8000-000000000003',
			workspacePath: 'a/b',
		};
		await fixture.run({
			resource: 'fileContext',
			operation: 'create',
			additionalFields: { ...parts },
		});
		expect(fixture.sandbox.requests.all[0]?.fields).toEqual(parts);
	});

	const withMore = ALL_CASES.filter(({ body, ...one }) => {
		const options = operationFields(calledBy(one)).find(({ name }) => name === 'options')?.options;
		return body && options?.some(({ name }) => name === 'additionalFieldsJson');
	});

	it.each(
		withMore.flatMap((one) => [
			{ ...one, given: 'text', json: JSON.stringify(MORE) },
			{ ...one, given: 'text behind a byte order mark', json: `\ufeff${JSON.stringify(MORE)}` },
			{ ...one, given: 'an expression', json: '={{ $json }}' },
		]),
	)(
		'$calls takes additional fields as JSON, as $given',
		async ({ endpoint, good, request, json }) => {
			const { body } = request(fixture.world);
			const { options, ...called } = good(fixture.world);
			const more = { ...(options as INodeParameters), additionalFieldsJson: json };
			await fixture.run({ ...called, options: more }, { items: [{ json: MORE }] });

			const sent = fixture.sandbox.requests.of(endpoint).map((one) => withoutOurs(one.body));
			expect(sent).toEqual([{ ...(body as IDataObject), ...MORE }]);
		},
	);
});
