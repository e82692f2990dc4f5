import { execute } from '../../../../../../nodes/XpertAi/operations/thread/run/runById';
import { runByIdFields } from '../../../../../../nodes/XpertAi/operations/thread/run/fields';
import { itemOf } from '../../../../support/context';
import { no, parsing, success } from '../../../../support/send';
import { failure, listed, mine } from '../../../threads/support/answering';

const RUN_ID = 'd0000000-0000-4000-8000-000000000001';
const THREAD_ID = 'd0000000-0000-4000-8000-000000000002';

const RECORD = { run_id: RUN_ID, thread_id: THREAD_ID, assistant_id: 'a', created_at: '1' };

/** What Wait for Run says where E5 first answers with this status. */
async function waited(status: number) {
	let searches = 0;
	const send = parsing(({ path, stream }) => {
		stream?.onEvent({ id: '1', data: '{"type":"event","event":"on_conversation_start"}' });
		stream?.onEvent({ id: '2', data: '{"type":"message","data":{"type":"text","text":"Said"}}' });
		stream?.onEvent({ id: '3', data: '{"type":"complete"}' });
		if (stream) return success('');
		if (path === '/conversations/search')
			return ++searches > 1 ? listed(mine('c', undefined, THREAD_ID)) : no({ ...failure, status });
		const record = { ...RECORD, status: 'success' };
		return success(path.endsWith('/runs') ? [record] : record);
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
	return await execute({ context: item.context, items: [item] }, 'waitForRun');
}

it.each([500, 403])(
	'a run whose record was read is waited for although its conversation is not shown (%i)',
	async (status) => {
		expect(await waited(status)).toMatchObject([{ json: { output: 'Said', status: 'completed' } }]);
	},
);
