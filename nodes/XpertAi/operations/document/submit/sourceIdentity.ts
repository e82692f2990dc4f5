import { compact } from 'lodash';

import type { sourceNameAndShard } from '../../../execution/identityFields';
import type { Execution } from '../../../execution/operation';
import type { MemoryPlace } from '../../../ingest/memory';
import { derivedId } from '../../../payloads/ids';

export type SourceSettings = ReturnType<typeof sourceNameAndShard>;

/** Returns the namespace of document keys. Unnamed sources share the namespace of their knowledgebase. */
export function keyNamespace(knowledgebaseId: string, sourceName: string): string {
	return sourceName === '' ? knowledgebaseId : derivedId(knowledgebaseId, `source ${sourceName}`);
}

/** Returns where the memory of a source is kept. The node and workflow identify a source without a name. */
export function memoryPlaceOf(
	knowledgebaseId: string,
	{ sourceName, shard }: SourceSettings,
	context: Execution['context'],
): MemoryPlace {
	const { id: workflowId, name: workflowName = '' } = context.getWorkflow();
	const { id: nodeId, name: nodeName } = context.getNode();
	const isNamed = sourceName !== '';
	const source = isNamed
		? `name ${sourceName}`
		: `node ${nodeId} of workflow ${workflowId ?? workflowName}`;
	const titles = isNamed ? [sourceName] : [workflowName, nodeName];
	const part = shard && `shard ${shard}`;
	return {
		knowledgebaseId,
		idNamespace: keyNamespace(knowledgebaseId, sourceName),
		source: compact([source, part]).join(', '),
		title: compact([...titles, part]).join(', '),
	};
}
