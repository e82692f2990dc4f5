import compact from 'lodash/compact';

import type { Execution } from '../../../execution/operation';
import type { MemoryPlace, MemoryTroubles } from '../../../ingest/memory';
import { derivedId } from '../../../payloads/derivedId';
import { buildPath } from '../../../transport/api';
import { call, OutageBudget, type Call, type RetryLimits } from '../../../transport/call';
import { systemClock } from '../../../transport/clock';
import { failureMessage } from '../../../transport/failure';
import type { Send } from '../../../transport/request';
import { getStatus, startProcessing } from '../processing';
import type { Source } from './settings';
import { asHint, counted } from './wording';

/** Stores documents, or changes existing ones (E3). */
export const STORE_PATH = '/knowledges/{knowledgebaseId}/bulk';

/**
 * The routes of a knowledgebase: storing (E3), and processing and its statuses (of Xpert). Their requests can safely be
 * repeated, and share one outage budget.
 */
export function knowledgebaseRoutes(
	knowledgebaseId: string,
	send: Send,
	{ retryLimits, timeoutMs }: { retryLimits: RetryLimits; timeoutMs: number },
	signal?: AbortSignal,
) {
	const outageBudget = new OutageBudget(retryLimits);
	const client = { send, clock: systemClock, signal, outageBudget };
	return {
		storePath: buildPath(STORE_PATH, { knowledgebaseId }),
		startPath: buildPath(startProcessing.path, { knowledgebaseId }),
		statusPath: (ids: string[]) =>
			buildPath(getStatus.path, { knowledgebaseId, documentIds: ids.join(',') }),
		send: async <Answer>(request: Omit<Call<Answer>, 'repeatable'>) =>
			await call(client, { timeoutMs, repeatable: true, ...request }),
		clock: systemClock,
		signal,
	};
}

/**
 * The owner of keys: the knowledgebase or, if it is named, the source. So two sources may use one key for two
 * documents.
 *
 * @param sourceName empty if the source has no name
 */
export function keyOwner(knowledgebaseId: string, sourceName: string): string {
	return sourceName === '' ? knowledgebaseId : derivedId(knowledgebaseId, `source ${sourceName}`);
}

/**
 * The place of a source's memory. The source is identified by its name, or else by the IDs of workflow and node,
 * whatever their names are; and by its shard.
 */
export function memoryPlaceOf(
	knowledgebaseId: string,
	{ sourceName, shard }: Source,
	context: Execution['context'],
): MemoryPlace {
	const { id: workflowId, name: workflowName = '' } = context.getWorkflow();
	const { id, name } = context.getNode();
	const [source, ...titles] =
		sourceName === ''
			? [`node ${id} of workflow ${workflowId ?? workflowName}`, workflowName, name]
			: [`name ${sourceName}`, sourceName];
	const part = shard && `shard ${shard}`;
	return {
		knowledgebaseId,
		owner: keyOwner(knowledgebaseId, sourceName),
		source: compact([source, part]).join(', '),
		title: compact([...titles, part]).join(', '),
	};
}

/** The hints about what went wrong with the memory. */
export function troubleHints({ noRoute, lost, notWritten, notAsked }: MemoryTroubles): string[] {
	const documents =
		lost?.count === undefined ? 'documents' : `up to ${counted(lost.count, 'document')}`;
	return compact([
		noRoute && 'Nothing is left out: this server does not give back what earlier runs have stored.',
		lost &&
			`Notes from before ${lost.at.slice(0, 10)} are missing: ${documents} may still be found although they left the source. See "Forget Earlier Damage".`,
		notWritten &&
			asHint(
				`The memory was not written completely: the next run completes it. ${failureMessage(notWritten)}`,
			),
		notAsked &&
			asHint(`Not known: whether unchanged documents are still there. ${failureMessage(notAsked)}`),
	]);
}
