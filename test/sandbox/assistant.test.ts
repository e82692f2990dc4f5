import { NOTHING_FOUND, SANDBOX_KNOWLEDGEBASE_ID } from '../../sandbox';
import { ask, document, newKnowledgebase, process, store } from './support/knowledge';
import { useSandbox } from './support/useSandbox';

const [ONE = '', TWO = ''] = [1, 2].map((i) => `4444444${i}-4444-4444-8444-444444444444`);

const { client } = useSandbox({ processMs: 5 });
let kb: string;

beforeEach(async () => void (kb = await newKnowledgebase(client)));

/** Stores a text under an id and processes it. */
async function learn(id: string, text: string, name?: string): Promise<void> {
	await store(client, kb, [{ id, ...(await document(client, text, name)) }]);
	await process(client, kb, [id]);
}

describe('the sandbox assistant', () => {
	it('quotes the processed document that fits, with its name', async () => {
		await learn(ONE, 'Every employee has 30 days of holiday.', 'holidays.txt');
		await learn(TWO, 'The coffee machine is on the second floor.', 'coffee.txt');
		expect(await ask(client, 'Where is the coffee machine?')).toBe(
			'According to "coffee.txt": "The coffee machine is on the second floor."',
		);
		expect(await ask(client, 'How many days of holiday do I have?')).toContain('"holidays.txt"');
		expect(await ask(client, 'What is the weather on Mars?')).toBe(NOTHING_FOUND);
	});

	it('looks into its own knowledgebase first, and links what it quotes from there', async () => {
		const own = SANDBOX_KNOWLEDGEBASE_ID;
		await store(client, own, [{ id: ONE, ...(await document(client, 'The gate code is amber.')) }]);
		await process(client, own, [ONE]);
		expect(await ask(client, 'gate code')).toMatch(
			/"The gate code is amber\." \[⟦1⟧\]\(xpert:\/\/knowledgebase\/chunk\?[^)]*\)$/,
		);
	});

	it('finds words in scripts without spaces', async () => {
		await learn(ONE, '咖啡机在二楼。', '咖啡.txt');
		expect(await ask(client, '咖啡机')).toContain('咖啡机在二楼');
	});

	it('quotes the sentence that fits, whatever it stands between', async () => {
		const filler = 'Nothing to see here. '.repeat(200);
		await learn(ONE, `${filler}The safe holds rubies. ${filler}`, 'a.txt');
		expect(await ask(client, 'rubies')).toBe('According to "a.txt": "The safe holds rubies."');
	});

	it('quotes what stands under the heading or the question that fits', async () => {
		await learn(
			ONE,
			'# Gate\n\nThe code is amber.\n\n## May I swap shifts?\n\nAsk your lead first.',
		);
		expect(await ask(client, 'gate')).toContain('"The code is amber."');
		expect(await ask(client, 'swap shifts')).toContain('"Ask your lead first."');
	});

	it('tells words with a hyphen from their parts, and finds them by these too', async () => {
		await learn(ONE, 'The stove burns well and burns long.', 'stove.md');
		await learn(TWO, 'The burn-in takes an hour.', 'oven.md');
		expect(await ask(client, 'What about the burn-in?')).toContain('"oven.md"');
		await client.delete(`/api/ai/v1/kb/${kb}`);
		kb = await newKnowledgebase(client);
		await learn(ONE, 'A self-cleaning oven.', 'self.md');
		expect(await ask(client, 'cleaning')).toContain('"self.md"');
	});

	it('quotes the passage of a document without sentences', async () => {
		await learn(ONE, '# Opening hours');
		expect(await ask(client, 'opening hours')).toContain('Opening hours');
	});
});
