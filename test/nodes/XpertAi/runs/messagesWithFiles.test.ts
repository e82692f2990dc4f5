import { repliesTo } from '../../../../nodes/XpertAi/runs/messages';

const read = { type: 'text', text: 'Attachment File: otters.txt\nOtters swim.' };
const person = (content: unknown) => ({ content });
const assistant = (content: string) => ({ content, tool_calls: [] });
const withFile = (text: string) => person([read, { type: 'text', text }]);

describe('a message with a file', () => {
	it('is told by its own part, beside what the server has read of the file', () => {
		const fresh = [person('p'), assistant('1'), withFile('q'), assistant('2'), person('r')];
		expect(repliesTo('q', fresh, false)).toEqual([assistant('2')]);
	});

	it('is not one that says something else about the file', () => {
		expect(repliesTo('q', [withFile('p'), assistant('1')], false)).toBeUndefined();
		expect(repliesTo('q', [withFile('qq'), assistant('1')], false)).toBeUndefined();
	});
});
