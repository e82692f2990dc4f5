import type { INodeListSearchResult } from 'n8n-workflow';

import { expectFreshBuild } from '../../../host/freshBuild';
import { projectRoot } from '../../../host/paths';
import type { CredentialData } from './credentials';
import { createNodeEngine, type NodeEngine } from './nodeEngine';

export type { NodeResult } from './nodeEngine';

/** n8n's real execution engine with the built node in it. */
export interface Engine extends NodeEngine {
	/** Asks a picker for a page of its list, as the editor does. */
	listSearch: (
		method: string,
		credential: CredentialData,
		filter?: string,
		paginationToken?: string,
	) => Promise<INodeListSearchResult>;
}

/**
 * Sets up the engine with the node as it was built, which takes a while, so share one a test file.
 *
 * @throws Error when the sources changed since
 */
export async function createEngine(): Promise<Engine> {
	expectFreshBuild(projectRoot);
	const engine = await createNodeEngine(projectRoot);
	return {
		...engine,
		listSearch: async (method, credential, filter, paginationToken) => {
			const search = engine.nodeType.methods?.listSearch?.[method];
			if (!search) throw new Error(`the node has no list search ${method}`);
			return await search.call(engine.loadOptions(credential), filter, paginationToken);
		},
	};
}
