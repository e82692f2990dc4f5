import groupBy from 'lodash/groupBy';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

import { markdownTable } from '../../support/generated';

const FOLDER = path.resolve(__dirname, '../../mutation');

/** What `npm run test:mutation` has found, by room. */
const results = z.record(
	z.object({
		counts: z.record(z.object({ killed: z.number(), all: z.number() })),
		survivors: z.array(z.object({ file: z.string(), from: z.string(), to: z.string() })),
	}),
);

/** Why mutants survive, by file and by what was changed: `from → to`. */
const words = z.record(z.record(z.string()));

const read = <Schema extends z.ZodTypeAny>(name: string, schema: Schema): z.infer<Schema> => {
	const file = path.join(FOLDER, name);
	return schema.parse(existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {});
};

const INTRO = `
## The tests themselves

Every night the lines that keep these promises are changed one at a time (StrykerJS: a condition turned round, a call
left out, a bound moved by one), and a test beside them has to notice (\`npm run test:mutation\`). What is not noticed
is named here, with the reason. Words for users are not changed: tests hold them as they are. What only n8n calls, such as
a poll as a whole, is tried in n8n's engine and not here.

`;

/** How many mutants the tests of each file have noticed, and a word on each of the others. */
export function mutationSection(): string {
	const rooms = Object.values(read('results.json', results));
	if (rooms.length === 0) return '';
	const said = read('survivors.json', words);
	const rows = rooms
		.flatMap(({ counts }) => Object.entries(counts))
		.map(([file, { killed, all }]) => [
			`\`${file.replace('nodes/', '')}\``,
			`${all}`,
			`${killed}`,
			`${((100 * killed) / Math.max(1, all)).toFixed(1)} %`,
		]);
	const survivors = groupBy(
		rooms.flatMap((room) => room.survivors),
		'file',
	);
	const lists = Object.entries(survivors).map(([file, mutants]) => {
		const lines = mutants.map(({ from, to }) => {
			const change = `${from} → ${to}`;
			return `- \`${change}\`: ${said[file]?.[change] ?? 'no word yet'}`;
		});
		return `\n### \`${file.replace('nodes/', '')}\`\n\n${lines.join('\n')}\n`;
	});
	const table = markdownTable(['File', 'Mutants', 'Noticed', 'Share'], rows);
	return `${INTRO}${table}\n${lists.join('')}`;
}
