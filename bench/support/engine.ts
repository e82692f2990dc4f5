import type { IBinaryData, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import type { Readable } from 'node:stream';

import { projectRoot } from '../../host/paths';
import type { CredentialData } from '../../test/engine/support/credentials';
import { createNodeEngine } from '../../test/engine/support/nodeEngine';
import { platformPackage } from '../platform/platformPackage';

/** n8n's real engine, set up once, with one node in it. */
export interface Engine {
	/** Runs the node over the items and gives the items of its output. */
	run: (parameters: INodeParameters, items: INodeExecutionData[]) => Promise<INodeExecutionData[]>;
	/** Stores a file as n8n's file-system binary data. */
	storeFile: (
		content: Buffer | Readable,
		fileName: string,
		mimeType: string,
	) => Promise<IBinaryData>;
}

/** Sets up the engine of the tests for a measurement: an error of the node is thrown. */
export async function createEngine(
	/** Ours as it was built, or what n8n itself takes. */
	measured: 'xpertAi' | 'platform',
	credential: CredentialData,
): Promise<Engine> {
	const other = { packageFolder: platformPackage(), name: measured };
	const engine = await createNodeEngine(projectRoot, measured === 'xpertAi' ? undefined : other);
	return {
		storeFile: engine.binary,
		run: async (parameters, items) => {
			const { items: output, error } = await engine.run({ parameters, credential, items });
			if (error) throw error;
			return output;
		},
	};
}
