import { makeDocuments } from '../support/documents';
import { watchMemory } from '../support/memory';
import { serveTask } from '../support/processes';
import { bareAxios } from './axios';
import type { Measurement, Task } from './contender';
import { httpRequest } from './httpRequest';
import { submit } from './submit';

const CONTENDERS = { submit, axios: bareAxios, httpRequest };
const SAMPLE_MS = 50;

serveTask<Task>(async (task): Promise<Measurement> => {
	const prepare = await CONTENDERS[task.contender](task);
	if (task.warmUp > 0) await prepare(makeDocuments(task.warmUp, task.documentBytes)).run();
	const { run } = prepare(makeDocuments(task.documents, task.documentBytes));
	const { result, seconds, cpuSeconds, memory } = await watchMemory(run, SAMPLE_MS);
	const { peakRss, peakHeap } = memory;
	return { seconds, cpuSeconds, documents: result, peakRss, peakHeap };
});
