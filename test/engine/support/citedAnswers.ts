import type { FaultRule } from 'sandbox';
import { answering } from './faults';

function secondAnswersFirst(): string {
	const found = (id: string) => ({
		chunkId: id,
		documentId: `of ${id}`,
		documentName: `${id}.md`,
	});
	const looks = (id: string, data: object) => ({ type: 'component', id, data });
	const cite = (id: string) =>
		`[⟦1⟧](xpert://knowledgebase/chunk?documentId=of%20${id}&chunkId=${id})`;
	const said = `Stripes ${cite('zebra')}, spines ${cite('cactus')}.`;
	const messages = [
		looks('one', { tool: 'retriever-1', status: 'running' }),
		looks('two', { tool: 'retriever-2', status: 'running' }),
		looks('two', { status: 'success', output: [found('cactus'), found('agave')] }),
		looks('one', { status: 'success', output: [found('zebra')] }),
		{ type: 'text', id: 'm', text: said },
	];
	const end = { event: 'on_conversation_end', data: { status: 'idle' } };
	const events = [
		{ type: 'event', event: 'on_conversation_start', data: {} },
		...messages.map((data) => ({ type: 'message', data })),
		{ type: 'event', ...end },
		{ type: 'complete' },
	];
	return events.map((one, n) => `id: 1-${n}\ndata: ${JSON.stringify(one)}\n\n`).join('');
}

/**
 * A run that asks two knowledgebases in one step. The second one answers first, and the text cites the first one first.
 */
export const SECOND_ANSWERS_FIRST: FaultRule = answering('join', 200, {
	body: secondAnswersFirst(),
	contentType: 'text/event-stream',
});
