import fc from 'fast-check';
import { uniq } from 'lodash';
import { CitationRewriter, type CitationStyle } from 'nodes/XpertAi/threads/citations';
import { transcriptFromThread } from 'nodes/XpertAi/threads/runTranscript';
import { Sources, sourcesOf } from 'nodes/XpertAi/threads/sources';
import {
	messagesOf,
	textOfContent,
	threadStateSchema,
	type ThreadState,
} from 'nodes/XpertAi/threads/thread';

import { recordedExchanges, recordedThread } from './support/recorded';

const address = (chunkId: string) => `xpert://knowledgebase/chunk?documentId=d&chunkId=${chunkId}`;
const link = (chunkId: string) => `[⟦1⟧](${address(chunkId)})`;

const citing = (style: CitationStyle = 'numbers') => {
	const sources = new Sources();
	sources.add(['a', 'b'].map((chunkId) => ({ chunkId, documentId: 'd' })));
	return new CitationRewriter(sources, style);
};

describe('the links of an answer to its sources', () => {
	it.each<[CitationStyle, string]>([
		['numbers', 'Stripes [1]. Water [2], [1].'],
		['none', 'Stripes. Water,.'],
		['asWritten', `Stripes ${link('a')}. Water ${link('b')}, ${link('a')}.`],
	])('are written as %s', (style, written) => {
		const citations = citing(style);
		const text = `Stripes ${link('a')}. Water ${link('b')}, ${link('a')}.`;
		expect(citations.rewrite(text)).toBe(written);
		expect([...citations.cited]).toEqual([1, 2]);
	});

	it.each([
		['without a label', address('b'), '[1]'],
		['in brackets', `see (${address('b')}).`, 'see ([1]).'],
		['with pointed brackets', `[⟦9⟧](<${address('b')}>)`, '[1]'],
		['with a name', `see [B](${address('b')}).`, 'see B [1].'],
		['with a title', `[B](${address('b')} "A title")`, 'B [1]'],
		['with brackets in the name', `[Policy [v2].pdf](${address('b')})`, 'Policy [v2].pdf [1]'],
		['with escapes in the name', `[Policy \\[v2.pdf](${address('b')})`, 'Policy \\[v2.pdf [1]'],
		['at the end of a sentence', `${address('b')}.`, '[1].'],
		['that lead to no passage', '[a file](xpert://files/1)', 'a file'],
		['that lead nowhere', 'see xpert:// now', 'see now'],
		['side by side', link('a') + link('b'), '[1][2]'],
	])('%s are no links any more', (_, text, written) =>
		expect(citing().rewrite(text)).toBe(written),
	);

	it.each([
		'[a [b]](https://example.com)',
		'[a](https://example.com)',
		'a[0](x)',
		'[1]',
		'expert: xp',
		'[[[a]]]',
	])('are not what else a text has: %s', (text) => expect(citing().rewrite(text)).toBe(text));

	it('name no number where they lead to no passage', () => {
		const citations = citing();
		citations.rewrite('[a file](xpert://files/1)');
		expect(citations.cited.size).toBe(0);
	});

	it('are none in any answer that was recorded, and name the passages that it links', () => {
		const threads = recordedExchanges('sources').filter(({ label }) => label.startsWith('thread'));
		expect(threads).not.toHaveLength(0);
		for (const { label, sequence } of threads) {
			const messages = messagesOf(recordedThread('sources', label, sequence));
			const sources = sourcesOf(transcriptFromThread(undefined, messages).parts);
			const answer = textOfContent(messages.at(-1)?.content);
			const citations = new CitationRewriter(sources, 'numbers');
			expect(citations.rewrite(answer)).not.toContain('xpert://');
			const cited = sources.list(citations.cited).filter((one) => one.cited);
			const linked = [...answer.matchAll(/chunkId=([\w-]+)\)/g)].map(([, chunkId]) => chunkId);
			expect(cited.map(({ chunkId }) => chunkId)).toEqual(uniq(linked));
			for (const { documentName } of cited) expect(documentName).toMatch(/\.(md|txt)$/);
		}
	});

	it('name the right document of the right knowledgebase (recorded)', () => {
		const thread = recordedThread('sources', 'thread, after the answer', 'two knowledgebases');
		const messages = messagesOf(thread);
		const sources = sourcesOf(transcriptFromThread(undefined, messages).parts);
		const citations = new CitationRewriter(sources, 'numbers');
		const written = citations.rewrite(textOfContent(messages.at(-1)?.content));
		const [whale, cactus] = sources.list(citations.cited).filter(({ cited }) => cited);
		expect([whale?.documentName, cactus?.documentName]).toEqual(['whales.txt', 'cactus.md']);
		expect(written).toBe(
			`Here is what I found: The blue whale is the largest animal [${whale?.number}]. A cactus stores water in its stem [${cactus?.number}].`,
		);
	});
});

describe('the sources of a run on a thread', () => {
	const passage = (chunkId: string) => ({ chunkId, documentId: 'd' });
	const look = (chunkId: string) => ({
		content: JSON.stringify([passage(chunkId)]),
		tool_call_id: 'call',
	});
	const numbered = (
		...[state, messages, earlier]: [...Parameters<typeof transcriptFromThread>, ThreadState?]
	) =>
		sourcesOf(
			transcriptFromThread(state, messages).parts,
			transcriptFromThread(earlier, messagesOf(earlier)).parts,
		)
			.list(new Set())
			.map(({ chunkId, documentName }) => documentName ?? chunkId);

	it('are those it has found and named, in that order; a question names none', () => {
		const messages = [
			{ content: `Is it ${link('c')}?` },
			{ content: `See ${link('b')}`, tool_calls: [] },
			look('a'),
		];
		expect(numbered(undefined, messages)).toEqual(['b', 'a']);
		expect(numbered(undefined, [])).toEqual([]);
	});

	it('have the names that earlier runs of the thread have found, before what nothing cites', () => {
		const old = { ...passage('old'), documentName: 'old.md' };
		const thread = threadStateSchema.parse({
			values: {
				messages: [{ content: JSON.stringify([old]), tool_call_id: 'call' }],
			},
		});
		const steps = threadStateSchema.parse({ values: { a_channel: { result: [passage('step')] } } });
		const messages = [{ content: link('old'), tool_calls: [] }];
		expect(numbered(steps, messages, thread)).toEqual(['old.md', 'step']);
	});
});

/** Parts of which texts are made that a link may be cut in, or only seems to be. */
const PARTS = [
	...[...'[]()<> x\n', 'xp', 'xpert', '://', 'xpert://', '⟦1⟧', 'word '],
	...[
		'\\',
		' "t"',
		`[P [v2]](${address('b')} "t")`,
		link('a'),
		link('b'),
		link('zzz'),
		address('a'),
		'[see](xpert://other)',
		'a'.repeat(160),
	],
];
const text = fc.array(fc.constantFrom(...PARTS), { maxLength: 30 }).map((parts) => parts.join(''));
const style = fc.constantFrom<CitationStyle>('numbers', 'none', 'asWritten');

function cut(whole: string, places: number[]): string[] {
	const at = [...new Set(places.map((place) => place % (whole.length + 1)))].sort((a, b) => a - b);
	return [0, ...at].map((from, index) => whole.slice(from, at[index]));
}

describe('links in a text that comes in pieces', () => {
	it('are written as in the whole text, wherever it is cut', () => {
		fc.assert(
			fc.property(text, style, fc.array(fc.nat(), { maxLength: 20 }), (whole, how, places) => {
				const pieces = citing(how);
				const written = cut(whole, places).map((piece) => pieces.push(piece));
				expect([...written, pieces.end()].join('')).toBe(citing(how).rewrite(whole));
			}),
			{ numRuns: 1_000 },
		);
	});

	it('never go out as they are, not even in part', () => {
		const pieces = citing();
		const whole = `Stripes ${link('a')}.`;
		expect([...whole].map((piece) => pieces.push(piece)).filter(Boolean)).toEqual([
			...'Stripes',
			' [1]',
			'.',
		]);
	});

	it('hold back nothing of what cannot become one', () => {
		const pieces = citing();
		expect(pieces.push('Hello you')).toBe('Hello you');
		expect(pieces.push('[' + 'a'.repeat(151))).toBe('[' + 'a'.repeat(151));
	});
});
