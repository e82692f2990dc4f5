import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { requireSuccess, runCommand, runNpm } from '../../../host/command';
import { packageFolder } from '../../../host/paths';

export function packedNode(): string {
	const name = readdirSync(packageFolder).find((file) => file.endsWith('.tgz'));
	if (name === undefined) throw new Error(`Nothing is packed in ${packageFolder}`);
	return join(packageFolder, name);
}

export async function packedAs(version: string, folder: string): Promise<string> {
	const unpacked = join(folder, version);
	mkdirSync(unpacked, { recursive: true });
	const untar = ['-xzf', packedNode(), '-C', unpacked, '--strip-components=1'];
	requireSuccess(await runCommand('tar', untar, { cwd: folder }), 'Unpacking did not work');
	const manifest = join(unpacked, 'package.json');
	const content = JSON.parse(readFileSync(manifest, 'utf8')) as Record<string, unknown>;
	writeFileSync(manifest, JSON.stringify({ ...content, version }));
	const pack = await runNpm(['pack', '--ignore-scripts', '--silent'], { cwd: unpacked });
	requireSuccess(pack, 'Packing did not work');
	return join(unpacked, pack.output.trim());
}
