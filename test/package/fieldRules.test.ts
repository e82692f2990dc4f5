import { execFileSync } from 'node:child_process';

import type { INodeProperties } from 'n8n-workflow';

import { XpertAiApi } from 'credentials/XpertAiApi.credentials';
import { projectRoot } from 'host/paths';
import { XpertAi } from 'nodes/XpertAi/XpertAi.node';
import { XpertAiTrigger } from 'nodes/XpertAiTrigger/XpertAiTrigger.node';

/** Lints texts as the source of nodes. A process of its own, as a plugin of n8n's configuration is an ES module. */
const LINT = `
	import { readFileSync } from 'node:fs';
	import { config } from '@n8n/node-cli/eslint';
	import { ESLint } from 'eslint';
	const ruleFilter = ({ ruleId }) => ruleId.startsWith('n8n-nodes-base/node-param');
	const eslint = new ESLint({ overrideConfigFile: true, overrideConfig: config, ruleFilter });
	const found = [];
	for (const text of JSON.parse(readFileSync(0, 'utf8'))) {
		const [{ messages }] = await eslint.lintText(text, { filePath: 'nodes/Built/Built.node.ts' });
		found.push(messages);
	}
	process.stdout.write(JSON.stringify(found));`;

/** The order of choices is that of use; words.test.ts holds that of collections. */
const OF_ORDER = /-unsorted-items$/;

/** What n8n's linter says of fields, each as the rule and the line: it reads them as literals, as in most nodes. */
function complaints(...lists: INodeProperties[][]): string[][] {
	const texts = lists.map((properties) => {
		const literal = JSON.stringify({ properties }, null, 1).replace(/^( *)"(\w+)":/gm, '$1$2:');
		return `class Built implements INodeType { description: INodeTypeDescription = ${literal}; }`;
	});
	const args = ['--input-type=module', '--eval', LINT];
	const options = { cwd: projectRoot, input: JSON.stringify(texts), encoding: 'utf8' } as const;
	const found = JSON.parse(execFileSync(process.execPath, args, options)) as Array<
		Array<{ ruleId: string; line: number }>
	>;
	return found.map((messages, index) => {
		const lines = texts[index]?.split('\n') ?? [];
		return messages
			.filter(({ ruleId }) => !OF_ORDER.test(ruleId))
			.map(({ ruleId, line }) => `${ruleId.split('/')[1]}: ${lines[line - 1]?.trim()}`);
	});
}

const wrong: INodeProperties = {
	displayName: 'In a row',
	name: 'inRow',
	type: 'boolean',
	default: false,
	description: 'Says no Whether.',
};

it("n8n's linter has nothing against the fields, as users see them", () => {
	const rows = { displayName: 'Row', name: 'values', values: [wrong] };
	const [ofWrong, ofNode, ...ofOthers] = complaints(
		[{ displayName: 'Rows', name: 'rows', type: 'fixedCollection', default: {}, options: [rows] }],
		...[new XpertAi().description, new XpertAiTrigger().description, new XpertAiApi()].map(
			({ properties }) => properties,
		),
	);
	expect(ofWrong).toEqual([
		'node-param-display-name-miscased: displayName: "In a row",',
		'node-param-description-boolean-without-whether: description: "Says no Whether."',
		'node-param-description-excess-final-period: description: "Says no Whether."',
	]);
	expect(ofNode).toEqual([
		'node-param-description-identical-to-display-name: description: "The thread",',
		// Nobody should confirm by leaving the default.
		'node-param-default-wrong-for-options: default: "",',
	]);
	expect(ofOthers).toEqual([[], []]);
});
