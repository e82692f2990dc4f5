import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { API_ROOT } from 'nodes/XpertAi/transport/api';
import { OPERATIONS } from '../support/properties';
import { requestOf } from '../support/requests';

interface Recording {
	exchanges?: Array<{
		request?: { method: string; path: string };
		response?: { status: number };
	}>;
}

const FOLDER = path.resolve(__dirname, '../../recordings');

/** What a server answers that has no such route, or looked at the token only. */
const UNKNOWN = [401, 404];

/** Method and path of each recorded request that a route of the server answered. */
const ANSWERED = readdirSync(FOLDER)
	.filter((file) => file.endsWith('.json'))
	.map((file) => JSON.parse(readFileSync(path.join(FOLDER, file), 'utf8')) as Recording)
	.flatMap(({ exchanges = [] }) => exchanges)
	.flatMap(({ request, response }) =>
		request && response && !UNKNOWN.includes(response.status)
			? [`${request.method} ${request.path.replace(/\?.*/, '')}`]
			: [],
	);

const ROUTES = OPERATIONS.map(({ title, operation }) => {
	const { method, path: template } = requestOf(operation);
	return { title, method, template: API_ROOT + template.replace(/\?.*/, '') };
});

describe('a route', () => {
	it.each(ROUTES)('of $title is one of the recorded server: $method', ({ method, template }) => {
		const pattern = new RegExp(`^${method} ${template.replace(/\{[^}]*\}/g, '[^/]+')}$`);
		const advice = `no recording has ${pattern.source}: put an exchange with a real server into test/recordings`;
		expect(ANSWERED.some((one) => pattern.test(one)) ? '' : advice).toBe('');
	});
});
