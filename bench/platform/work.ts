import type { IExecuteFunctions } from 'n8n-workflow';

/** What the node `platform` is to do, which it cannot be given as a parameter. */
export interface PlatformWork {
	/** Gives how many documents were confirmed. */
	run: (context: IExecuteFunctions) => Promise<number>;
}

export const platformWork: PlatformWork = { run: async () => 0 };
