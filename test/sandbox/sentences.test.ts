import { sentencesOf } from '../../sandbox/sentences';

const textsOf = (text: string, isTable?: boolean) =>
	sentencesOf(text, isTable).map((sentence) => sentence.text);

describe('the sentences of a text', () => {
	it('end where another begins', () => {
		expect(textsOf('It costs 4.90 euros. Is it new? Yes! 25 grams fit, e.g. two spoons.')).toEqual([
			'It costs 4.90 euros.',
			'Yes!',
			'25 grams fit, e.g. two spoons.',
		]);
	});

	it('go on over the ends of lines, and end with the paragraph', () => {
		expect(textsOf('The gate\ncode is amber\n\nThe safe holds\nrubies.')).toEqual([
			'The gate code is amber',
			'The safe holds rubies.',
		]);
	});

	it('have no marks of Markdown', () => {
		const text = [
			'# Parts',
			'The **belt** costs `12`.',
			'- First item',
			'  goes on',
			'2. Second item',
			'> Quoted.',
			'',
			'| Part | Price |',
			'|------|:-----:|',
			'| Belt | 12.50 |',
		].join('\n');
		expect(textsOf(text)).toEqual([
			'The belt costs 12.',
			'First item goes on',
			'Second item',
			'Quoted.',
			'Part, Price',
			'Belt, 12.50',
		]);
	});

	it('know the heading or the question before them, which are none themselves', () => {
		expect(sentencesOf('## Gate\nThe code is amber. Who knows it? All do.')).toEqual([
			{ text: 'The code is amber.', under: 'Gate' },
			{ text: 'All do.', under: 'Who knows it?' },
		]);
		expect(sentencesOf('# Only a heading')).toEqual([]);
	});

	it('are the rows of a table', () => {
		expect(textsOf('part,what\nHB-1,A belt. It fits all.\n\nHB-2,drum\n', true)).toEqual([
			'part,what',
			'HB-1,A belt. It fits all.',
			'HB-2,drum',
		]);
	});

	it('end without a space in scripts that have none', () => {
		expect(textsOf('咖啡机在二楼。茶在一楼。')).toEqual(['咖啡机在二楼。', '茶在一楼。']);
	});
});
