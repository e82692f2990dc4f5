import { readFileSync } from 'node:fs';
import path from 'node:path';

import { expectGenerated, withPart } from '../support/generated';
import { faultTables } from './support/faultMatrixPage';

const PAGE = path.resolve(__dirname, '../../docs/reliability.md');

describe('docs/reliability.md', () => {
	// The fault matrix proves what stands there.
	it('has the table of the fault matrix', () =>
		expectGenerated(PAGE, withPart(readFileSync(PAGE, 'utf8'), 'faults', faultTables())));
});
