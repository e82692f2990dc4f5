// @ts-check
'use strict';

const ts = require('typescript');

/**
 * The values (not the types) a package exports, by name, read off its type declarations. A function stands
 * with what it takes, because that changes between versions too.
 *
 * @param {string} entry the package's `index.d.ts`
 * @param {string[]} [names] those to look at; all without it, which takes longer
 * @returns {Record<string, string>}
 */
function exportedValues(entry, names) {
	const program = ts.createProgram([entry], {
		module: ts.ModuleKind.CommonJS,
		moduleResolution: ts.ModuleResolutionKind.Node10,
		target: ts.ScriptTarget.ES2022,
		skipLibCheck: true,
		types: [],
	});
	const checker = program.getTypeChecker();
	const source = program.getSourceFile(entry);
	const module = source && checker.getSymbolAtLocation(source);
	if (!module) throw new Error(`${entry} is no module`);
	const values = checker.getExportsOfModule(module).flatMap((symbol) => {
		if (names && !names.includes(symbol.name)) return [];
		const isAlias = symbol.flags & ts.SymbolFlags.Alias;
		const value = isAlias ? checker.getAliasedSymbol(symbol) : symbol;
		if (!(value.flags & ts.SymbolFlags.Value)) return [];
		return [[symbol.name, takenBy(checker, checker.getTypeOfSymbol(value))]];
	});
	return Object.fromEntries(values.sort(([a = ''], [b = '']) => (a < b ? -1 : 1)));
}

/**
 * @param {import('typescript').TypeChecker} checker
 * @param {import('typescript').Type} type
 */
function takenBy(checker, type) {
	const parameters = type
		.getCallSignatures()
		.map((signature) =>
			signature.parameters
				.map(
					(parameter) =>
						`${parameter.name}: ${checker.typeToString(checker.getTypeOfSymbol(parameter))}`,
				)
				.join(', '),
		);
	return parameters.map((list) => `(${list})`).join(' | ');
}

module.exports = { exportedValues };
