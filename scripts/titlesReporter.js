// @ts-check
'use strict';

/**
 * Fails a run that has a title which shows a value of the code in place of words, as a table without names for its rows
 * does: JSON, "[object Object]", a line break, or what a placeholder left over.
 */
const UNREADABLE = /[{[]"|\{ \w+:|":|\[\{|\[object |[\n\r]|%[jpoOsdif#]|\$\{/;

/** What a title shows for what it is: an expression of n8n, a pattern, a text that stands for a missing value. */
const SHOWN =
	/holds an expression: .*|\{\{.*\}\}|\/\^.*\$\/|\/.*\/[a-z]* in (nodes|credentials)\/.*|missing value: .*/g;

/** Labels of recordings stay as they are. */
const RECORDED = /\brecorded\b|a real server/;

/** @param {string[]} titles of a test and of what it stands in */
const isUnreadable = (titles) =>
	!titles.some((title) => RECORDED.test(title)) &&
	titles.some((title) => UNREADABLE.test(title.replace(SHOWN, '')));

module.exports = class TitlesReporter {
	constructor() {
		/** @type {string[]} */
		this.found = [];
	}

	/**
	 * @param {unknown} _test
	 * @param {{ testResults: Array<{ ancestorTitles: string[], title: string }> }} result
	 */
	onTestResult(_test, { testResults }) {
		for (const { ancestorTitles, title } of testResults)
			if (isUnreadable([...ancestorTitles, title]))
				this.found.push([...ancestorTitles, title].join(' › '));
	}

	onRunComplete() {
		for (const title of this.found)
			console.error(`● its table has no names for its rows, give them as first column: ${title}`);
	}

	/** Without tests that fail, this fails the run. */
	getLastError() {
		return this.found.length > 0 ? new Error('titles that cannot be read') : undefined;
	}
};
