import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { Registry } from './registry';
import { packedNode } from './tarball';

/**
 * Gives the tests that surround the call a registry with the node in it; it and the folder, which gets
 * all they write, are gone after them.
 */
export function publishedNode(folder: string): { registry: () => Registry } {
	let started: Registry | undefined;

	beforeAll(async () => {
		started = await Registry.start(join(folder, 'registry'));
		await started.publish(packedNode());
	});

	afterAll(async () => {
		await started?.stop();
		rmSync(folder, { recursive: true, force: true });
	});

	return {
		registry: () => {
			if (!started) throw new Error('The registry has not started yet');
			return started;
		},
	};
}
