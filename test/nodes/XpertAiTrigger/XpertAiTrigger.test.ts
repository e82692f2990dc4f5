import { existsSync } from 'node:fs';
import path from 'node:path';

import { XpertAi } from '../../../nodes/XpertAi/XpertAi.node';
import { EVENTS } from '../../../nodes/XpertAiTrigger/fields';
import { XpertAiTrigger } from '../../../nodes/XpertAiTrigger/XpertAiTrigger.node';

const FOLDER = path.resolve(__dirname, '../../../nodes/XpertAiTrigger');

describe('the trigger in the editor', () => {
	const { description, methods } = new XpertAiTrigger();
	const node = new XpertAi();
	const propertyNamed = (wanted: string) =>
		description.properties.find(({ name }) => name === wanted);

	it('stands beside the node under its name, with its credential', () => {
		expect(description.name).toBe(`${node.description.name}Trigger`);
		expect(description.displayName).toBe(`${node.description.displayName} Trigger`);
		expect(description.credentials).toEqual(node.description.credentials);
		expect(description).toMatchObject({ polling: true, group: ['trigger'], inputs: [] });
	});

	it('has the icons of the node, from where they are', () => {
		const { light, dark } = description.icon as { light: string; dark: string };
		for (const icon of [light, dark]) {
			const file = path.resolve(FOLDER, icon.replace('file:', ''));
			expect(path.dirname(file)).toBe(path.resolve(FOLDER, '../XpertAi'));
			expect(existsSync(file)).toBe(true);
		}
	});

	it('offers every event, and the picker of assistants that the node has', () => {
		const offered = propertyNamed('events')?.options?.map((one) => 'value' in one && one.value);
		expect(offered).toEqual([...EVENTS]);
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
