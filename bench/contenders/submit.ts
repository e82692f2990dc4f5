import type { INodeParameters } from 'n8n-workflow';

import { byId } from '../../test/engine/support/locators';
import type { Task } from './contender';
import { inEngine } from './inEngine';
import { byHand, byName } from './mapping';

/** What Submit does by default: the documents are processed, and it waits for that. */
const PROCESSED: INodeParameters = { afterStoring: 'wait' };

/** Document: Submit, as built, in n8n's engine. */
async function submission(task: Task, parameters: INodeParameters, options: INodeParameters = {}) {
	const { target, batchSize, concurrency } = task;
	const all: INodeParameters = {
		resource: 'document',
		operation: 'submit',
		source: 'fields',
		knowledgebaseId: byId(target.knowledgebaseId),
		...parameters,
		options: { afterStoring: 'nothing', batchSize, concurrency, ...options },
	};
	return await inEngine('xpertAi', target, all, (output) => {
		const [first] = output;
		if (typeof first?.stored === 'number') return first.stored;
		const done = options === PROCESSED ? ['found'] : ['stored', 'unchanged'];
		return output.filter(({ outcome }) => done.includes(String(outcome))).length;
	});
}

/** Columns are mapped by name; one item comes out for each document. */
export const submit = async (task: Task) =>
	await submission(task, { documentFields: await byName() });

/** Four fields are mapped by hand. */
export const submitByHand = async (task: Task) =>
	await submission(task, { documentFields: await byHand() });

/** Mapped by hand; one item comes out for all. */
export const submitSummary = async (task: Task) =>
	await submission(task, { documentFields: await byHand() }, { output: 'summary' });

/** Mapped by hand; what an earlier run has stored is not sent again. */
export const submitSkipping = async (task: Task) =>
	await submission(task, { documentFields: await byHand(), mode: 'changed' });

/** Columns are mapped by name; the documents are processed, and waited for. */
export const submitProcessed = async (task: Task) =>
	await submission(task, { documentFields: await byName() }, PROCESSED);

/** Four fields are mapped by hand; the documents are processed, and waited for. */
export const submitByHandProcessed = async (task: Task) =>
	await submission(task, { documentFields: await byHand() }, PROCESSED);
