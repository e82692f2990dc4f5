import { readBodies } from '../support/bodies';
import { watchMemory } from '../support/memory';
import { serveTask } from '../support/processes';
import type { Measurement, Task } from './contender';
import { measuredDocuments, warmUpDocuments } from './loads';
import { helper } from './platform';
import { submit } from './submit';

const CONTENDERS = { submit, helper };

const SAMPLE_MS = 50;

serveTask<Task>(async (task): Promise<Measurement> => {
	const prepare = await CONTENDERS[task.contender](task);
	const { warmUp, rest } = task.bodies;
	if (task.warmUp > 0) {
		await prepare({ documents: warmUpDocuments(task), bodies: readBodies(warmUp) })();
	}
	const run = prepare({ documents: measuredDocuments(task), bodies: readBodies(rest) });
	const { result, seconds, cpuSeconds, memory } = await watchMemory(run, SAMPLE_MS);
	const { peakRss, peakHeap } = memory;
	return { seconds, cpuSeconds, documents: result, peakRss, peakHeap };
});
