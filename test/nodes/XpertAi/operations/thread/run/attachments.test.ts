import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

import { uploadAttachments } from '../../../../../../nodes/XpertAi/operations/thread/run/attachments';
import { withFileContexts } from '../../../../../../nodes/XpertAi/runs/input';
import { withDeadline } from '../../../../../../nodes/XpertAi/runs/run';
import type { Failure } from '../../../../../../nodes/XpertAi/transport/failure';
import type { ApiRequest, Outcome } from '../../../../../../nodes/XpertAi/transport/request';
import { readBack } from '../../../../support/forms';
import { virtualTime } from '../../../../support/virtualTime';

const to = { method: 'POST', path: '/api/ai/contexts/file' };
const forbidden: Failure = { kind: 'status', status: 403, ...to };
const lost: Failure = { kind: 'network', code: 'ECONNRESET', ...to };
const MINUTE = 60_000;

const recording = z.object({
	exchanges: z.array(z.object({ label: z.string(), response: z.object({ body: z.unknown() }) })),
});

/** Files whose names tell how the server answers to them. */
const attachmentsOf = (...names: string[]) =>
	names.map((name) => ({
		property: `field ${name}`,
		file: { name, mimeType: 'text/plain', content: Buffer.from(name) },
	}));

/** What is asked of a server that answers by the name of the file, after so many milliseconds. */
function serverThat(
	answers: (name: string, nth: number) => Outcome,
	{ takesMs = 1, stopAfterMs = Infinity } = {},
) {
	const clock = virtualTime(stopAfterMs);
	const asked: Array<ApiRequest & { name: string }> = [];
	let atOnce = 0;
	const counts = { most: 0 };
	const send = async (request: ApiRequest): Promise<Outcome> => {
		const { name } = (request.body as FormData).get('file') as File;
		const nth = asked.filter((one) => one.name === name).length + 1;
		asked.push({ ...request, name });
		counts.most = Math.max(counts.most, ++atOnce);
		await Promise.resolve();
		clock.pass(takesMs);
		atOnce--;
		const outcome = answers(name, nth);
		const flaw = outcome.ok ? request.checkAnswer?.(outcome.answer) : undefined;
		return flaw ? { ok: false, failure: { kind: 'unreadable', reason: flaw, ...to } } : outcome;
	};
	const given = { send, clock, signal: clock.signal, deadline: clock.now() + MINUTE };
	const inTime = withDeadline(given);
	return { inTime, asked, counts };
}

const stored = (name: string): Outcome => ({ ok: true, status: 201, answer: { id: `id ${name}` } });
const refused = (failure: Failure): Outcome => ({ ok: false, failure });

/** The recorded answer to the upload of a text. */
function recordedUpload(): unknown {
	const path = join(__dirname, '..', '..', '..', '..', '..', 'recordings', 'E12.json');
	const { exchanges } = recording.parse(JSON.parse(readFileSync(path, 'utf8')));
	return exchanges.find(({ label }) => label === 'txt ok')?.response.body;
}

describe('files for a message', () => {
	it('are uploaded with the thread, and known by the ids the server gives', async () => {
		const { inTime, asked } = serverThat(stored);
		const attached = await uploadAttachments(inTime, 't', attachmentsOf('a', 'b'));
		expect(attached).toEqual({ ids: ['id a', 'id b'] });
		expect(asked).toMatchObject([
			{ method: 'POST', path: '/contexts/file' },
			{ method: 'POST', path: '/contexts/file' },
		]);
		const [thread, file] = await readBack(asked[0]?.body as FormData);
		expect(thread).toEqual(['threadId', 't']);
		expect(await (file?.[1] as File).text()).toBe('a');
	});

	it('are known by the id of a recorded answer', async () => {
		const answer = recordedUpload();
		const { inTime } = serverThat(() => ({ ok: true, status: 201, answer }));
		const attached = await uploadAttachments(inTime, 't', attachmentsOf('a'));
		expect(attached).toEqual({ ids: ['d555ca06-83b9-4f11-8494-a29af74e3ccc'] });
	});

	it('are uploaded five at once and keep their order', async () => {
		const names = Array.from({ length: 12 }, (_, n) => `f${n}`);
		const { inTime, counts } = serverThat(stored);
		const attached = await uploadAttachments(inTime, 't', attachmentsOf(...names));
		expect(attached).toEqual({ ids: names.map((name) => `id ${name}`) });
		expect(counts.most).toBe(5);
	});

	it('are none without any, and nothing is sent', async () => {
		const { inTime, asked } = serverThat(stored);
		expect(await uploadAttachments(inTime, 't', [])).toEqual({ ids: [] });
		expect(asked).toEqual([]);
	});
});

describe('an upload that fails', () => {
	it('is reported with the field of its file, and no further one begins', async () => {
		const names = Array.from({ length: 12 }, (_, n) => `f${n}`);
		const { inTime, asked } = serverThat((name) =>
			name === 'f1' ? refused(forbidden) : stored(name),
		);
		const attached = await uploadAttachments(inTime, 't', attachmentsOf(...names));
		expect(attached).toEqual({ property: 'field f1', failure: forbidden });
		expect(asked.length).toBeLessThan(names.length);
	});

	it('is sent again when its answer was lost', async () => {
		const { inTime, asked } = serverThat((name, nth) => (nth === 1 ? refused(lost) : stored(name)));
		expect(await uploadAttachments(inTime, 't', attachmentsOf('a'))).toEqual({ ids: ['id a'] });
		expect(asked).toHaveLength(2);
	});

	it.each([[{}], [{ id: '' }], [{ id: 7 }], ['stored'], [undefined]])(
		'because the server answers %j says that the answer names no ID',
		async (answer) => {
			const { inTime, asked } = serverThat(() => ({ ok: true, status: 201, answer }));
			const attached = await uploadAttachments(inTime, 't', attachmentsOf('a'));
			expect(attached).toMatchObject({ property: 'field a', failure: { kind: 'unreadable' } });
			expect(asked).toHaveLength(3);
		},
	);

	it('is not sent again after the deadline, and none outlasts it', async () => {
		const { inTime, asked } = serverThat(() => refused(lost), { takesMs: MINUTE - 10 });
		const attached = await uploadAttachments(inTime, 't', attachmentsOf('a'));
		expect(attached).toMatchObject({ failure: { code: 'ECONNRESET' } });
		expect(asked).toMatchObject([{ timeoutMs: MINUTE, totalMs: MINUTE }]);
	});

	it('because the execution was stopped is the last one', async () => {
		const { inTime, asked } = serverThat(() => refused(lost), { takesMs: 10, stopAfterMs: 10 });
		const attached = await uploadAttachments(inTime, 't', attachmentsOf('a'));
		expect(attached).toMatchObject({ failure: { kind: 'cancelled' } });
		expect(asked).toHaveLength(1);
	});
});

describe('a message with files', () => {
	const message = (files?: object[]) => ({
		assistant_id: 'a',
		input: { action: 'send', message: { input: { input: 'Hi', ...(files && { files }) } } },
	});

	it('names them after those it has', () => {
		const given = message([{ fileId: 'c' }, { id: 's' }]);
		const files = [{ fileId: 'c' }, { id: 's' }, { fileId: 'x' }, { fileId: 'y' }];
		expect(withFileContexts(given, ['x', 'y'])).toEqual(message(files));
		expect(given).toEqual(message([{ fileId: 'c' }, { id: 's' }]));
	});

	it('names them also where it has none', () => {
		expect(withFileContexts(message(), ['x'])).toEqual(message([{ fileId: 'x' }]));
	});
});
