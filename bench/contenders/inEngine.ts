import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { createEngine } from '../support/engine';
import type { Measured } from '../support/engine';
import type { Target } from '../support/server';
import type { ReadyDocument } from './contender';

/** A contender that runs a node in n8n's engine, with each document as an item. */
export async function inEngine(
	measured: Measured,
	{ credential }: Target,
	parameters: INodeParameters,
	isConfirmed: (output: IDataObject) => boolean,
): Promise<(documents: IDataObject[]) => ReadyDocument> {
	const engine = await createEngine(measured, credential);
	return (documents) => {
		const items = documents.map((json) => ({ json }));
		return {
			run: async () => {
				const output = await engine.run(parameters, items);
				return output.filter(({ json }) => isConfirmed(json)).length;
			},
		};
	};
}
