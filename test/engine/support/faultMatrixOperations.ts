import type { INodeParameters } from 'n8n-workflow';

import { isCoded, isFileBody } from '../../../nodes/XpertAi/execution/operation';
import type { Operation } from '../../../nodes/XpertAi/execution/operation';
import { answerOf, calledBy, goodParameters, titleOf } from './caseOperations';
import { ALL_CASES } from './cases';

/** Operations that meet faults in the same way. */
export const KINDS = ['write', 'update', 'read', 'upload', 'withIds', 'withoutIds', 'run'] as const;
export type Kind = (typeof KINDS)[number];

/** How `docs/reliability.md` names the kinds. */
export const KIND_TITLES: Record<Kind, string> = {
	write: 'Writes',
	update: 'Updates',
	read: 'Reads',
	upload: 'Uploads',
	withIds: 'Submit, with IDs',
	withoutIds: 'Submit, without IDs',
	run: 'Run and Wait',
};

/** What is said to the assistant. */
export const ASKED = 'hello there';

/** An operation of the catalogue and a good call of it. */
export interface MatrixOperation {
	name: string;
	kind: Kind;
	parameters: INodeParameters;
	/** JSON a server without fault answers. */
	answer: string;
}

const ID = '2f78e81b-096f-42ff-8ac0-8403fd81392d';
const OTHER_ID = '0f0b5d29-99cd-433a-8aed-09da49af709a';

/** Documents in one batch; each fault meets all of them. */
export const DOCUMENTS = 2;

/** In which way an operation meets faults: it says itself what may be sent twice. */
function kindOf(operation: Operation): Kind {
	if (isCoded(operation)) return 'run';
	const { body, method, repeatable } = operation;
	if (body && isFileBody(body)) return 'upload';
	if (!repeatable) return 'write';
	return method === 'PUT' ? 'update' : 'read';
}

/** Every operation of the catalogue; Submit twice, because IDs decide what may be sent again. */
export function matrixOperations(): MatrixOperation[] {
	const others = ALL_CASES.filter(({ endpoint }) => endpoint !== 'E3').map(
		(one): MatrixOperation => ({
			name: `${one.endpoint} ${titleOf(one)}`,
			kind: kindOf(calledBy(one)),
			parameters: goodParameters(one),
			answer: JSON.stringify(answerOf(one)),
		}),
	);
	return [...others, submit('withIds'), submit('withoutIds')];
}

/** A list of the editor, as the fault server sees it. */
export function listOperation(method: 'searchAssistants' | 'searchThreads'): MatrixOperation {
	const answers = {
		searchAssistants: [{ assistant_id: ID, name: 'one' }],
		searchThreads: { items: [{ id: ID, threadId: 't', title: 'one' }], total: 1 },
	};
	return { name: method, kind: 'read', parameters: {}, answer: JSON.stringify(answers[method]) };
}

function submit(kind: 'withIds' | 'withoutIds'): MatrixOperation {
	const documents = [
		{ id: ID, name: 'one' },
		{ id: OTHER_ID, name: 'two' },
	];
	return {
		name: `E3 document: submit (${kind})`,
		kind,
		parameters: {
			resource: 'document',
			operation: 'submit',
			afterStoring: 'nothing',
			knowledgebaseId: ID,
			source: 'json',
			jsonBody: JSON.stringify(documents),
			documentIdMode: kind === 'withIds' ? 'field' : 'server',
			options: { retryMinutes: 0.05 },
		},
		answer: JSON.stringify(documents),
	};
}
