import { writeFileSync } from 'node:fs';
import path from 'node:path';

/** The folder of a package with the node `platform` in it, for n8n's loader. */
export function platformPackage(): string {
	const about = { name: 'n8n-nodes-bench', version: '0.0.0', n8n: { nodes: ['Platform.js'] } };
	writeFileSync(path.join(__dirname, 'package.json'), JSON.stringify(about));
	return __dirname;
}
