import { PATIENCE_MS } from '../../host/waitFor';

/** A test of several waits says which of them was in vain before it ends itself. */
jest.setTimeout(3 * PATIENCE_MS);
