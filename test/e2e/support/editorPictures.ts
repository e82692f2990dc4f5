import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const FOLDER = join(tmpdir(), 'xpertai-pictures');

/** The panel of a node, without the dimmed canvas around it. */
export const PANEL = { x: 25, y: 25, width: 1390, height: 850 };

/** The path of a picture to look at, in a temporary folder. */
export function picturePath(name: string): string {
	return pathIn(FOLDER, name);
}

/** The path of a picture that stands in the README; `npm run screenshots` puts it where it belongs. */
export function readmePicture(name: string): string {
	return pathIn(resolve(process.env.XPERTAI_SCREENSHOTS ?? FOLDER), name);
}

function pathIn(folder: string, name: string): string {
	mkdirSync(folder, { recursive: true });
	return join(folder, `${name}.png`);
}
