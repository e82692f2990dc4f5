import { isEmpty } from 'lodash';

import type { Comparison, Difference } from './compare';

const TITLES: Record<Difference['kind'], string> = {
	missing: 'Missing: the node counts on it, and the server does not have it',
	changed: 'Changed: both have it, and it is no longer the same',
	new: 'New: the server has it, and the node does not know it',
};

/** A comparison in plain words. */
export function report(server: string, { differences, notDescribed }: Comparison): string {
	const parts = (Object.keys(TITLES) as Array<Difference['kind']>).map((kind) =>
		section(
			TITLES[kind],
			differences.filter((one) => one.kind === kind),
		),
	);
	const silent = section('Not compared: the server does not describe the bodies of', notDescribed);
	const verdict = isEmpty(differences)
		? `"${server}" is what the node takes it for.`
		: `"${server}" differs from what the node takes it for in ${differences.length} ${differences.length === 1 ? 'place' : 'places'}.`;
	return [...parts, silent, verdict].filter(Boolean).join('\n\n');
}

function section(title: string, lines: Array<Pick<Difference, 'route' | 'operation' | 'what'>>) {
	if (isEmpty(lines)) return '';
	const texts = lines.map(({ route, operation, what }) => {
		const where = operation ? `${route} (${operation})` : route;
		return what === undefined ? `- ${where}` : `- ${where}: ${what}`;
	});
	return [title, ...texts].join('\n');
}
