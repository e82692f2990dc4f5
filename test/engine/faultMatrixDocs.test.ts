import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { reliabilityPage } from './support/faultMatrixPage';

const PAGE = path.resolve(__dirname, '../../docs/reliability.md');

describe('docs/reliability.md', () => {
	// UPDATE_DOCS=1 writes the page anew; the fault matrix proves what stands there.
	it('is what the table of the fault matrix says', () => {
		const page = reliabilityPage();
		if (process.env.UPDATE_DOCS === '1') writeFileSync(PAGE, page);
		expect(readFileSync(PAGE, 'utf8')).toBe(page);
	});
});
