import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { Fingerprints } from '../../../ingest/fingerprints';

/**
 * What earlier runs of the node have stored, by knowledgebase. Kept in the workflow's static data, which
 * n8n saves after a production execution has ended: a crash loses what this run recorded, which causes a
 * second sending and nothing worse.
 */
export class StoredState {
	private readonly opened = new Map<string, Fingerprints>();

	/** @param fresh forget what was stored before */
	constructor(
		private readonly context: IExecuteFunctions,
		private readonly fresh: boolean,
	) {}

	/** Opens the state of a knowledgebase, the same one each time in an execution. */
	async of(knowledgebaseId: string): Promise<Fingerprints> {
		const known = this.opened.get(knowledgebaseId);
		if (known) return known;
		const kept = this.context.getWorkflowStaticData('node').fingerprints as IDataObject | undefined;
		const fingerprints = Fingerprints.parse(this.fresh ? undefined : kept?.[knowledgebaseId]);
		this.opened.set(knowledgebaseId, fingerprints);
		return fingerprints;
	}

	/** Keeps what was recorded for the next run. */
	async save(): Promise<void> {
		if (this.opened.size === 0) return;
		const data = this.context.getWorkflowStaticData('node');
		const recorded = [...this.opened].map(([id, fingerprints]) => [id, fingerprints.serialize()]);
		data.fingerprints = {
			...(data.fingerprints as IDataObject),
			...(Object.fromEntries(recorded) as IDataObject),
		};
	}
}
