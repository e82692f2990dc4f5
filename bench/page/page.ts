import { compact, uniq } from 'lodash';

import type { Aim, Part, Section } from '../run/part';
import type { Results } from '../run/results';
import { notMeasured, table } from './words';

/** Makes the page of what was measured, in Markdown. */
export function pageOf(results: Results, parts: Part[]): string {
	const sections = parts.map((part) => ({ part, section: sectionOf(part, results) }));
	const aims = sections.flatMap(({ section }) => section.aims);
	const text = [
		'# How fast is it?',
		introduction(results),
		'## Aims',
		aimTable(aims),
		verdict(aims),
		...sections.flatMap(({ part, section }) => [
			`## ${part.title}: \`${part.name}\``,
			whenMeasured(part, results),
			section.text,
		]),
	];
	return `${compact(text.map((one) => one.trim())).join('\n\n')}\n`;
}

/** The table of aims alone. */
export function aimsOf(results: Results, parts: Part[]): Aim[] {
	return parts.flatMap((part) => sectionOf(part, results).aims);
}

function sectionOf(part: Part, { parts }: Results): Section {
	const results = parts[part.name];
	if (!results) return notMeasured(part.aims, 'no run has asked for it yet');
	if (results.missing !== undefined) return notMeasured(part.aims, results.missing);
	return part.report(results);
}

function introduction({ machine, quick, minutes, parts }: Results): string {
	const days = Object.values(parts).map(({ measuredAt }) => measuredAt.slice(0, 10));
	const [first = '', last = ''] = [days.sort()[0], days.sort().at(-1)];
	const n8n = machine.n8n === undefined ? '' : `, n8n ${machine.n8n}`;
	return `
<!-- Made by "npm run bench" of bench/results.json; the words stand in bench/parts and bench/page. -->

Fast enough that the server sets the pace: [how big it can get](sizes.md) has what to expect. This page is for those who change the code. One run measures all of it, contenders in turns, and writes this page:

\`\`\`
npm run bench                       # all parts
npm run bench -- --quick            # a small trial, whose page goes to bench/dist/quick
npm run bench -- --only submit,n8n  # some parts anew, the others as they are
npm run bench -- --render           # the page anew, of what was measured last
\`\`\`

Measured on ${first === last ? first : `${first} to ${last}`} on a machine with ${machine.cores} processor cores (${machine.processor}) and ${machine.memoryGigabytes} GB of memory, ${machine.system}, Node ${machine.node}${n8n}; the last run of all parts took ${minutes.toFixed(1)} minutes.${quick ? ' **It was a small trial: the figures are too noisy to go by.**' : ''}

None of this is a promise: ratios of one run differ less than documents a second, which change with the machine and the minute. Of several rounds the middle one is given, with the lowest and the highest. Servers are the sandbox of this project, in a process of its own, over real HTTP.`;
}

const WORDS = { met: 'met', missed: '**not met**', unknown: 'not measured' };

const standing = ({ met }: Aim) =>
	met === undefined ? WORDS.unknown : met ? WORDS.met : WORDS.missed;

function aimTable(aims: Aim[]): string {
	return table(
		['what', 'against', 'aim', 'measured', ''],
		aims.map((aim) => [aim.what, aim.against, aim.aim, aim.measured, standing(aim)]),
	);
}

function verdict(aims: Aim[]): string {
	const count = (met: boolean | undefined) => aims.filter((aim) => aim.met === met).length;
	const unknown = count(undefined) > 0 ? `, and ${count(undefined)} were not measured` : '';
	return `Of ${aims.length} aims, ${count(true)} are met and ${count(false)} are not${unknown}. An aim counts as met only where every round has met it; fewer than seven rounds say little of how far figures spread.`;
}

/** When a part was measured, to the minute, where not all were in one run: a machine is not the same at all times. */
function whenMeasured(part: Part, { parts }: Results): string {
	const minute = (at: string) => at.slice(0, 16).replace('T', ', ');
	const runs = uniq(Object.values(parts).map(({ measuredAt }) => minute(measuredAt)));
	const at = parts[part.name]?.measuredAt;
	return at === undefined || runs.length < 2 ? '' : `_Measured on ${minute(at)} UTC._`;
}
