import { countBy } from 'lodash';

import { COPILOT_ID, SAYING_ASSISTANT, startSandbox } from '../../sandbox';
import type { Sandbox } from '../../sandbox';
import type { Speech } from '../../sandbox/speech';
import { asObject } from '../../sandbox/values';
import { selfSigned } from '../../test/engine/support/faultMatrixTls';
import { distantPort } from './delay';
import { frontPort } from './front';
import { serve, targetAt } from './server';
import type { Answers, ServerSettings } from './server';

/** A name, which certificates without an address in them can be made for. */
const HOST = 'localhost';

async function main(settings: ServerSettings): Promise<void> {
	const { distance, keepContents = false, processMs } = settings;
	const sandbox = await startSandbox({ logBodies: false, keepContents, processMs });
	const { id } = sandbox.store.putKnowledgebase({ name: 'Benchmark', copilotModelId: COPILOT_ID });
	sandbox.store.putAssistant(SAYING_ASSISTANT);
	const near = targetAt(sandbox.url, sandbox.accessToken, id);
	const answers = answersOf(sandbox, id);
	if (!distance) return serve({ target: near }, answers);
	const { key, cert } = selfSigned(HOST);
	const front = await frontPort(sandbox.url, { key, cert }, distance);
	const url = `https://${HOST}:${await distantPort(front, distance.roundTripMs)}`;
	const target = targetAt(url, sandbox.accessToken, id);
	serve({ target, certificate: cert }, answers);
}

/** The moments of the words of an answer: the ids of events have them. */
function momentsOf(speech: Speech | undefined): number[] {
	const words = (speech?.events ?? []).filter(({ data }) => asObject(data.data).type === 'text');
	return words.map(({ id }) => Number.parseInt(id, 10));
}

function answersOf({ store, requests, faults }: Sandbox, knowledgebaseId: string): Answers {
	return {
		arrived: () => {
			const all = requests.of('E3');
			const bytes = all.reduce((sum, { byteLength = 0 }) => sum + byteLength, 0);
			const counts = { requests: all.length, bytes, documents: store.documents.size };
			return { ...counts, asked: requests.all.length, notes: 0, noteBytes: 0 };
		},
		clear: () => {
			requests.clear();
			faults.clear();
			const knowledgebase = store.knowledgebases.get(knowledgebaseId);
			store.removeKnowledgebase(knowledgebaseId);
			store.putKnowledgebase({ ...knowledgebase, name: 'Benchmark', documentNum: null });
			return true;
		},
		faults: (rules) => {
			faults.add(...rules);
			return true;
		},
		names: () => countBy(store.documentsOf(knowledgebaseId), 'name'),
		said: () => momentsOf([...store.speeches.values()].at(-1)),
	};
}

void main(JSON.parse(process.argv[2] ?? '{}') as ServerSettings);
