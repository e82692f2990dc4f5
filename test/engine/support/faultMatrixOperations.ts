import type { INodeParameters } from 'n8n-workflow';

import { ALL_CASES } from './cases';
import type { World } from './cases';

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

const KIND_OF: Record<string, Kind> = {
	E2: 'update',
	E4: 'run',
	E5: 'read',
	E7: 'read',
	E8: 'read',
	E9: 'read',
	E12: 'upload',
	E15: 'read',
	E16: 'upload',
	status: 'read',
};

const ANSWERS: Record<string, unknown> = {
	E4: { role: 'ai', content: 'the answer' },
	E5: { items: [{ id: ID }], total: 1 },
	E6: { client_secret: 'session-secret', expires_at: 1, expires_after: 60 },
	E7: [{ assistant_id: ID }],
	E8: { items: [{ namespace: ['a'], key: 'k', value: {} }] },
	E9: 7,
	E11: { namespaces: [['a']] },
	E15: { thread_id: 't', status: 'idle', values: { messages: [] } },
	E17: { raw: [], affected: 1 },
	process: [{ id: ID, status: 'waiting' }],
	status: [{ id: ID, status: 'waiting' }],
};

/** Every operation of the catalogue; Submit twice, because IDs decide what may be sent again. */
export function matrixOperations(): MatrixOperation[] {
	const world: World = {
		knowledgebaseId: ID,
		threadId: ID,
		ranThreadId: ID,
		storageFileId: ID,
		fileContextId: ID,
		filledKnowledgebaseId: ID,
		documentId: ID,
	};
	const others = ALL_CASES.filter(({ endpoint }) => endpoint !== 'E3').map(
		({ endpoint, good }): MatrixOperation => {
			const parameters = good(world);
			return {
				name: `${endpoint} ${String(parameters.resource)}: ${String(parameters.operation)}`,
				kind: KIND_OF[endpoint] ?? 'write',
				parameters,
				answer: JSON.stringify(ANSWERS[endpoint] ?? { id: ID, threadId: 't' }),
			};
		},
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
			knowledgebaseId: ID,
			bodyMode: 'json',
			jsonBody: JSON.stringify(documents),
			documentIdMode: kind === 'withIds' ? 'field' : 'server',
			options: { retryMinutes: 0.05 },
		},
		answer: JSON.stringify(documents),
	};
}
