import path from 'node:path';
import ts from 'typescript';

import { projectRoot } from 'host/paths';

const ROOT = path.join(projectRoot, 'nodes');

/** All files of the shipped code, with their types. */
function shippedProgram() {
	const file = path.join(projectRoot, 'tsconfig.json');
	const { config } = ts.readConfigFile(file, ts.sys.readFile) as { config: object };
	const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, projectRoot);
	return ts.createProgram(fileNames, options);
}

/** Every `'name' in value` of the code whose value is of one of several types. */
function* propertyChecks(program: ts.Program) {
	const checker = program.getTypeChecker();
	function* within(node: ts.Node): Generator<{ text: string; isKnown: boolean }> {
		if (
			ts.isBinaryExpression(node) &&
			node.operatorToken.kind === ts.SyntaxKind.InKeyword &&
			ts.isStringLiteral(node.left)
		) {
			const { text: name } = node.left;
			const type = checker.getTypeAtLocation(node.right);
			const { fileName } = node.getSourceFile();
			if (type.isUnion())
				yield {
					text: `${path.relative(ROOT, fileName)}: ${node.getText()}`,
					isKnown: type.types.some((one) => one.getProperty(name) !== undefined),
				};
		}
		const children: ts.Node[] = [];
		node.forEachChild((child) => void children.push(child));
		for (const child of children) yield* within(child);
	}
	for (const file of program.getSourceFiles()) {
		if (file.fileName.startsWith(ROOT)) yield* within(file);
	}
}

it('a check tells types apart by a property that one of them has, also after a rename', () => {
	const checks = [...propertyChecks(shippedProgram())];
	expect(checks.length).toBeGreaterThan(10);
	expect(checks.filter(({ isKnown }) => !isKnown).map(({ text }) => text)).toEqual([]);
});
