import { isEqual, set } from 'lodash';
import { DateTime } from 'luxon';
import type { IDataObject } from 'n8n-workflow';
import { inspect } from 'node:util';

import { isUuid } from 'nodes/XpertAi/payloads/ids';
import { endpoints } from 'sandbox';
import type { LoggedRequest } from 'sandbox/requestLog';
import { OPERATIONS } from '../nodes/support/properties';
import { ALL_CASES } from './support/cases';
import { useFixture } from './support/fixture';
import type { NodeResult } from './support/engine';
import { placesOf, type Place } from './support/hostilePlaces';

const fixture = useFixture();

/** Deeper than any function that calls itself can follow. */
const LEVELS = 10_000;
const LONG = 20_000;

const deepLists = `${'['.repeat(LEVELS)}${']'.repeat(LEVELS)}`;
const deepObjects = `${'{"a":'.repeat(LEVELS)}1${'}'.repeat(LEVELS)}`;

/** One of each kind that no user means to enter, made anew; an expression can give all of them. */
const hostileValues = (): unknown[] => [
	// What means something to paths, headers, parsers or JavaScript itself.
	...'. .. ../ ../../v1/kb/1 ..%2f..%2fv1 %2f %2e%2e % a/b a\\..\\b , /'.split(' '),
	...'?a=1&ids=2 #there //evil.example/ @evil.example https://evil.example/../x http://['.split(
		' ',
	),
	...'__proto__ constructor constructor.name toString true NaN Infinity 1e999 -1 0x10'.split(' '),
	...'null "text" [1] { {"a": {"a":"\\ud800"} {"a":1e999}'.split(' '),
	'{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
	'a\r\nX-Injected: 1\r\n\r\nGET / HTTP/1.1',
	...['\r\n', 'a\0b', '\ud800', 'b\udc00c', '\u202eRTL \u05d0\u05d1', '👩‍👩‍👧 é ﷽', '', '   '],
	...['x'.repeat(LONG), '👩'.repeat(LONG / 2), deepLists, deepObjects],
	...[0, -0, -1, 1.5, 5e-324, 2 ** 31, 2 ** 53, 1e21, 1e308, NaN, Infinity, -Infinity],
	...[null, undefined, true, false, BigInt(10)],
	...[[], [null], [[]], [{}], [undefined], ['a', '../b'], ['\ud800']],
	...[{}, { a: { b: [1] } }, { a: [BigInt(10)] }, { a: NaN }, Object.create(null)],
	{ __rl: true, mode: 'id', value: { a: 1 } },
	// What has no text.
	...[{ toString: 1, valueOf: 1 }, [{ toString: 1, valueOf: 1 }]],
	...[JSON.parse('{"__proto__":{"polluted":1}}'), { constructor: { prototype: { polluted: 1 } } }],
	...[new Date(0), new Date(NaN), { a: new Date(NaN) }],
	...[DateTime.fromMillis(0), DateTime.fromMillis(NaN)],
	...[JSON.parse(deepLists), JSON.parse(deepObjects), { a: [JSON.parse(deepObjects)] }],
];

/** Freezes a value and everything in it, without calling itself: values may be deep. */
function deepFreeze<Value>(root: Value): Value {
	const waiting: unknown[] = [root];
	while (waiting.length > 0) {
		const value = waiting.pop();
		if (typeof value !== 'object' || value === null || Object.isFrozen(value)) continue;
		// Dates of luxon remember what they have worked out.
		if (DateTime.isDateTime(value)) continue;
		if (!ArrayBuffer.isView(value)) Object.freeze(value);
		waiting.push(...Object.values(value));
	}
	return root;
}

/** Of each operation; together some thousands. */
const RUNS = 88;

const VALUES = deepFreeze(hostileValues());

/** Runs the node over one item that holds the value, which comes out of it through an expression, as in a workflow. */
async function runWith({ path, good, wrap = (one) => one, isColumn }: Place, value: unknown) {
	const parameters = structuredClone(good);
	const json: IDataObject = { name: 'a document' };
	set(isColumn ? json : parameters, path, isColumn ? value : '={{ $json.hostile }}');
	if (!isColumn) set(json, 'hostile', wrap(value));
	const data = await fixture.engine.binary(
		Buffer.from('[{"name":"a"}]'),
		'a.json',
		'application/json',
	);
	fixture.sandbox.requests.clear();
	// n8n itself writes a date of luxon as text into what an expression gives.
	const items = [{ json: DateTime.isDateTime(value) ? json : deepFreeze(json), binary: { data } }];
	return (await fixture.run(parameters, { items })).error;
}

const ROUTES = [...endpoints.map(({ path }) => path), ...ALL_CASES.map(({ sends }) => sends)];
const WORDS = new Set(
	[...ROUTES, 'user/me'].flatMap((path) => path.replace(/\?.*/, '').split(/[/ ]/)),
);

/** Headers the node may set, and those n8n and its HTTP client add. */
const HEADERS =
	/^(accept|content-type|authorization|user-agent|content-length|accept-encoding|host|connection|transfer-encoding)$/i;

/** What is wrong with a request: it must be for a route, with the ID that was given, or one that the node makes, whole. */
function requestFlaw({ endpoint, method, path, headers }: LoggedRequest, value: unknown) {
	if (endpoint === undefined) return `no route: ${method} ${path}`;
	const { pathname, searchParams } = new URL(path, 'http://localhost');
	const given = typeof value === 'object' && value && 'value' in value ? value.value : value;
	const text = typeof given === 'number' ? String(given) : given;
	const isGiven = (id: string) =>
		(typeof text === 'string' && [text, text.trim()].includes(id)) ||
		(DateTime.isDateTime(text) && +DateTime.fromISO(id) === +text);
	const segments = pathname
		.replace(/^\/api\/(?:ai\/)?/, '')
		.split('/')
		.map(decodeURIComponent);
	const id = segments.find((one) => !WORDS.has(one) && !isUuid(one) && !isGiven(one));
	if (id !== undefined) return `the ID ${id}`;
	if ([...searchParams.keys()].some((key) => key !== 'ids')) return `a query: ${path}`;
	const header = Object.keys(headers).find((name) => !HEADERS.test(name));
	return header && `a header: ${header}`;
}

/** These decide on other parameters, which the message may be about. */
const SWITCHES = new Set<unknown>(['threadSource', 'options', 'tuning', 'text', 'name']);

function namesFor({ path }: Place, all: Place[]): string[] {
	const isAbout = (other: Place) =>
		SWITCHES.has(path[0]) ||
		SWITCHES.has(path.at(-1)) ||
		isEqual(other.path.slice(0, path.length), path);
	return all.filter(isAbout).flatMap(({ names }) => names);
}

/** What is wrong with an error: it must be n8n's, and name the item and one of these parameters, if any. */
function errorFlaw({ name, message, context }: NonNullable<NodeResult['error']>, names: string[]) {
	if (name !== 'NodeApiError' && name !== 'NodeOperationError')
		return `an error that is not typed: ${name}: ${message}`;
	if (context?.itemIndex !== 0) return `an error without the item: ${message}`;
	if (message.length > 2000) return `a message of ${message.length} characters`;
	if (names.length === 0 || names.some((one) => message.includes(`"${one}"`))) return undefined;
	return `an error that names no parameter: ${message.slice(0, 160)}`;
}

/** What is wrong with a run, if anything. */
async function flawOf(place: Place, all: Place[], value: unknown): Promise<string | undefined> {
	const error = await runWith(place, value);
	const requests = fixture.sandbox.requests.all;
	for (const request of requests) {
		const flaw = requestFlaw(request, value);
		if (flaw) return flaw;
	}
	// What the server answers, or has answered before, may be about anything.
	const isRefused = requests.length === 0 && error?.name === 'NodeOperationError';
	return error && errorFlaw(error, isRefused ? namesFor(place, all) : []);
}

const BUILT_IN = [Object.prototype, Array.prototype, String.prototype, Function.prototype, Object];
const builtIns = () => BUILT_IN.map((one) => Object.entries(Object.getOwnPropertyDescriptors(one)));

describe.each(OPERATIONS.map((one, seed) => ({ ...one, seed })))(
	'hostile input of $title',
	({ resource, operation, seed }) => {
		it('ends in a typed error with item and place, or in the request that was meant', async () => {
			const before = builtIns();
			const places = placesOf(resource, operation);
			const flaws: string[] = [];
			for (let run = 0; run < RUNS; run++) {
				// In turn, so that in each operation every kind of value occurs.
				const place = places[(run * 7) % places.length] as Place;
				const value = VALUES[(seed * RUNS + run * 5) % VALUES.length];
				const flaw = await flawOf(place, places, value);
				const kind = inspect(value, { depth: 0 }).slice(0, 60);
				if (flaw) flaws.push(`${place.path.join('.')} = ${kind}: ${flaw}`);
			}
			expect(flaws).toEqual([]);
			expect(builtIns()).toEqual(before);
			expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
		});
	},
);
