import { attempt } from 'lodash';
import {
	type INode,
	type INodeExecutionData,
	NodeApiError,
	NodeOperationError,
} from 'n8n-workflow';

import {
	NO_ANSWER_CHAT_TEXT,
	failureAsReply,
	hideReasonFromChat,
	replyOrThrow,
} from 'nodes/XpertAi/execution/outputs';
import { isInStreamingChat } from 'nodes/XpertAi/execution/n8nExecution';
import { apiError } from 'nodes/XpertAi/execution/apiError';
import { itemOf } from '../../support/context';
import { node } from '../../support/node';

/**
 * By which a host knows a failed item (`handleNodeErrorOutput` in n8n-core's `workflow-execute.js`): n8n-core
 * 1.122.48 (n8n 1.123.81) and 2.8.1 (n8n 2.8.4), and 2.41.1.
 */
const RULES: Array<[string, (item: INodeExecutionData) => boolean]> = [
	[
		'older',
		({ error, json }) => {
			const keys = Object.keys(json).length;
			return Boolean(error ?? (json.error && (keys === 1 || (json.message && keys === 2))));
		},
	],
	[
		'newer',
		({ error, json }) => {
			const isKnown = (key: string) => ['error', 'message', 'details'].includes(key);
			return Boolean(error ?? (json.error && Object.keys(json).every(isKnown)));
		},
	],
];

/** What every one of these hosts puts out: it drops the JSON beside an enumerable `error`. */
const putOut = ({ json, error }: INodeExecutionData) =>
	error === undefined ? json : { error: error.message };

describe('a failed item', () => {
	const itemAt = (onError: INode['onError']) =>
		itemOf({}, { index: 2, methods: { getNode: () => ({ ...node, onError }) } });
	const failure = {
		kind: 'status' as const,
		status: 404,
		requestId: 'r',
		method: 'GET',
		path: '/',
	};

	it.each(RULES)('is known to %s hosts, which keep all of it', (_, isFailed) => {
		const error = apiError(failure, { node });
		const facts = { outcome: 'rejected', of: undefined };
		const item = itemAt('continueErrorOutput').failureOutput(error, facts);
		expect(isFailed(item)).toBe(true);
		const { message, description } = error;
		expect(putOut({ ...item })).toEqual({
			error: message,
			details: {
				outcome: 'rejected',
				description,
				httpCode: '404',
				request: 'GET /',
				requestId: 'r',
			},
		});
		expect(Object.keys(item)).toEqual(['json', 'pairedItem']);
		expect(item.pairedItem).toEqual({ item: 2 });
	});

	it('has no mark where it stays on the one output', () => {
		const error = new NodeOperationError(node, 'no');
		const item = itemAt('continueRegularOutput').failureOutput(error, { outcome: 'rejected' });
		expect(putOut(item)).toEqual({ error: 'no', details: { outcome: 'rejected' } });
	});

	it('leaves out what there is none of', () => {
		const { json } = itemOf({}).failureOutput(new NodeOperationError(node, 'no'));
		expect(json).toEqual({ error: 'no', details: {} });
	});
});

it.each([
	['the node', () => new NodeOperationError(node, 'No', { description: 'for the builder' })],
	[
		'the server',
		() => new NodeApiError(node, {}, { message: 'No', description: 'for the builder' }),
	],
])('visitors of a chat do not read the description of an error of %s', (_, errorOf) => {
	const error = errorOf();
	expect(hideReasonFromChat(error)).toBe(error);
	expect([error.description, error.messages.at(-1)]).toEqual([
		NO_ANSWER_CHAT_TEXT,
		'for the builder',
	]);
});

it('an error of another kind is thrown on as it is', () => {
	const error = new Error('broken');
	expect(hideReasonFromChat(error)).toBe(error);
	expect(error).not.toHaveProperty('description');
});

it('a failure as a reply names no ID in its words, and those of its run beside them', () => {
	const id = '2f78e81b-096f-42ff-8ac0-8403fd81392d';
	const error = new NodeOperationError(node, `The run ${id} of ${id} failed`);
	error.context.data = { threadId: 't', runId: 'r', verdict: 'timeout', other: 1 };
	const output = 'The run … of … failed';
	expect(failureAsReply(error, itemOf({}))).toEqual({
		output,
		threadId: 't',
		runId: 'r',
		status: 'timeout',
	});
	error.context.data = undefined;
	expect(failureAsReply(error, itemOf({}))).toEqual({ output, status: 'failed' });
});

it.each([
	['a tool replies', 'xpertAiTool', {}, false, true],
	[
		'a tool in which that is switched off does not reply',
		'xpertAiTool',
		{ options: { failuresAsReplies: false } },
		false,
		false,
	],
	['a tool that was stopped does not reply', 'xpertAiTool', {}, true, false],
	['a node does not reply', 'xpertAi', {}, false, false],
])('%s with a failure', (_, type, given, stopped, replies) => {
	const item = itemOf(given, {
		methods: {
			getNode: () => ({ ...node, type }),
			getExecutionCancelSignal: () => (stopped ? AbortSignal.abort() : undefined),
			isStreaming: () => true,
		},
	});
	const [caught, json] = [new Error('no'), { output: 'no', status: 'failed' }];
	expect(attempt(() => replyOrThrow(caught, item.context, item))).toEqual(
		replies ? [{ json, pairedItem: { item: 0 } }] : caught,
	);
	expect(isInStreamingChat(item.context)).toBe(type === 'xpertAi');
});
