import { FakeClock, startSandbox, type FaultRule, type Sandbox } from '../../sandbox';
import { clientFor } from './support/client';
import { withHappenings } from './support/happenings';
import { NOT_SENT } from './support/notReproduced';
import { RECORDED_LAST_OF_ALL } from './support/filteredServer';
import { BEFORE_ITS_HELPER, QUOKKAS } from './support/recordedServers';
import { sequences, type SequenceExchange } from './support/recordings';
import { Player } from './support/sequences';
import { playInTime } from './support/timeline';

const RECORDINGS = [
	'one-question-1',
	'one-question-2',
	'one-question-3',
	'one-question-4',
	'one-question-5',
	'one-question-6',
	'server-killed',
	'server-and-streams',
	'two-processes',
	'one-thread-two-conversations',
	'one-thread-status-null',
	'one-thread-first-messages-race',
	'one-thread-two-owners-2',
	'decision-after-stream',
	'dead-run-next-question',
	'cancel-of-ended-runs',
];

const MODEL = 'f0000000-0000-4000-8000-000000000001';
const BEGAN = Date.parse('2026-11-25T15:00:00.000Z');

/** How long a run takes that nothing makes slow, and processing a document, in milliseconds. */
const RUN_MS: Record<string, number> = {
	'one-question-2': 1200,
	'two-processes': 1200,
	'server-killed': 1200,
};
const USUAL_MS = 600;
const PROCESS_MS = 16_000;

/** How the runs went that were slower than they were told to be, as the server was slow, or that were overtaken. */
const RUNS: Array<{
	title: RegExp;
	rule: Omit<FaultRule, 'do'> & { ms: number; outcome?: 'overtaken' };
}> = [
	{ title: /a mark in message.input/, rule: { endpoint: 'E4', ms: 4500 } },
	{ title: /SLOW3000 lost,/, rule: { endpoint: 'E4', ms: 5250 } },
	{ title: /SLOW3000 lost early/, rule: { endpoint: 'E4', ms: 4200 } },
	{ title: /FAIL lost/, rule: { endpoint: 'E4', ms: 860 } },
	{ title: /two E13 with one threadId/, rule: { endpoint: 'runs', nth: 1, ms: 3500 } },
	{ title: /E15 answers from the conversation/, rule: { endpoint: 'runs', nth: 1, ms: 3500 } },
	{
		title: /^two first messages .E13 and E4/,
		rule: { endpoint: 'E4', nth: 1, ms: 1500, outcome: 'overtaken' },
	},
	{ title: /^two first messages .E13 and E4/, rule: { endpoint: 'E4', nth: 2, ms: 2000 } },
];

const FILES = 'public/files/b3c331fa-a335-4479-8b29-34fadc619fa8';

/** What the knowledgebase had. */
const DOCUMENTS = [
	{
		id: 'eefdba0a-d7cd-44d0-8199-15e110926e75',
		name: 'quokka.txt',
		file: 'files-1795615845206-c04984.txt',
		text: 'The quokka lives on Rottnest Island. Quokkas eat grass at night.',
	},
	{
		id: 'ac6ff836-af57-4f2e-bbaf-87fc8d9983d4',
		name: 'numbat.txt',
		file: 'files-1795615845297-8c3276.txt',
		text: 'The numbat eats termites in Australia. Numbats sleep in hollow logs.',
	},
];

function arrange({ store, url }: Sandbox, recording: string, exchanges: SequenceExchange[]): void {
	store.putKnowledgebase({ id: QUOKKAS, name: 'Quokkas', copilotModelId: MODEL });
	for (const { id, name, file, text } of DOCUMENTS) {
		const fileUrl = `${url}/${FILES}/${file}`;
		const fields = { id, knowledgebaseId: QUOKKAS, name, category: 'text', fileUrl };
		store.putFindable(store.putDocument(fields), [text]);
	}
	if (recording === 'one-question-1') store.putAssistant(BEFORE_ITS_HELPER);
	for (const { endpoint, response } of exchanges) {
		if (endpoint !== 'E16' || !('body' in response)) continue;
		const file = response.body as UploadedFile;
		const head = Buffer.from('A sentence. '.repeat(1000).slice(0, file.size));
		const fileUrl = file.url.replace('{base_url}', url);
		store.putFile({ ...file, url: fileUrl }, { size: head.length, head });
	}
}

interface UploadedFile {
	originalName: string;
	size: number;
	url: string;
}

/** Which of several conversations on a thread a database gives first is chance: it is what was recorded. */
function first(player: Player, { response }: SequenceExchange): void {
	const { metadata } = ('body' in response ? response.body : {}) as { metadata?: { id?: string } };
	const { store } = player.sandbox;
	const conversation = store.conversations.get(player.substitution.apply(metadata?.id ?? ''));
	if (conversation) store.comesFirst(conversation);
}

describe.each(RECORDINGS)('the recording %s', (name) => {
	let sandbox: Sandbox;

	afterEach(() => sandbox.close());

	const played = [...sequences(name)].filter(([, all]) => all.some((one) => !NOT_SENT(one)));

	it.each(played)('is replayed in time: %s', async (title, exchanges) => {
		const clock = new FakeClock(BEGAN);
		const times = { runMs: RUN_MS[name] ?? USUAL_MS, processMs: PROCESS_MS };
		sandbox = await startSandbox({ ...RECORDED_LAST_OF_ALL, ...times, clock });
		arrange(sandbox, name, exchanges);
		for (const run of RUNS)
			if (run.title.test(title)) sandbox.faults.add({ do: 'run', ...run.rule });
		const timed = withHappenings(exchanges);
		const player: Player = new Player(timed, sandbox, clientFor(sandbox), clock, (exchange) => {
			if (exchange.endpoint === 'E15') first(player, exchange);
		});
		await playInTime(player);
	});
});
