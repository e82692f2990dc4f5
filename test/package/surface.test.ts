import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { cloneDeep, set } from 'lodash';
import type { INodeType } from 'n8n-workflow';

import { XpertAiApi } from 'credentials/XpertAiApi.credentials';
import { XpertAi } from 'nodes/XpertAi/XpertAi.node';
import { XpertAiTrigger } from 'nodes/XpertAiTrigger/XpertAiTrigger.node';
import { GENERATES } from '../support/generated';
import {
	credentialSurface,
	keeps,
	nodeSurface,
	surfaceText,
	type Surface,
} from './support/surface';

const FOLDER = path.join(__dirname, 'surface');

/** `npm run generate` takes over what only adds; the rest when a person says so. */
const TAKES_ALL = process.env.UPDATE_SURFACE === '1';

/** A node in each of its versions, with the file that holds what it looks like to saved workflows. */
const versionsOf = (node: INodeType) =>
	[node.description.version].flat().map((version) => ({
		file: `${node.description.name}.v${version}.json`,
		surface: async () => await nodeSurface(node, version),
	}));

const credential = new XpertAiApi();
const FROZEN = [
	...versionsOf(new XpertAi()),
	...versionsOf(new XpertAiTrigger()),
	{ file: `${credential.name}.json`, surface: async () => credentialSurface(credential) },
];

function textOf(file: string): string {
	const full = path.join(FOLDER, file);
	return existsSync(full) ? readFileSync(full, 'utf8') : '{}';
}

/** What to do where a surface is not what its file holds. */
const adviceOn = (before: Surface, now: Surface) =>
	keeps(before, now)
		? 'Is new, and fine if what was saved without it goes on as before: npm run generate takes it over.'
		: 'May break what users have saved: undo it, or make it version 2 of the node. docs/maintaining.md says how; UPDATE_SURFACE=1 npm run test:unit -- test/package/surface takes over all of it.';

describe('what saved workflows rely on', () => {
	it.each(FROZEN)('is what $file holds', async ({ file, surface }) => {
		const now = await surface();
		const text = `${surfaceText(now)}\n`;
		const before = JSON.parse(textOf(file)) as Surface;
		if (TAKES_ALL || (GENERATES && keeps(before, now)))
			writeFileSync(path.join(FOLDER, file), text);
		const advice = textOf(file) === text ? '' : adviceOn(before, now);
		expect({ advice, surface: textOf(file) }).toEqual({ advice: '', surface: text });
	});

	it('is held of every version that ever was', () => {
		expect(readdirSync(FOLDER).sort()).toEqual(FROZEN.map(({ file }) => file).sort());
	});
});

describe('a saved workflow', () => {
	const OPERATION = 'parameters["document.submit"]';
	const TEXT = `${OPERATION}.text`;
	const SOURCES = `${OPERATION}.source.values`;

	it.each<[string, string, string, unknown]>([
		['keeps its meaning', 'a new parameter', `${OPERATION}.new`, {}],
		['keeps its meaning', 'a new value', `${SOURCES}[9]`, 'mails'],
		['loses it', 'another default', `${TEXT}.default`, 'x'],
		['loses it', 'another type', `${TEXT}.type`, 'number'],
		['loses it', 'a parameter that is gone', TEXT, undefined],
		['loses it', 'a value that is gone', `${SOURCES}[0]`, 'renamed'],
		['loses it', 'a further condition to be shown', `${TEXT}.shown.output`, ['documents']],
		['loses it', 'a first condition to be hidden', `${TEXT}.hidden`, { output: ['summary'] }],
		['loses it', 'a field that is required now', `${OPERATION}.options.required`, true],
	])('%s with %s', async (becomes, _change, path, value) => {
		const before = await nodeSurface(new XpertAi(), 1);
		const now = set(cloneDeep(before), path, value);
		expect(now).not.toEqual(before);
		expect(keeps(before, now)).toBe(becomes === 'keeps its meaning');
	});
});
