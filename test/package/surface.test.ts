import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { INodeType } from 'n8n-workflow';

import { XpertAiApi } from '../../credentials/XpertAiApi.credentials';
import { XpertAi } from '../../nodes/XpertAi/XpertAi.node';
import { XpertAiTrigger } from '../../nodes/XpertAiTrigger/XpertAiTrigger.node';
import { credentialSurface, nodeSurface, surfaceText } from './support/surface';

const FOLDER = path.join(__dirname, 'surface');

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

describe('what saved workflows rely on', () => {
	it.each(FROZEN)(
		'is what $file holds: docs/versions.md says what to do about a difference',
		async ({ file, surface }) => {
			const full = path.join(FOLDER, file);
			const now = `${surfaceText(await surface())}\n`;
			if (process.env.UPDATE_SURFACE === '1') writeFileSync(full, now);
			expect(existsSync(full) && readFileSync(full, 'utf8')).toBe(now);
		},
	);

	it('is held of every version that ever was', () => {
		expect(readdirSync(FOLDER).sort()).toEqual(FROZEN.map(({ file }) => file).sort());
	});
});
