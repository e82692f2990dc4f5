import { execute } from '../../../../../../nodes/XpertAi/operations/thread/run/runById';
import type { OperationById } from '../../../../../../nodes/XpertAi/operations/thread/run/runById';
import { runByIdFields } from '../../../../../../nodes/XpertAi/operations/thread/run/fields';
import { itemOf } from '../../../../support/context';
import { no, parsing, success } from '../../../../support/send';
import { failure, listed, mine } from '../../../threads/support/answering';

const RUN_ID = 'd0000000-0000-4000-8000-000000000001';
const THREAD_ID = 'd0000000-0000-4000-8000-000000000002';

const RECORD = {
	run_id: RUN_ID,
	thread_id: THREAD_ID,
	assistant_id: 'a',
	status: 'success',
	created_at: '1',
};

/** What an operation says of a run that has ended, where the first request to a path is answered otherwise. */
async function said(operation: OperationById, failingPath: string, failing: object) {
	let isFirst = true;
	const send = parsing(({ path, stream }) => {
		if (isFirst && path.endsWith(failingPath)) {
			isFirst = false;
			return no({ ...failure, ...failing });
		}
		stream?.onEvent({ id: '1', data: '{"type":"event","event":"on_conversation_start"}' });
		stream?.onEvent({ id: '2', data: '{"type":"message","data":{"type":"text","text":"Said"}}' });
		stream?.onEvent({ id: '3', data: '{"type":"complete"}' });
		if (stream) return success('');
		if (path === '/conversations/search') return listed(mine('c', undefined, THREAD_ID));
		if (path.endsWith('/messages/search'))
			return success({ items: [{ role: 'ai', content: 'Said', executionId: RUN_ID }] });
		return success(path.endsWith('/runs') ? [RECORD] : RECORD);
	});
	const item = itemOf(
		{ threadId: THREAD_ID, runId: RUN_ID, simplify: true },
		{
			fields: runByIdFields,
			connection: { send, account: 'an account' },
			methods: {
				continueOnFail: () => false,
				getExecutionCancelSignal: () => undefined,
				getParentNodes: () => [],
				logger: {} as never,
			},
		},
	);
	return await execute({ context: item.context, items: [item] }, operation);
}

const ANSWERED = [{ json: { output: 'Said', status: 'completed' } }];

it.each([500, 403])(
	'a run whose record was read is waited for although its conversation is not shown (%i)',
	async (status) => {
		expect(await said('waitForRun', '/conversations/search', { status })).toMatchObject(ANSWERED);
	},
);

it('an answer that is there is not held back by a long pause that the server asks for', async () => {
	const later = { status: 429, retryAfterMs: 3_600_000 };
	expect(await said('getRun', '/context-usage', later)).toMatchObject(ANSWERED);
});
