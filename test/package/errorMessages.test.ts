import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { groupBy, sortBy, uniq } from 'lodash';
import ts from 'typescript';

import { projectRoot } from '../../host/paths';
import { expectGenerated, withPart } from '../support/generated';

const PAGE = path.join(projectRoot, 'docs/errors.md');

/** Who says it, by the folder of its code. */
const PARTS: Array<[title: string, folder: RegExp]> = [
	['The trigger', /^XpertAiTrigger/],
	['Documents', /operations\/document|^XpertAi\/ingest/],
	['Runs, chats and threads', /operations\/thread|^XpertAi\/(runs|threads)/],
	['The connection and the server', /^XpertAi\/transport/],
	['Fields and records', /./],
];

/** What the editor shows of a parameter is no message. */
const OF_THE_EDITOR = /^(displayName|description|hint|placeholder|action|builderHint|name|title)$/;

const FEWEST_WORDS = 4;

/** A text of the code as a user may read it: what is put in comes out as …. */
function textOf(node: ts.Node): string | undefined {
	if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
	if (!ts.isTemplateExpression(node)) return undefined;
	return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('');
}

function isOfEditor({ parent }: ts.Node): boolean {
	if (ts.isPropertyAssignment(parent)) return OF_THE_EDITOR.test(parent.name.getText());
	return ts.isImportDeclaration(parent) || ts.isLiteralTypeNode(parent);
}

/** The texts of a file that are sentences, or parts of them. */
function messagesIn(file: string): string[] {
	const source = ts.createSourceFile(
		file,
		readFileSync(path.join(projectRoot, 'nodes', file), 'utf8'),
		ts.ScriptTarget.ES2022,
		true,
	);
	const found: string[] = [];
	const visit = (node: ts.Node): void => {
		// Functions that make a field take its texts.
		if (ts.isCallExpression(node) && /(Field|ocator)$/.test(node.expression.getText())) return;
		const text = textOf(node)?.trim() ?? '';
		const words = text.split(/\s+/).filter((word) => /^["'(…]*[A-Za-z]/.test(word));
		const isSentence = words.length >= FEWEST_WORDS && /^["A-Z…]/.test(text);
		if (isSentence && !isOfEditor(node)) found.push(text);
		else node.forEachChild(visit);
	};
	visit(source);
	return found;
}

const files = sortBy(readdirSync(path.join(projectRoot, 'nodes'), { recursive: true })).map(String);
const said = files
	.filter((file) => file.endsWith('.ts'))
	.flatMap((file) => {
		const part = PARTS.find(([, folder]) => folder.test(file))?.[0] ?? '';
		return messagesIn(file).map((message) => ({ part, message }));
	});

it('every message of the code can be searched for in docs/errors.md', () => {
	const byPart = groupBy(said, 'part');
	expect(said.length).toBeGreaterThan(150);
	const list = sortBy(PARTS.map(([title]) => title)).map((title) => {
		const messages = uniq(byPart[title]?.map(({ message }) => message.replace(/\s+/g, ' ')));
		return `### ${title}\n\n\`\`\`text\n${sortBy(messages).join('\n')}\n\`\`\``;
	});
	expectGenerated(PAGE, withPart(readFileSync(PAGE, 'utf8'), 'messages', list.join('\n\n')));
});
