import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { createEngine } from '../support/engine';
import type { Measured } from '../support/engine';
import type { Target } from '../support/server';
import type { Load, Ready } from './contender';

/** A contender that runs a node in n8n's engine, with each document as an item. */
export async function inEngine(
	measured: Measured,
	{ credential }: Target,
	parameters: INodeParameters,
	confirmed: (output: IDataObject[]) => number,
): Promise<(load: Load) => Ready> {
	const engine = await createEngine(measured, credential);
	return ({ documents }) => {
		const items = documents.map((json) => ({ json: json as IDataObject }));
		return async () => {
			const output = await engine.run(parameters, items);
			return confirmed(output.map(({ json }) => json));
		};
	};
}
