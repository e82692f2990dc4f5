import { switchDocuments } from '../../../../nodes/XpertAi/ingest/switchDocuments';
import type { Failure } from '../../../../nodes/XpertAi/transport/failure';
import { calling, success } from '../../support/send';
import { virtualTime } from '../../support/virtualTime';
import { answered } from './support/outcomes';

interface Switched {
	disabled?: boolean;
	/** Which request fails. */
	failing?: number;
	fieldsOf?: (id: string) => object;
	/** Why the documents must not be changed. */
	refusal?: Failure;
	stopped?: boolean;
	/** What the server answers; else the documents that it was sent. */
	answer?: unknown;
}

async function switched(
	ids: string[],
	{ disabled = true, failing, fieldsOf = () => ({}), refusal, stopped, answer }: Switched = {},
) {
	const sent: unknown[][] = [];
	const switchedIds: string[] = [];
	const failure = await switchDocuments(ids, {
		disabled,
		fieldsOf,
		beforeChange: async () => await Promise.resolve(refusal),
		onSwitched: (id) => switchedIds.push(id),
		routes: {
			storePath: '/store',
			signal: virtualTime(stopped ? 0 : Infinity).signal,
			send: calling(({ body }) => {
				const rows = JSON.parse(String(body)) as unknown[];
				return sent.push(rows) === failing ? answered(403) : success(answer ?? rows);
			}),
		},
	});
	return { sent, switchedIds, failure };
}

const many = Array.from({ length: 150 }, (_, n) => `d${n}`);

it('sends a hundred documents at a time, with their fields, and reports each once', async () => {
	const fieldsOf = (id: string) => (id === 'd0' ? { name: 'A' } : {});
	const { sent, switchedIds } = await switched(many, { disabled: false, fieldsOf });
	expect(sent.map(({ length }) => length)).toEqual([100, 50]);
	expect(sent[0]?.slice(0, 2)).toEqual([
		{ name: 'A', id: 'd0', disabled: false },
		{ id: 'd1', disabled: false },
	]);
	expect(switchedIds).toEqual(many);
});

const { failure: refusal } = answered(422) as { failure: Failure };
it.each<[string, Switched, object]>([
	['the memory refuses the change', { refusal }, { failure: refusal }],
	['the execution was stopped', { stopped: true }, { failure: undefined }],
])('sends nothing when %s', async (_, how, came) => {
	expect(await switched(['a'], how)).toMatchObject({ sent: [], switchedIds: [], ...came });
});

it('stops at a failure, and at an answer that does not list the documents', async () => {
	const { failure, switchedIds } = await switched(many, { failing: 2 });
	expect([failure?.status, switchedIds.length]).toEqual([403, 100]);
	const other = await switched(['a'], { answer: [] });
	expect(other.failure?.reason).toBe('it does not list the documents that it should');
});
