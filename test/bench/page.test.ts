import { pageOf } from '../../bench/page/page';
import { PARTS } from '../../bench/parts';
import type { Figures } from '../../bench/run/part';
import type { Results } from '../../bench/run/results';

const FIGURES: Figures = Object.fromEntries(
	[
		...['documents', 'seconds', 'first', 'cpuSeconds', 'peakRss', 'peakHeap', 'requests', 'bytes'],
		...['read', 'found', 'everyMs', 'live', 'rssBefore', 'notStored'],
		...['lost', 'doubled', 'unreported'],
		...['firstMs', 'slowestFirstMs', 'laterMs', 'slowestLaterMs'],
		...['plain', 'first', 'unchanged', 'changed'].flatMap((night) =>
			['Seconds', 'Cpu', 'Bytes', 'NoteBytes', 'Asked'].map((word) => night + word),
		),
	].map((name) => [name, 2]),
);

const CURVES = {
	cpuCurve: [1, 8, 64],
	requestCurve: [1, 8, 64],
	byteCurve: [1, 8, 64],
};

function resultsWith(parts: Results['parts']): Results {
	const machine = {
		processor: 'A processor',
		cores: 2,
		memoryGigabytes: 8,
		system: 'Linux 6',
		node: 'v20.19.0',
	};
	return { machine, quick: false, minutes: 3, parts };
}

const allMeasured = () =>
	resultsWith(
		Object.fromEntries(
			PARTS.map(({ name, plan }) => {
				const { sizes, entries } = plan({ quick: true });
				const figures = entries.map((entry) => [entry.name, [{ ...FIGURES, ...CURVES }]]);
				return [
					name,
					{ measuredAt: '2026-01-01T00:00:00Z', sizes, entries: Object.fromEntries(figures) },
				];
			}),
		),
	);

const page = (results: Results) => pageOf(results, PARTS);

describe('the page of a whole run', () => {
	const markdown = page(allMeasured());

	it.each(PARTS.flatMap(({ aims }) => aims.map((aim) => [aim.what, aim] as const)))(
		'says how it stands with: %s',
		(_what, { what, against, aim }) => {
			const row = markdown
				.split('\n')
				.find((line) => line.startsWith(`| ${what} | ${against} | ${aim} |`));
			expect(row).toMatch(/\| (met|\*\*not met\*\*) \|$/);
		},
	);

	it('names the machine', () => {
		expect(markdown).toContain(
			'2 processor cores (A processor) and 8 GB of memory, Linux 6, Node v20',
		);
	});

	it('has no figure that is none', () => {
		expect(markdown).not.toMatch(/NaN|undefined|not measured/);
	});
});

describe('the page of a part of a run', () => {
	it('says what was not measured, and why', () => {
		const missing = {
			measuredAt: '2026-01-01T00:00:00Z',
			sizes: {},
			entries: {},
			missing: 'n8n is not installed',
		};
		const markdown = page(resultsWith({ n8n: missing }));
		expect(markdown).toContain('Not measured: n8n is not installed.');
		const all = PARTS.flatMap(({ aims }) => aims).length;
		expect(markdown).toContain(
			`Of ${all} aims, 0 are met and 0 are not, and ${all} were not measured.`,
		);
		expect(markdown).toContain('Not measured: no run has asked for it yet.');
	});
});
