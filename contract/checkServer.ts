import { isEmpty } from 'lodash';

import { compare } from './compare';
import { knownRoutes } from './knownRoutes';
import { report } from './report';
import { readServer } from './serverRoutes';

/** What is to be said, and the exit code: 0 where the server is as the node takes it, 1 where not, 2 without a document. */
export interface Checked {
	text: string;
	code: 0 | 1 | 2;
}

/** Compares the server that an OpenAPI document describes with the one of the recordings, as far as the node uses it. */
export async function checkServer(file: string): Promise<Checked> {
	try {
		const { title, routes } = await readServer(file);
		const { used, all } = await knownRoutes();
		const comparison = compare(used, routes, all);
		return { text: report(title, comparison), code: isEmpty(comparison.differences) ? 0 : 1 };
	} catch (caught) {
		const reason = caught instanceof Error ? caught.message : String(caught);
		return { text: `${file} cannot be read: ${reason}`, code: 2 };
	}
}
