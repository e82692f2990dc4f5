// @ts-check
'use strict';

/**
 * What `n8n-node build` does not do: it compiles, and copies images and previews of the node's output,
 * from every folder of the repository. Here the rest of the assets is added, what is not ours to ship is taken out, and the
 * built package is checked the way n8n will load it.
 */
const assert = require('node:assert/strict');
const { cpSync, existsSync, readdirSync, rmSync } = require('node:fs');
const path = require('node:path');

const packageJson = require('../package.json');

const ROOT = path.resolve(__dirname, '..');
const DIST = path.join(ROOT, 'dist');
const SHIPPED_FOLDERS = ['credentials', 'nodes'];

/** The codex file stands beside the node, under the node's name. */
function copyCodex() {
	for (const file of packageJson.n8n.nodes) {
		const codex = file.replace(/\.js$/, '.json');
		cpSync(path.join(ROOT, path.relative('dist', codex)), path.join(ROOT, codex));
	}
}

/** `n8n-node build` copies pictures of the documentation as well. */
function removeStrays() {
	const strays = readdirSync(DIST).filter((entry) => !SHIPPED_FOLDERS.includes(entry));
	for (const entry of strays) rmSync(path.join(DIST, entry), { recursive: true });
}

/** Loads the package as n8n does and looks at what n8n needs from it. */
function checkPackage() {
	assert.equal('dependencies' in packageJson, false, 'a community node has no dependencies');
	for (const file of packageJson.n8n.credentials) {
		const credential = load(file, '.credentials.js');
		checkIcons(credential.icon, file);
	}
	for (const file of packageJson.n8n.nodes) {
		const node = load(file, '.node.js');
		checkIcons(node.description.icon, file);
		checkPreviews(node.description.version, file);
		const codex = require(path.join(ROOT, file.replace(/\.js$/, '.json')));
		assert.equal(
			codex.node,
			`${packageJson.name}.${node.description.name}`,
			'codex names the node',
		);
	}
}

/**
 * The folder n8n takes previews of the node's output from; a node without operations has one file.
 *
 * @param {number} version
 * @param {string} file
 */
function checkPreviews(version, file) {
	const folder = path.join(ROOT, path.dirname(file), '__schema__', `v${version}.0.0`);
	const isThere = existsSync(folder) || existsSync(`${folder}.json`);
	assert.ok(isThere, `${file}: previews of version ${version} are in the package`);
}

/**
 * @param {string} file
 * @param {string} ending
 */
function load(file, ending) {
	const module = require(path.join(ROOT, file));
	const className = path.basename(file, ending);
	assert.equal(typeof module[className], 'function', `${file} exports ${className}`);
	return new module[className]();
}

/**
 * @param {{ light: string, dark: string }} icon
 * @param {string} file
 */
function checkIcons(icon, file) {
	for (const theme of [icon.light, icon.dark]) {
		const target = path.join(ROOT, path.dirname(file), theme.replace(/^file:/, ''));
		assert.ok(existsSync(target), `${file}: icon ${theme} is in the package`);
	}
}

copyCodex();
removeStrays();
checkPackage();
