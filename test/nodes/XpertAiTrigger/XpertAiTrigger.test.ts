import { existsSync } from 'node:fs';
import path from 'node:path';

import { XpertAi } from 'nodes/XpertAi/XpertAi.node';
import { XpertAiTrigger } from 'nodes/XpertAiTrigger/XpertAiTrigger.node';

const FOLDER = path.resolve(__dirname, '../../../nodes/XpertAiTrigger');

describe('the trigger in the editor', () => {
	const { description, methods } = new XpertAiTrigger();
	const node = new XpertAi();

	it('has the icons of the node, from where they are', () => {
		const { light, dark } = description.icon as { light: string; dark: string };
		for (const icon of [light, dark]) {
			const file = path.resolve(FOLDER, icon.replace('file:', ''));
			expect(path.dirname(file)).toBe(path.resolve(FOLDER, '../XpertAi'));
			expect(existsSync(file)).toBe(true);
		}
	});

	it('offers the picker of assistants that the node has', () => {
		expect(Object.keys(node.methods?.listSearch ?? {})).toEqual(
			expect.arrayContaining(Object.keys(methods?.listSearch ?? { none: true })),
		);
	});

	it('says whose conversations it sees before anything is chosen', () => {
		const [first] = description.properties;
		expect(first).toMatchObject({
			type: 'notice',
			displayName: expect.stringContaining('only conversations of the user'),
		});
	});
});
