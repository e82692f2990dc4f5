import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(__dirname, '../..');

/** The shipped sources, by their paths. */
const SOURCES = ['nodes', 'credentials'].flatMap((folder) =>
	readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
		.filter((name) => name.endsWith('.ts'))
		.map((name): [string, string] => [name, readFileSync(path.join(ROOT, folder, name), 'utf8')]),
);

it('no shipped code asks who the user of a key is: servers answer that with the hash of a password', () => {
	expect(SOURCES.length).toBeGreaterThan(100);
	const asking = SOURCES.filter(([, source]) => /user\/me|users?\/current/i.test(source));
	expect(asking.map(([name]) => name)).toEqual([]);
});
