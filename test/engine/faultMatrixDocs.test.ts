import path from 'node:path';

import { expectGenerated } from '../support/generated';
import { reliabilityPage } from './support/faultMatrixPage';

const PAGE = path.resolve(__dirname, '../../docs/reliability.md');

describe('docs/reliability.md', () => {
	// The fault matrix proves what stands there.
	it('is what the table of the fault matrix says', () => expectGenerated(PAGE, reliabilityPage()));
});
