import { isPlainObject, mapValues, omit, pick, zip } from 'lodash';

type Loose = Record<string, unknown>;

/** Where a recording ends a text that goes on, how it shortens what a tool has found, and what it leaves out. */
const CUT = /…\s?[[(]cut[^\])]*[\])]$/;
const CUT_TO = /^CUT TO (.*)$/s;
const LEFT_OUT = 'left out';

/** Under this a recorded object says that fields of it were cut. */
const FURTHER = '…';

const ONLY_LAST = /\d+(?= messages, the last is shown$)/;

/**
 * A recorded answer and the sandbox's, both without what the recording has cut: of a text its beginning and the
 * documents that are named there, of what a tool has found the names and what it says of its filter.
 *
 * @param isShort whether rows have some of their columns, and threads the last of their messages
 */
export function alike(recorded: unknown, actual: unknown, isShort: boolean): [unknown, unknown] {
	if (typeof recorded === 'string') return textsAlike(recorded, actual);
	if (Array.isArray(recorded) && Array.isArray(actual)) {
		const all = isShort ? lastOf(recorded, actual as unknown[]) : (actual as unknown[]);
		const pairs = zip(recorded, all).map(([one, other]) => alike(one, other, isShort));
		return [
			pairs.slice(0, recorded.length).map(([one]) => one),
			pairs.slice(0, all.length).map(([, other]) => other),
		];
	}
	if (!isPlainObject(recorded) || !isPlainObject(actual)) return [recorded, actual];
	const [one, all] = [omit(recorded as Loose, FURTHER), actual as Loose];
	const other = isShort || FURTHER in (recorded as Loose) ? pick(all, Object.keys(one)) : all;
	const pairs = mapValues(pick(one, Object.keys(other)), (value, key) =>
		alike(value, other[key], isShort),
	);
	return [
		{ ...one, ...mapValues(pairs, ([mine]) => mine) },
		{ ...other, ...mapValues(pairs, ([, theirs]) => theirs) },
	];
}

/** Of messages only the last may have been kept, after a note that says how many there were. */
function lastOf(recorded: unknown[], actual: unknown[]): unknown[] {
	const [first] = recorded as Array<Loose | undefined>;
	const note = String(first?.note ?? '');
	if (ONLY_LAST.test(note)) {
		const told = { note: note.replace(ONLY_LAST, String(actual.length)) };
		return [told, ...actual.slice(actual.length - recorded.length + 1)];
	}
	return isPlainObject(first) && first && 'content' in first
		? actual.slice(-recorded.length)
		: actual;
}

function textsAlike(recorded: string, actual: unknown): [unknown, unknown] {
	if (recorded === LEFT_OUT) return [LEFT_OUT, LEFT_OUT];
	const [, kept] = CUT_TO.exec(recorded) ?? [];
	if (kept !== undefined) return [foundIn(kept), foundIn(actual)];
	if (!CUT.test(recorded)) return [recorded, actual];
	const text = recorded.replace(CUT, '');
	const isText = typeof actual === 'string';
	if (!text.startsWith('{')) return [beginning(text), isText && beginning(actual)];
	const [named, found] = [
		documentsIn(text),
		documentsIn(isText ? actual : JSON.stringify(actual, null, 2)),
	];
	return [
		[isText && beginning(text), named],
		[isText && beginning(actual), named.filter((one) => found.includes(one))],
	];
}

interface Found {
	chunks: Array<{ documentName: string }>;
	diagnostics: Array<{ filterStatus: string; hitCount: number }>;
}

function foundIn(answer: unknown): unknown {
	const all: unknown = typeof answer === 'string' ? JSON.parse(answer) : answer;
	const { chunks, diagnostics } = all as Found;
	const names = chunks.map(({ documentName }) => documentName);
	return { names, diagnostics: diagnostics.map((one) => pick(one, 'filterStatus', 'hitCount')) };
}

/** The documents that are named; which of several comes first is a matter of an embedding model. */
const documentsIn = (text: string): string[] => text.match(/"documentName": "[^"]*"/g) ?? [];

/** What stands before the first passage, which has ids and scores. */
const beginning = (text: string) => text.split(/"chunkId"|\[\]/)[0]?.slice(0, 60);
