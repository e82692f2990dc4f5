import { isPlainObject, pick, zip } from 'lodash';

/** Where a recording ends a text that goes on, and how it shortens what a tool has found. */
const CUT = /…\s?[[(]cut[^\])]*[\])]$/;
const CUT_TO = /^CUT TO (.*)$/s;
const LEFT_OUT = 'left out';

/**
 * A recorded answer and the sandbox's, both without what the recording has cut: of a text its beginning, the documents
 * that are named there and how many there were, of what a tool has found the documents and what it says of its filter.
 */
export function uncut(recorded: unknown, actual: unknown): [recorded: unknown, actual: unknown] {
	if (typeof recorded === 'string') return ofTexts(recorded, actual);
	if (Array.isArray(recorded) && Array.isArray(actual)) {
		const pairs = zip<unknown>(recorded, actual).map(([one, other]) => uncut(one, other));
		return [
			pairs.slice(0, recorded.length).map(([one]) => one),
			pairs.slice(0, actual.length).map(([, other]) => other),
		];
	}
	if (!isPlainObject(recorded) || !isPlainObject(actual)) return [recorded, actual];
	const [mine, other] = [{ ...(recorded as Loose) }, { ...(actual as Loose) }];
	for (const key of Object.keys(mine)) {
		if (key in other) [mine[key], other[key]] = uncut(mine[key], other[key]);
	}
	return [mine, other];
}

type Loose = Record<string, unknown>;

function ofTexts(recorded: string, actual: unknown): [unknown, unknown] {
	if (recorded === LEFT_OUT) return [LEFT_OUT, LEFT_OUT];
	if (typeof actual !== 'string') return [recorded, actual];
	const [, kept] = CUT_TO.exec(recorded) ?? [];
	if (kept !== undefined) return [JSON.parse(kept), cutTo(JSON.parse(actual) as Found)];
	const [mark] = CUT.exec(recorded) ?? [];
	if (mark === undefined) return [recorded, actual];
	const text = recorded.replace(CUT, '');
	const [named, found] = [documentsIn(text), documentsIn(actual)];
	const isOfTool = text.startsWith('{');
	const count = isOfTool ? passagesIn(mark) : undefined;
	return [
		{ beginning: beginning(text), named: isOfTool && named, count },
		{
			beginning: beginning(actual),
			named: isOfTool && named.filter((one) => found.includes(one)),
			count: count === undefined ? undefined : found.length / NAMED,
		},
	];
}

interface Found {
	chunks: object[];
	diagnostics: unknown;
}

const cutTo = ({ chunks, diagnostics }: Found) => ({
	chunks: chunks.map((chunk) => pick(chunk, 'documentName')),
	diagnostics,
});

/** The documents that are named; which of several comes first is a matter of an embedding model. */
const documentsIn = (text: string): string[] => text.match(/"documentName": "[^"]*"/g) ?? [];

/** What stands before the first passage, which has ids and scores. */
const beginning = (text: string) => text.split('"chunkId"')[0]?.slice(0, 60);

/** Each passage is named once more among the citations. */
const NAMED = 2;

/** What a tool says without a passage, how much each adds, and of how many that tells the number. */
const [EMPTY, EACH, MOST] = [1200, 2280, 5];

/** How many passages a tool has found, by the length of what it said. */
function passagesIn(mark: string): number | undefined {
	const [, length] = /(\d+) characters/.exec(mark) ?? [];
	const count = Math.round(Math.max(0, Number(length) - EMPTY) / EACH);
	return count <= MOST ? count : undefined;
}
