import type { IDataObject } from 'n8n-workflow';

import { Fingerprints } from '../../ingest/fingerprints';
import type { OperationContext } from '../operation';

/** What earlier runs of the node have stored in a knowledgebase. */
export interface StoredState {
	fingerprints: Fingerprints;
	/** Puts the state into the workflow's static data, which n8n saves after a production execution. */
	save: () => void;
}

/**
 * Opens the state of a knowledgebase. n8n saves static data only when the execution has ended, so a
 * crash loses what this run recorded, which causes a second sending and nothing worse.
 *
 * @param fresh forget what was stored before
 */
export function storedState(
	context: OperationContext['context'],
	knowledgebaseId: string,
	fresh: boolean,
): StoredState {
	const data = context.getWorkflowStaticData('node');
	const all = (data.fingerprints ?? {}) as IDataObject;
	const fingerprints = Fingerprints.parse(fresh ? undefined : all[knowledgebaseId]);
	return {
		fingerprints,
		save: () => {
			data.fingerprints = {
				...(data.fingerprints as IDataObject),
				[knowledgebaseId]: fingerprints.serialize(),
			};
		},
	};
}

/** Has the next run send documents again: what is stored but not processed as asked is not done. */
export function forgetStored(
	context: OperationContext['context'],
	knowledgebaseId: string,
	ids: string[],
): void {
	// Reading and writing the state takes its time where many documents are remembered.
	if (ids.length === 0) return;
	const { fingerprints, save } = storedState(context, knowledgebaseId, false);
	for (const id of ids) fingerprints.forget(id);
	save();
}
