import { type Part, type Row, bounded, compared, exponent, figure } from '../report';
import { type Measured, type Night, measure } from '../support/nights';
import { onServer } from '../support/server';

const KILOBYTE = { source: 'records', processes: true, textLength: 880 } as const;

/** Nights of a source, one after another on one server. */
const NIGHTS = {
	'without a memory': { ...KILOBYTE, mode: 'all' },
	'first load': { ...KILOBYTE, mode: 'changed' },
	'unchanged night': { ...KILOBYTE, mode: 'changed' },
	'1 % changed': { ...KILOBYTE, mode: 'changed', changedIn: 100 },
} satisfies Record<string, Omit<Night, 'documents'>>;

type NightName = keyof typeof NIGHTS;

const REMEMBERED: NightName[] = ['first load', 'unchanged night', '1 % changed'];

/** What large sources take: of time, requests and bytes. */
export const sourcesPart: Part = {
	name: 'sources',
	measure: async ({ quick }) => {
		const sizes = quick
			? { small: 500, middle: 4000, large: 8000 }
			: { small: 8000, middle: 64_000, large: 128_000 };
		const small = await nights(sizes.small);
		const middle = await nights(sizes.middle);
		const large = await nights(sizes.large);
		const items = [await itemsOf(sizes.small), await itemsOf(sizes.middle)] as const;
		return [
			...noteRows(sizes.middle, middle, sizes.large, large),
			...growthRows(
				[sizes.small, sizes.middle],
				[...REMEMBERED.map((name) => [small[name], middle[name]] as const), items],
			),
		];
	},
};

type Nights = Record<NightName, Measured>;

async function nights(documents: number): Promise<Nights> {
	return await onServer('bare', async (server) => {
		const measured: Partial<Nights> = {};
		for (const name of Object.keys(NIGHTS) as NightName[])
			measured[name] = await measure(server, { documents, ...NIGHTS[name] });
		return measured as Nights;
	});
}

const itemsOf = async (documents: number) =>
	await onServer('bare', async (server) => {
		const night = { ...KILOBYTE, source: 'fields', mode: 'all', processes: false } as const;
		return await measure(server, { documents, ...night });
	});

/** What it costs to remember a source. */
function noteRows(middle: number, ofMiddle: Nights, large: number, ofLarge: Nights): Row[] {
	const noteBytes = (measured: Nights, name: NightName) => measured[name].noteBytes;
	return [
		compared(
			`time of the first load of ${figure(large)} records, Send New and Changed`,
			[ofLarge['first load'].seconds],
			[
				'the same records by Send Everything, which remembers nothing',
				[ofLarge['without a memory'].seconds],
			],
			{ most: 1.5 },
		),
		bounded(
			`bytes of notes a document, first load of ${figure(large)}`,
			[noteBytes(ofLarge, 'first load') / large],
			{ most: 95 },
		),
		bounded(
			`bytes of notes, unchanged night of ${figure(middle)}`,
			[noteBytes(ofMiddle, 'unchanged night')],
			{ most: 1300 },
		),
		bounded(
			`bytes of notes a document, ${figure(large)} with 1 % changed`,
			[noteBytes(ofLarge, '1 % changed') / large],
			{ most: 33 },
		),
	];
}

const STEP = 'growth in step with the documents, which is 1; four kinds of nights';

/** How costs grow between two sizes, for each kind of work. */
function growthRows(
	sizes: [number, number],
	works: Array<readonly [small: GrowthCost, middle: GrowthCost]>,
): Row[] {
	const row = (what: string, costs: Array<keyof GrowthCost>, most: number) => {
		const exponents = works.flatMap(([small, middle]) =>
			costs.map((cost) => exponent(sizes, [small[cost], middle[cost]])),
		);
		const [from, to] = sizes.map((size) => figure(size));
		const title = `power with which ${what} grow from ${from} to ${to} documents`;
		return bounded(title, exponents, { most }, { digits: 2, beside: STEP });
	};
	return [
		row('requests and bytes', ['requests', 'bytes'], 1.02),
		row('processor times', ['cpuSeconds'], 1.1),
	];
}

type GrowthCost = Pick<Measured, 'requests' | 'bytes' | 'cpuSeconds'>;
