import type { StructuredChunk } from 'n8n-workflow';

import { type FaultRule, INTERRUPTING_INPUT } from 'sandbox';
import { byId } from './support/locators';
import { SECOND_ANSWERS_FIRST } from './support/citedAnswers';
import { answering, ask, newThreads, says, useRuns, putKnowing } from './support/runs';

const { fixture, add, newThread } = useRuns();

/** Says something where a chat shows what comes. */
async function chat(
	messages: string[],
	parameters = {},
	onError?: 'continueRegularOutput',
	mode?: 'integrated',
) {
	const threads = await newThreads(fixture.sandbox, messages.length);
	const chunks: StructuredChunk[] = [];
	const result = await fixture.run(ask(parameters), {
		items: messages.map((message, index) => says(threads[index] ?? '', message)),
		onChunk: (chunk) => chunks.push(chunk),
		...(onError && { onError }),
		...(mode && { mode }),
	});
	const shown = (item: number) => {
		const own = chunks.filter(
			({ type, metadata }) => type === 'item' && metadata.itemIndex === item,
		);
		return own.map(({ content }) => content).join('');
	};
	return { ...result, threads, chunks, shown, json: result.items[0]?.json };
}

/** What visitors are told where there is no answer. */
const SORRY = 'Sorry, there is no answer right now, please try again later.';

const sent = () => fixture.sandbox.requests.of('runs').length;

describe('a chat in which answers appear as they are written', () => {
	it('begins, has the answer in pieces, and ends', async () => {
		const { chunks, shown, json } = await chat(['Hello to you']);
		expect(chunks.map(({ type }) => type).join(' ')).toMatch(/^begin item (item )+end$/);
		expect(shown(0)).toBe('Echo: Hello to you');
		expect(json).toMatchObject({
			output: 'Echo: Hello to you',
			status: 'completed',
		});
		expect(sent()).toBe(1);
		expect(fixture.sandbox.requests.of('E4')).toEqual([]);
	});

	it('has each item by itself', async () => {
		const { shown, chunks } = await chat(['one', 'two']);
		expect([shown(0), shown(1)]).toEqual(['Echo: one', 'Echo: two']);
		expect(chunks.filter(({ type }) => type === 'begin')).toHaveLength(2);
		expect(chunks.filter(({ type }) => type === 'end')).toHaveLength(2);
	});

	it('has a break between what is said before a look and after it, and numbers for links', async () => {
		const { shown, json } = await chat(['ASK CITE SAY zebra'], putKnowing(fixture.sandbox));
		expect(shown(0)).toMatch(
			/^Let me look that up\. ?\n\nHere is what I found: [^[]* \[1\]\.\n\nSources:\n- \[1\] zebra\.md$/,
		);
		expect(shown(0).endsWith(String(json?.output))).toBe(true);
		expect(json?.sources).toMatchObject([{ number: 1, documentName: 'zebra.md' }]);
	});

	it('numbers sources by the text, though the second knowledgebase answers first, and says it once', async () => {
		add(SECOND_ANSWERS_FIRST);
		const { shown, json } = await chat(['Hello'], { options: { include: ['passages'] } });
		expect(shown(0)).toBe('Stripes [1], spines [2].\n\nSources:\n- [1] zebra.md\n- [2] cactus.md');
		expect(json?.output).toBe(shown(0));
		expect(json?.sources).toMatchObject([
			{ number: 1, documentName: 'zebra.md', cited: true },
			{ number: 2, documentName: 'cactus.md', cited: true },
			{ number: 3, documentName: 'agave.md', cited: false },
		]);
	});

	it('says in plain words that a run waits for a person', async () => {
		const { shown, json } = await chat([`${INTERRUPTING_INPUT} first`]);
		expect(json?.status).toBe('interrupted');
		expect(shown(0)).toBe('This waits for a person to decide: SubAgent (May I answer this?).');
		expect(json?.output).toBe(shown(0));
	});

	it('tells visitors of a failure in one plain sentence; the item has the reason', async () => {
		const zebra = putKnowing(fixture.sandbox, { error: 'the quota is used up' });
		const { shown, items } = await chat(['FAIL'], zebra, 'continueRegularOutput');
		expect(shown(0)).toBe(SORRY);
		expect(items[0]?.json.error).toBe('The run failed: the quota is used up');
	});

	it('tells them so once where the workflow stops, and the builder the reason and the way on', async () => {
		const zebra = putKnowing(fixture.sandbox, { error: 'the quota is used up' });
		const { chunks, error } = await chat(['FAIL'], zebra);
		const said = chunks.filter(({ type }) => type === 'item' || type === 'error');
		expect(said.map(({ type, content }) => [type, content])).toEqual([['error', SORRY]]);
		expect(error?.message).toBe('The run failed: the quota is used up');
		const advice = expect.stringMatching(
			'^The reason comes from the model or a tool of the assistant: correct it there',
		);
		expect(error).toMatchObject({ messages: expect.arrayContaining([advice]) });
	});

	it.each([
		['Stop Workflow', undefined],
		['Continue', 'continueRegularOutput'],
	] as const)(
		'tells them of what was filled in wrongly in the same sentence, with On Error: %s',
		async (_, onError) => {
			const { chunks, error, items } = await chat(
				['Hello'],
				{ assistantId: byId('={{ "" }}') },
				onError,
			);
			const said = chunks.filter(({ content }) => content);
			expect(said.map(({ content }) => content)).toEqual([SORRY]);
			expect(chunks.at(-1)?.type).toBe(onError ? 'end' : 'error');
			expect(error?.message ?? items[0]?.json.error).toContain('"Assistant"');
		},
	);

	it('tells them the reason where failures are to be replies, without ids', async () => {
		const id = '5b0b7a3e-8a4c-4c7e-9a0e-1d2f3a4b5c6d';
		const zebra = putKnowing(fixture.sandbox, { error: `no row (id)=(${id})` });
		const { shown, json } = await chat(['FAIL'], {
			...zebra,
			options: { failuresAsReplies: true },
		});
		expect(shown(0)).toBe('The run failed: no row (id)=(…)');
		expect(json?.output).toBe(shown(0));
	});

	it.each([
		['Hello', 'Echo: Hello'],
		['A\nB', 'Echo: A\nB'],
	])('shows the whole answer as one piece with Whole', async (said, answer) => {
		const { chunks, shown, json } = await chat([said], { options: { showInChat: 'whole' } });
		expect(chunks.map(({ type }) => type)).toEqual(['begin', 'item', 'end']);
		expect(shown(0)).toBe(answer);
		expect(json?.output).toBe(answer);
	});

	it.each<[string, string, 'integrated' | undefined, string]>([
		['nothing before the end, where it is to be whole', 'whole', 'integrated', ''],
		['the answer as it is written', 'asWritten', 'integrated', 'Echo: Hello'],
		['nothing outside of a chat, where it is to be hidden', 'hidden', undefined, ''],
		['nothing in a chat, where it is to be hidden', 'hidden', 'integrated', ''],
	])('shows %s', async (_, showInChat, mode, answer) => {
		// A sub-workflow may be the tool of an agent.
		const { chunks, shown, json } = await chat(
			['Hello'],
			{ options: { showInChat } },
			undefined,
			mode,
		);
		expect(shown(0)).toBe(answer);
		expect(chunks.length > 0).toBe(answer !== '');
		expect(json?.output).toBe('Echo: Hello');
	});

	it('shows nothing of a hidden step that cannot be read', async () => {
		const parameters = { message: '={{ $json.nope }}', options: { showInChat: 'hidden' } };
		const { chunks, json } = await chat(['Hello'], parameters, 'continueRegularOutput');
		expect(chunks).toEqual([]);
		expect(json?.error).toContain('"Message"');
	});

	it.each(['asWritten', 'whole'])(
		'says in words that an answer is empty (%s)',
		async (showInChat) => {
			add({ endpoint: 'runs', do: 'run', outcome: 'empty' });
			const { shown, json } = await chat(['Hello'], { options: { showInChat } });
			expect(shown(0)).toBe('The assistant gave no answer in words.');
			expect(json).toMatchObject({ output: '', status: 'completed' });
		},
	);
});

describe('a chat that shows what comes out in the end', () => {
	const ID = '5b0b7a3e-8a4c-4c7e-9a0e-1d2f3a4b5c6d';
	const failing = async (
		onError?: 'continueRegularOutput' | 'continueErrorOutput',
		options = {},
	) => {
		const zebra = putKnowing(fixture.sandbox, { error: `no row (id)=(${ID})` });
		const thread = await newThread();
		const parameters = ask({ ...zebra, options });
		return await fixture.run(parameters, { items: [says(thread, 'FAIL')], onError });
	};

	it('says why there is no answer, without an id: n8n shows the message of an item without output', async () => {
		const { items } = await failing('continueRegularOutput');
		expect(items[0]?.json).toMatchObject({
			error: 'The run failed: no row (id)=(…)',
			message: SORRY,
			details: { message: `The run failed: no row (id)=(${ID})` },
		});
		expect(items[0]?.json).not.toHaveProperty('output');
	});

	it('is not behind an error output, whose items keep the message of their input', async () => {
		const { outputs } = await failing('continueErrorOutput');
		expect(outputs[1]?.[0]?.json).toMatchObject({ message: 'FAIL', error: expect.any(String) });
	});
});

describe('a stream of somebody who means no good', () => {
	it('is left where an event has no end, and the answer is read', async () => {
		const body = `data: ${'a'.repeat(11 * 1024 * 1024)}`;
		const contentType = 'text/event-stream';
		add(answering('join', 201, { contentType, body }));
		const { shown, json } = await chat(['Hello']);
		expect(json).toMatchObject({ output: 'Echo: Hello' });
		expect(shown(0)).toBe('Echo: Hello');
		expect(sent()).toBe(1);
	});

	it('says something else than the answer: the chat has the answer below, with the IDs in it', async () => {
		const event = { type: 'message', data: { type: 'text', text: 'Something else' } };
		const body = `event: message\ndata: ${JSON.stringify(event)}\n\n`;
		add(answering('join', 201, { contentType: 'text/event-stream', body }));
		const id = '5c6b0f3e-0a52-4c6e-9d0a-7b1f2f0c9a11';
		const { shown, json } = await chat([`document ${id}`]);
		expect(json?.output).toBe(`Echo: document ${id}`);
		expect(shown(0)).toBe(`Something else\n\nEcho: document ${id}`);
	});

	it('may say anything: the chat shows it as the output has it', async () => {
		const said = '<img src=x onerror=alert(1)> \u0007\u001b[31m \u202e [⟦1⟧](';
		const { shown, json } = await chat([`${said}xpert://`]);
		expect(shown(0)).toBe(`Echo: ${said}`);
		expect(json?.output).toBe(shown(0));
	});
});

describe('a stream that breaks', () => {
	it.each<[string, FaultRule]>([
		['dropped on its way', { do: 'drop', when: 'during', ms: 50 }],
		['cut off', { do: 'truncate' }],
		['of another type', { do: 'contentType', value: 'text/html' }],
		[
			'with nothing in it',
			{ do: 'status', when: 'after', status: 201, contentType: 'text/event-stream', body: '' },
		],
		[
			'without a body',
			{ do: 'status', when: 'after', status: 204, contentType: 'application/json', body: '' },
		],
		[
			'with a page of a proxy',
			{ do: 'status', when: 'after', status: 404, body: 'page not found' },
		],
		['from a bad gateway', { do: 'status', when: 'after', status: 502, body: 'bad gateway' }],
	])(
		'is joined again, or its answer read, nothing twice and nothing missing: %s',
		async (_, fault) => {
			add({ endpoint: 'join', times: 1, ...fault });
			const { shown, threads } = await chat(['Hello to you']);
			expect(shown(0)).toBe('Echo: Hello to you');
			const runs = fixture.sandbox.store.runs.filter(({ threadId }) => threadId === threads[0]);
			expect(runs).toHaveLength(1);
		},
	);

	it('is joined again also where nothing else can be read of the run', async () => {
		add({ endpoint: 'join', nth: 1, do: 'truncate' });
		add(answering('run', 503, { body: 'down' }));
		const { shown, json } = await chat(['Hello to you'], { options: { deadlineMinutes: 0.1 } });
		expect(json).toMatchObject({ output: 'Echo: Hello to you' });
		expect(shown(0)).toBe('Echo: Hello to you');
	});
});
