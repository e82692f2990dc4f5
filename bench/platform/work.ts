import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

/** What the node `platform` is to do, which it cannot be given as a parameter. */
export interface PlatformWork {
	/** The parameters it is to resolve. */
	properties: INodeProperties[];
	/** Gives how many documents were confirmed. */
	run: (context: IExecuteFunctions) => Promise<number>;
}

export const platformWork: PlatformWork = { properties: [], run: async () => 0 };
