import type { IDataObject } from 'n8n-workflow';

import { isCoded, isFileBody } from '../../nodes/XpertAi/execution/operation';
import type { Operation } from '../../nodes/XpertAi/execution/operation';
import { OPERATIONS } from '../nodes/support/properties';
import { calledBy, titleOf } from './support/caseOperations';
import { ALL_CASES } from './support/cases';
import { useFixture } from './support/fixture';
import { withoutOurs } from './support/runs';

const fixture = useFixture();

/** A body as a user may write it: with what the server takes, and more that a newer one might. */
function ownBody(sent: unknown): IDataObject[string] {
	const withMore = (value: unknown) =>
		typeof value === 'object' ? { ...value, custom: { x: 1 } } : (value as string);
	return Array.isArray(sent) ? sent.map(withMore) : withMore(sent ?? {});
}

/** Whether an operation sends a file. */
const uploads = (operation: Operation) =>
	!isCoded(operation) && operation.body !== undefined && isFileBody(operation.body);

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

	it.each(ALL_CASES)('$endpoint, with its output paired', async ({ endpoint, good, request }) => {
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
		'$endpoint uploads the file as the one part "file", with its name and type',
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

	const withOwnBody = ALL_CASES.filter((one) => {
		const operation = calledBy(one);
		if (!isCoded(operation)) return operation.body !== undefined;
		return operation.fields.some(({ name }) => name === 'jsonBody');
	});

	it.each(
		withOwnBody.flatMap((one) => [
			{ ...one, given: 'text', jsonBody: (body: unknown) => JSON.stringify(body) },
			{
				...one,
				given: 'text behind a byte order mark',
				jsonBody: (body: unknown) => `\ufeff${JSON.stringify(body)}`,
			},
			{ ...one, given: 'an expression', jsonBody: () => '={{ $json.body }}' },
		]),
	)(
		'$endpoint takes a body of its own as JSON, as $given',
		async ({ endpoint, good, request, jsonBody }) => {
			const body = ownBody(request(fixture.world).body);
			const called = good(fixture.world);
			const text = jsonBody(body);
			const own =
				called.operation === 'submit'
					? { source: 'json', jsonBody: text }
					: { options: { bodyMode: 'json', jsonBody: text } };
			const parameters = { ...called, ...own };
			await fixture.run(parameters, { items: [{ json: { body } }] });

			const sent = fixture.sandbox.requests.of(endpoint).map((one) => withoutOurs(one.body));
			expect(sent).toEqual([body]);
		},
	);
});
