import { cloneDeepWith } from 'lodash';

import { cleanAnswer } from 'nodes/XpertAi/transport/cleanAnswer';
import { redactor } from 'nodes/XpertAi/transport/redact';

const TOKEN = 'sk-x-s3cret/4711+"q"';
const redact = redactor(TOKEN);

describe('the words in an answer', () => {
	it.each([
		[
			'in an error',
			{ error: `no ${TOKEN}`, status: 'error' },
			{ error: 'no ***', status: 'error' },
		],
		[
			'deep in an error',
			{ a: [{ error: { deep: [TOKEN, 1, null] } }] },
			{ a: [{ error: { deep: ['***', 1, null] } }] },
		],
		[
			'in words of processing, not in a name',
			{ processMsg: TOKEN, name: TOKEN },
			{ processMsg: '***', name: TOKEN },
		],
		['in words of a rebuild', { embeddingRebuildError: TOKEN }, { embeddingRebuildError: '***' }],
		[
			'in the name of a task',
			{ tasks: [{ name: TOKEN, call: TOKEN }] },
			{ tasks: [{ name: '***', call: TOKEN }] },
		],
		[
			'not in the call of a task',
			{ tasks: [{ call: { name: TOKEN } }] },
			{ tasks: [{ call: { name: TOKEN } }] },
		],
		[
			'in what a tool says that failed, not in what one has found',
			[{ output: `Error: Bearer ${TOKEN}` }, { output: `An Error: ${TOKEN}` }],
			[{ output: 'Error: Bearer ***' }, { output: `An Error: ${TOKEN}` }],
		],
		// Other tokens that a tool has found stay, because a workflow may need them.
		...Object.entries({
			'in what goes into a tool': { type: 'component', data: { input: { deep: [TOKEN] } } },
			'in what comes out of a tool, without the tokens of others': {
				type: 'component',
				data: { output: `Bearer other-123 ${TOKEN}` },
			},
			'in the passages that a step has found': {
				type: 'component',
				data: { data: [{ pageContent: TOKEN }] },
			},
			'in the calls of a message': { tool_calls: [{ args: { url: TOKEN } }], content: 'x' },
			'in the result of a call': { tool_call_id: 'call_1', content: [{ text: TOKEN }] },
		}).map(([name, part]): [string, unknown, unknown] => [
			name,
			part,
			cloneDeepWith(part, (text: unknown) =>
				typeof text === 'string' ? text.replace(TOKEN, '***') : undefined,
			),
		]),
		[
			'not in a text of the assistant',
			{ type: 'text', data: TOKEN, content: TOKEN },
			{ type: 'text', data: TOKEN, content: TOKEN },
		],
		[
			'not in the metadata of a document',
			{ metadata: { error: TOKEN, tasks: [{ name: TOKEN }] }, error: { metadata: [TOKEN] } },
			{ metadata: { error: TOKEN, tasks: [{ name: TOKEN }] }, error: { metadata: ['***'] } },
		],
		// They are compared byte by byte.
		[
			'not in notes of the node',
			{ processMsg: `n8n-memory-1:${TOKEN}` },
			{ processMsg: `n8n-memory-1:${TOKEN}` },
		],
		[
			'not in fields with other names',
			{ error: '', errors: TOKEN, lasterror: TOKEN, title: `Error: ${TOKEN}`, pages: [TOKEN] },
			{ error: '', errors: TOKEN, lasterror: TOKEN, title: `Error: ${TOKEN}`, pages: [TOKEN] },
		],
		[
			'with the keys of a provider',
			{ copilot: [{ credentials: 1, modelProvider: { credentials: { a: 1 }, id: 1 } }] },
			{ copilot: [{ modelProvider: { id: 1 } }] },
		],
		...['args', 'metadata', 'value'].map((key): [string, unknown, unknown] => [
			`not what a user calls credentials in ${key}`,
			{ [key]: { modelProvider: { credentials: 1 }, deep: [{ credentials: 1 }], credentials: 2 } },
			{ [key]: { modelProvider: {}, deep: [{ credentials: 1 }], credentials: 2 } },
		]),
		['not in a list of texts', [TOKEN], [TOKEN]],
		['not in nothing', null, null],
	])('are hidden %s', (_, answer, redacted) => {
		cleanAnswer(answer, redact);
		expect(answer).toEqual(redacted);
	});
});
