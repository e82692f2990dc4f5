import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

import { projectRoot } from '../../host/paths';
import { type Row, rowSchema } from '../report';

const FILE = path.join(projectRoot, 'bench', 'dist', 'rows.json');

const keptSchema = z.record(z.array(rowSchema));

/** Keeps the rows of a part, so that a part can be measured again without the others. */
export function keepRows(part: string, rows: Row[]): void {
	writeFileSync(FILE, JSON.stringify({ ...read(), [part]: rows }, null, '\t'));
}

/** The last rows of all these parts; undefined if one of them was never measured here. */
export function keptRows(parts: string[]): Row[] | undefined {
	const kept = read();
	if (parts.some((part) => kept[part] === undefined)) return undefined;
	return parts.flatMap((part) => kept[part] ?? []);
}

const read = () =>
	existsSync(FILE) ? keptSchema.parse(JSON.parse(readFileSync(FILE, 'utf8'))) : {};
