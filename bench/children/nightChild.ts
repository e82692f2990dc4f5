import { countBy } from 'lodash';

import { byId } from '../../test/engine/support/locators';
import { byName } from '../contenders/mapping';
import { makeDocuments } from '../support/documents';
import { createEngine } from '../support/engine';
import { watchMemory } from '../support/memory';
import { serveTask } from '../support/processes';
import type { Target } from '../support/server';

/** A night of a source: some of its documents are gone, as many have changed, and as many are new. */
export interface NightTask {
	target: Target;
	documents: number;
	documentBytes: number;
	/** How many are gone, changed and new; none in the first night. */
	each: number;
	/** Whether it only shows what the next night would do. */
	dryRun: boolean;
}

/** What came of it. */
export interface NightMeasurement {
	seconds: number;
	cpuSeconds: number;
	/** Items by what was, or would be, done. */
	items: Record<string, number>;
}

const SAMPLE_MS = 1000;

serveTask<NightTask>(async (task): Promise<NightMeasurement> => {
	const { target, dryRun } = task;
	const engine = await createEngine('xpertAi', target.credential);
	const parameters = {
		resource: 'document',
		operation: 'submit',
		source: 'fields',
		knowledgebaseId: byId(target.knowledgebaseId),
		documentFields: await byName(),
		mode: 'mirror',
		sourceName: 'Benchmark',
		options: { afterStoring: 'nothing', dryRun },
	};
	const items = documentsOf(task).map((json) => ({ json }));
	const { result, seconds, cpuSeconds } = await watchMemory(
		async () => await engine.run(parameters, items),
		SAMPLE_MS,
	);
	return { seconds, cpuSeconds, items: countBy(result, ({ json }) => json.plan ?? json.outcome) };
});

function documentsOf({ documents, documentBytes, each }: NightTask) {
	const brought = makeDocuments(documents, documentBytes, each);
	return brought.map((document, index) =>
		index < each ? { ...document, metadata: { revision: 'another' } } : document,
	);
}
