// @ts-check
'use strict';

/**
 * Remakes the PDFs of the demo handbook below examples/documents from the pages in scripts/pdf. It needs
 * Chromium, so it is run by hand when a page changes: node scripts/handbookPdfs.js
 * CHROMIUM names the program when it is not on the path.
 */
const { execFileSync } = require('node:child_process');
const path = require('node:path');
const { pathToFileURL } = require('node:url');

/** The page in scripts/pdf, and the PDF below examples/documents that is made of it. */
const PDFS = {
	'quick-start.html': 'handbook/quick-start.pdf',
	'warranty.html': 'service/warranty.pdf',
};

const DOCUMENTS = path.resolve(__dirname, '../examples/documents');

for (const [page, pdf] of Object.entries(PDFS)) {
	const parameters = [
		'--headless',
		'--no-sandbox',
		'--disable-gpu',
		'--no-pdf-header-footer',
		`--print-to-pdf=${path.join(DOCUMENTS, pdf)}`,
		pathToFileURL(path.join(__dirname, 'pdf', page)).href,
	];
	// Chromium writes much about the desktop it misses; it is shown only when Chromium gives up.
	execFileSync(process.env.CHROMIUM ?? 'chromium', parameters, { stdio: 'pipe' });
}
