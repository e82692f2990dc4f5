import axios from 'axios';
import { existsSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { range } from 'lodash';

import { preparePackage } from '../../host/nodePackage';
import { SAYING_ASSISTANT } from '../../sandbox';
import { figure, judged, table, withSpread } from '../page/words';
import { byRound, median, numberIn, numbers } from '../run/figures';
import type { Figures, Part, PartResults, Section } from '../run/part';
import { startN8n } from '../support/n8n';
import type { RunningN8n } from '../support/n8n';
import { chatWorkflow } from '../support/n8nWorkflows';
import { NODES_BASE } from '../support/paths';

/** An answer of so many words, with pauses. */
const WORDS = 20;
const PAUSE_MS = 50;
const MESSAGE = `LONG${WORDS} DRIP${PAUSE_MS}`;

const PATH = 'bench-chat';

const AIMS = [
	{
		what: 'a chat in a real n8n that streams: the first piece, after the server wrote it',
		against: 'reading the same stream bare',
		aim: '≤ 100 ms',
	},
];

const NAMES = {
	chat: 'Webhook and Thread: Ask and Wait',
	bare: 'the same stream, read bare',
};

/** An n8n with a chat in it. */
interface Chat {
	n8n: RunningN8n;
	address: string;
}

/** How soon words are there that an assistant says. */
export const chatPart: Part = {
	name: 'chat',
	title: 'Answers as they are written',
	aims: AIMS,
	unavailable: () =>
		existsSync(NODES_BASE) ? undefined : 'n8n is not installed; npm start installs it',
	plan: ({ quick }) => {
		const sizes = { answers: quick ? 2 : 3 };
		let started: Promise<Chat> | undefined;
		const running = async () => await (started ??= warmedUp());
		const entry = (name: string, listen: (chat: Chat) => Promise<number[]>) => ({
			name,
			seconds: sizes.answers * 1.3,
			measure: async () => await measure(await running(), listen, sizes.answers),
			say: (figures: Figures) => `first piece after ${figure(numberIn(figures, 'firstMs'))} ms`,
		});
		return {
			sizes,
			rounds: quick ? 1 : 3,
			together: true,
			entries: [entry(NAMES.chat, throughN8n), entry(NAMES.bare, bare)],
			prepare: async () => await preparePackage(() => undefined),
			close: async () => await (await started)?.n8n.stop(),
		};
	},
	report,
};

async function warmedUp(): Promise<Chat> {
	const n8n = await startN8n();
	const workflow = chatWorkflow(PATH, SAYING_ASSISTANT.id, n8n.credential);
	const chat = { n8n, address: await n8n.publish(workflow, PATH) };
	await throughN8n(chat);
	await bare(chat);
	return chat;
}

/** Asks one question after another; milliseconds from when a word was said until it was there. */
async function measure(
	chat: Chat,
	listen: (chat: Chat) => Promise<number[]>,
	answers: number,
): Promise<Figures> {
	const first: number[] = [];
	const later: number[] = [];
	for (const _ of range(answers)) {
		const came = await listen(chat);
		const said = await chat.n8n.server.ask('said');
		if (came.length !== WORDS || said.length !== WORDS)
			throw new Error(`Of ${WORDS} words, ${said.length} were said and ${came.length} came`);
		const [one = Number.NaN, ...others] = byRound(came, said, (at, from) => at - from);
		first.push(one);
		later.push(...others);
	}
	return {
		firstMs: median(first),
		slowestFirstMs: Math.max(...first),
		laterMs: median(later),
		slowestLaterMs: Math.max(...later),
	};
}

/** When each word came to who has asked in n8n. */
const throughN8n = async ({ address }: Chat): Promise<number[]> =>
	await arrivals(address, { message: MESSAGE }, {}, /"type":"item"/g);

/** When each word came to who asks the server itself. */
async function bare({ n8n }: Chat): Promise<number[]> {
	const { baseUrl, accessToken } = n8n.server.target.credential;
	const headers = { Authorization: `Bearer ${accessToken}`, Accept: 'text/event-stream' };
	const conversation = await axios.post<{ threadId: string }>(
		`${baseUrl}/api/ai/conversations`,
		{ xpertId: SAYING_ASSISTANT.id },
		{ headers, proxy: false },
	);
	const address = `${baseUrl}/api/ai/threads/${conversation.data.threadId}/runs/stream`;
	const body = {
		assistant_id: SAYING_ASSISTANT.id,
		input: { action: 'send', message: { input: { input: MESSAGE } } },
	};
	return await arrivals(address, body, headers, /"type":"text"/g);
}

/** Posts a body and reads the answer as it comes; the moments at which the mark of a word has come. */
async function arrivals(
	url: string,
	body: object,
	headers: Record<string, string>,
	mark: RegExp,
): Promise<number[]> {
	const options = { responseType: 'stream', headers, proxy: false } as const;
	const { data } = await axios.post<Readable>(url, body, options);
	const came: number[] = [];
	let text = '';
	for await (const piece of data) {
		text += String(piece);
		const count = text.match(mark)?.length ?? 0;
		while (came.length < count) came.push(Date.now());
	}
	return came;
}

function report(results: PartResults): Section {
	const of = (name: string, word: string) => numbers(results, name, word);
	const first = of(NAMES.chat, 'firstMs');
	const { answers = 0 } = results.sizes;
	const columns = ['firstMs', 'slowestFirstMs', 'laterMs', 'slowestLaterMs'];
	return {
		aims: [judged(AIMS[0], first, (ms) => ms <= 100, { digits: 0, unit: ' ms' })],
		text: `
An assistant says ${WORDS} words with pauses of ${PAUSE_MS} ms, ${figure(answers)} times one after another. A Webhook in the response mode _Streaming_ and Thread: Ask and Wait, in an n8n that was started for this, hand them to a client; beside it the client reads the stream of the server itself. Milliseconds from when the server said a word until the client had it, the middle of a round and the slowest of it.

${table(
	['', 'first word', 'slowest first', 'later words', 'slowest later'],
	Object.values(NAMES).map((name) => [
		name,
		...columns.map((column) => withSpread(of(name, column), 0, ' ms')),
	]),
)}
`,
	};
}
