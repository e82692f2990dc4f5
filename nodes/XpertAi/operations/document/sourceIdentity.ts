import { compact } from 'lodash';

import {
	type ItemParameterReader,
	keyIfGiven,
	type KeyOptions,
} from '../../execution/identityFields';
import type { Execution } from '../../execution/operation';
import type { MemoryPlace } from '../../ingest/memory';
import { derivedId } from '../../payloads/ids';

/** Each part of a name needs a visible character: all tenants without a name would share the source `tenant-`. */
const SOURCE_KEY_OPTIONS: KeyOptions = { needsEveryPart: true };

/** Returns the source name and the shard of an item. Each is `''` if the user left it empty, or cannot fill it in. */
export const sourceNameAndShard = (item: ItemParameterReader) => ({
	sourceName: keyIfGiven(item, 'sourceName', SOURCE_KEY_OPTIONS) ?? '',
	shard: item.hasParameter('options.shard')
		? (keyIfGiven(item, 'options.shard', SOURCE_KEY_OPTIONS) ?? '')
		: '',
});

export type SourceNameAndShard = ReturnType<typeof sourceNameAndShard>;

/** Returns the namespace of document keys. Unnamed sources share the namespace of their knowledgebase. */
export function keyNamespace(knowledgebaseId: string, sourceName: string): string {
	return sourceName === '' ? knowledgebaseId : derivedId(knowledgebaseId, `source ${sourceName}`);
}

/** Returns where the memory of a source is kept. The node and workflow identify a source without a name. */
export function memoryPlaceOf(
	knowledgebaseId: string,
	{ sourceName, shard }: SourceNameAndShard,
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
