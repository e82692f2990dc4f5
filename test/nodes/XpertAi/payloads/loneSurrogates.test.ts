import { hasLoneSurrogate } from 'nodes/XpertAi/payloads/loneSurrogates';

it.each([
	['half of a character at the end', 'cut \ud83d', true],
	['half of a character alone', '\ude00', true],
	['half of a character inside', 'ä \ud83d!', true],
	['no half of a character in whole ones', 'ä 漢 😀', false],
])('there is %s', (_, text, isHalf) => {
	expect(hasLoneSurrogate(text)).toBe(isHalf);
});
