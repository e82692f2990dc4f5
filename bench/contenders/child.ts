import { readBodies } from '../support/bodies';
import { watchMemory } from '../support/memory';
import { serveTask } from '../support/processes';
import { bareAxios } from './axios';
import type { ContenderName, Load, Measurement, Ready, Task } from './contender';
import { httpRequest } from './httpRequest';
import { measuredDocuments, warmUpDocuments } from './loads';
import { helper, resolving } from './platform';
import {
	submit,
	submitByHand,
	submitByHandProcessed,
	submitProcessed,
	submitSkipping,
	submitSummary,
} from './submit';

type Contender = (task: Task) => Promise<(load: Load) => Ready>;

const CONTENDERS: Record<ContenderName, Contender> = {
	submit,
	submitByHand,
	submitSummary,
	submitSkipping,
	submitProcessed,
	submitByHandProcessed,
	axios: bareAxios,
	helper,
	resolving,
	httpRequest,
};

const SAMPLE_MS = 50;

serveTask<Task>(async (task): Promise<Measurement> => {
	const prepare = await CONTENDERS[task.contender](task);
	const { warmUp, rest } = task.bodies;
	if (task.warmUp > 0) {
		await prepare({ documents: warmUpDocuments(task), bodies: readBodies(warmUp) })();
	}
	const run = prepare({ documents: measuredDocuments(task), bodies: readBodies(rest) });
	for (let time = 1; time < task.times; time += 1) await run();
	const { result, seconds, cpuSeconds, memory } = await watchMemory(run, SAMPLE_MS);
	const { peakRss, peakHeap } = memory;
	return { seconds, cpuSeconds, documents: result, peakRss, peakHeap };
});
