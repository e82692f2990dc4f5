import { countBy, sumBy } from 'lodash';

import { COPILOT_ID, startSandbox } from '../../sandbox';
import { startBareServer } from './bareServer';
import { type Answers, type RunningServer, targetAt } from './server';

/** The sandbox with a knowledgebase. */
async function startedSandbox(): Promise<RunningServer> {
	const { store, requests, faults, url, accessToken } = await startSandbox({
		logBodies: false,
		keepContents: false,
	});
	const knowledgebase = { name: 'Benchmark', copilotModelId: COPILOT_ID };
	const { id } = store.putKnowledgebase(knowledgebase);
	const arrived = () => ({
		requests: requests.all.length,
		bytes: sumBy(requests.all, ({ byteLength = 0 }) => byteLength),
		documents: store.documents.size,
		noteBytes: 0,
	});
	const answers: Answers = {
		arrived,
		clear: () => {
			requests.clear();
			faults.clear();
			store.removeKnowledgebase(id);
			store.putKnowledgebase({ ...knowledgebase, id });
			return arrived();
		},
		faults: (rules) => {
			faults.add(...rules);
			return rules;
		},
		names: () => countBy(store.documentsOf(id), 'name'),
	};
	return { target: targetAt(url, accessToken, id), answers };
}

async function main(): Promise<void> {
	const server = process.argv[2] === 'bare' ? startBareServer() : startedSandbox();
	const { target, answers }: RunningServer = await server;
	process.on('message', (question) => {
		const { name, argument } = question as { name: keyof Answers; argument: never };
		const answer = answers[name];
		if (!answer) throw new Error(`This server does not know ${name}`);
		process.send?.(answer(argument));
	});
	process.on('disconnect', () => process.exit());
	process.send?.(target);
}

void main();
