// @ts-check
'use strict';

/**
 * Remakes the README's pictures: the browser tests of the editor, told where to put them. What the
 * pictures show is what the tests have checked.
 */
process.env.XPERTAI_SCREENSHOTS = require('node:path').join(__dirname, '..', 'docs', 'images');

void require('jest').run([
	'--selectProjects',
	'e2e',
	'--testPathPatterns',
	'test/e2e/editor.e2e',
	'test/e2e/firstSteps',
]);
