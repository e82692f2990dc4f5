import { uploadAttachments } from '../../../../../../nodes/XpertAi/operations/thread/run/prepare';
import { withDeadline } from '../../../../../../nodes/XpertAi/runs/run';
import type { Failure } from '../../../../../../nodes/XpertAi/transport/failure';
import type { ApiRequest, Outcome } from '../../../../../../nodes/XpertAi/transport/request';
import { virtualTime } from '../../../../support/virtualTime';

const to = { method: 'POST', path: '/api/ai/contexts/file' };
const forbidden: Failure = { kind: 'status', status: 403, ...to };
const lost: Failure = { kind: 'network', code: 'ECONNRESET', ...to };
const MINUTE = 60_000;

/** Files whose names tell how the server answers to them. */
const attachmentsOf = (...names: string[]) =>
	names.map((name) => ({
		property: `field ${name}`,
		file: { name, mimeType: 'text/plain', content: Buffer.from(name) },
	}));

/** What is asked of a server that answers by the name of the file, after so many milliseconds. */
function serverThat(answers: (name: string, nth: number) => Outcome, takesMs = 1) {
	const clock = virtualTime();
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

describe('files for a message', () => {
	it('are uploaded five at once and keep their order', async () => {
		const names = Array.from({ length: 12 }, (_, n) => `f${n}`);
		const { inTime, counts } = serverThat(stored);
		const attached = await uploadAttachments(inTime, 't', attachmentsOf(...names));
		expect(attached).toEqual({ ids: names.map((name) => `id ${name}`) });
		expect(counts.most).toBe(5);
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

	it.each([[{}], [{ id: '' }], ['stored'], [undefined]])(
		'because the server answers %j says that the answer names no ID',
		async (answer) => {
			const { inTime, asked } = serverThat(() => ({ ok: true, status: 201, answer }));
			const attached = await uploadAttachments(inTime, 't', attachmentsOf('a'));
			expect(attached).toMatchObject({ property: 'field a', failure: { kind: 'unreadable' } });
			expect(asked).toHaveLength(3);
		},
	);

	it('is not sent again after the deadline, and none outlasts it', async () => {
		const { inTime, asked } = serverThat(() => refused(lost), MINUTE - 10);
		const attached = await uploadAttachments(inTime, 't', attachmentsOf('a'));
		expect(attached).toMatchObject({ failure: { code: 'ECONNRESET' } });
		expect(asked).toMatchObject([{ timeoutMs: MINUTE, totalMs: MINUTE }]);
	});
});
