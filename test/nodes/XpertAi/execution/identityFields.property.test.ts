import fc from 'fast-check';
import { attempt, isDate, isError, isObject } from 'lodash';
import { DateTime } from 'luxon';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { checkedKey, identityText, keyOf } from 'nodes/XpertAi/execution/identityFields';
import { sourceNameAndShard } from 'nodes/XpertAi/operations/document/sourceIdentity';
import { conversationKeyOf } from 'nodes/XpertAi/operations/thread/run/runRequest';
import { readVersion } from 'nodes/XpertAi/operations/document/submit/documentVersion';
import type { Item } from 'nodes/XpertAi/execution/item';
import { findChanges } from 'nodes/XpertAi/operations/document/findChanges';
import { submitFields } from 'nodes/XpertAi/operations/document/submit/fields';
import type { InputDocument } from 'nodes/XpertAi/operations/document/submit/sources/inputDocument';
import { readDocuments } from 'nodes/XpertAi/operations/document/submit/sources/readDocuments';
import { startFields } from 'nodes/XpertAi/operations/thread/run/fields';
import { readRunInput } from 'nodes/XpertAi/operations/thread/run/runRequest';
import { templateValueByParts, MissingPart } from 'nodes/XpertAi/payloads/identity';
import { parseTemplate, partsOf } from 'nodes/XpertAi/payloads/template';
import { PROPERTY_RUNS } from 'test/support/propertyRuns';

import { itemOf } from '../../support/context';
import { n8nValue } from '../../support/expressions';

/** What an item may hold in a column. */
const value: fc.Arbitrary<unknown> = fc.oneof(
	{ arbitrary: fc.stringMatching(/^[a-z0-9]{1,4}$/), weight: 6 },
	fc.constantFrom('null-safety.md', 'reference/undefined/index.md', 'Ü', "it's", '{{ x }}', '\\'),
	fc.constantFrom<unknown>(undefined, null, '', ' ', Number.NaN, 2 ** 60, {}, { a: 1 }, [], ['a']),
	fc.constantFrom<unknown>(0, 1, -1.5, true, false, new Date(0), new Date(Number.NaN)),
	fc.constantFrom<unknown>(DateTime.fromISO('2026-01-31T08:00:00Z'), DateTime.fromISO('no date')),
);

const COLUMNS = ['a', 'b', 'c', 'd'];
const item = fc
	.record(Object.fromEntries(COLUMNS.map((name) => [name, value])))
	.map((json) => json as IDataObject);

/** A piece of a template, with the columns that it reads. */
interface Piece {
	text: string;
	columns: string[];
}

const column = fc.constantFrom(...COLUMNS);
const fixed = fc.constantFrom(
	...[
		'-',
		'/',
		' ',
		'docs/',
		'v',
		'}',
		"'",
		'\n',
		'C:\\docs',
		'\\\\',
		'x\\{{ $json.a }}',
		'nullable',
	],
);
const literal = fc.constantFrom("'-'", '"u"', "'it\\'s'", "'}'", "''", '`t`');

/** How an expression reads a column. */
const read = fc
	.tuple(column, fc.constantFrom('.', '?.', '[', ' . '))
	.map(([name, how]) => ({ code: how === '[' ? `$json["${name}"]` : `$json${how}${name}`, name }));

const joining: fc.Arbitrary<Piece> = fc.oneof(
	read.map(({ code, name }) => ({ text: `{{ ${code} }}`, columns: [name] })),
	read.map(({ code, name }) => ({ text: `{{(${code})}}`, columns: [name] })),
	read.map(({ code, name }) => ({ text: `{{ /* + */ ${code} // it's\n }}`, columns: [name] })),
	fc.tuple(literal, read).map(([one, { code, name }]) => ({
		text: `{{ ${one} + ${code} }}`,
		columns: [name],
	})),
	fc.tuple(read, literal, read).map(([first, one, last]) => ({
		text: `{{ ${first.code} + ${one} + ( ${last.code} ) }}`,
		columns: [first.name, last.name],
	})),
	fc.tuple(read, read).map(([first, last]) => ({
		text: `{{ ${first.code} + ${last.code} }}`,
		columns: [first.name, last.name],
	})),
	// n8n gives nothing for `?.` in a template literal.
	fc.tuple(column, column).map(([first, last]) => ({
		text: `{{ \`t\${ $json.${first} }-\${'' + $json.${last}}\` }}`,
		columns: [first, last],
	})),
);
const text = fixed.map((one): Piece => ({ text: one, columns: [] }));

/** A template of one to four parts, with fixed text around them. */
const template = fc
	.tuple(
		fc.array(fc.tuple(fc.option(text), joining), { minLength: 1, maxLength: 4 }),
		fc.option(text),
	)
	.map(([pieces, end]): Piece => {
		const all = [...pieces.flat(), end].filter((piece) => piece !== null);
		return {
			text: `=${all.map((piece) => piece.text).join('')}`,
			columns: all.flatMap(({ columns }) => columns),
		};
	});

/** Whether a column holds a value, as the rule has it. */
function isThere(held: unknown, isAlone: boolean): boolean {
	if (held === undefined || held === null || Number.isNaN(held)) return false;
	if (isDate(held)) return !Number.isNaN(held.getTime());
	if (DateTime.isDateTime(held)) return held.isValid;
	return !isObject(held) && (isAlone || !(Number.isInteger(held) && !Number.isSafeInteger(held)));
}

const isBlank = (held: unknown) => typeof held === 'string' && held.trim() === '';

describe('the value of an expression', () => {
	it('is what n8n gives, if each part is there; each part is evaluated once', () => {
		fc.assert(
			fc.property(template, item, ({ text: expression, columns }, json) => {
				const parsed = parseTemplate(expression.slice(1));
				const asked: string[] = [];
				const evaluate = (part: string) => {
					asked.push(part);
					return n8nValue(`=${part}`, json);
				};
				const found = templateValueByParts(parsed, evaluate);
				const parts = partsOf(parsed).length;
				const held = columns.map((name) => json[name]);
				const areThere = held.every((one) => isThere(one, parsed.kind === 'part'));
				const isAlone = parsed.kind === 'part';
				const areBlank = held.every(isBlank);
				if (parts < columns.length) return;
				if (!areThere) expect(found).toBeInstanceOf(MissingPart);
				else if (!areBlank || isAlone) expect(found).toEqual(n8nValue(expression, json));
				if (areThere && areBlank && found instanceof MissingPart) expect(found.gave).toBe('');
				const reads = asked.filter((one) => one.includes('$json') && !one.includes('\\{{'));
				expect(reads.length).toBeLessThanOrEqual(parts);
			}),
			{ numRuns: PROPERTY_RUNS },
		);
	});
});

/** A field, how it is read, and how its messages name it. */
interface Field {
	label: string;
	parameters: (expression: string) => INodeParameters;
	read: (one: Item) => unknown;
	/** Whether each part needs a sign. */
	everyPart?: boolean;
	/** What becomes of an item without a value: it is refused, or has no such value. */
	isLeftOut?: boolean;
	fields?: Parameters<typeof itemOf>[1];
}

const document = (one: Item) => (readDocuments(one) as InputDocument[])[0];
const asText = { source: 'text', text: 'A text', documentKey: 'k' };
const asked = { fields: startFields };

const FIELDS: Field[] = [
	{
		label: '"Conversation Key"',
		parameters: (conversationKey) => ({ conversationKey }),
		read: conversationKeyOf,
		everyPart: true,
		fields: asked,
	},
	{
		label: '"Document Key"',
		parameters: (documentKey) => ({ documentKey }),
		read: (one) => keyOf(one, 'documentKey'),
	},
	{
		label: '"Source Name"',
		parameters: (sourceName) => ({ sourceName }),
		read: (one) => sourceNameAndShard(one).sourceName,
		everyPart: true,
	},
	{
		label: '"Shard"',
		parameters: (shard) => ({ options: { shard } }),
		read: (one) => sourceNameAndShard(one).shard,
		everyPart: true,
	},
	{
		label: '"Address"',
		parameters: (url) => ({ url }),
		read: (one) => identityText(one, 'url'),
	},
	{
		label: '"Document Version"',
		parameters: (documentVersion) => ({ documentVersion }),
		read: (one) => readVersion(one, 'documentVersion'),
		isLeftOut: true,
		fields: { fields: findChanges.fields },
	},
	{
		label: '"Folder" in "Document Settings"',
		parameters: (folder) => ({ ...asText, name: 'n', documentSettings: { folder } }),
		read: (one) => document(one)?.record.folder,
	},
	{
		label: 'k in "Metadata Rows"',
		parameters: (content) => ({
			...asText,
			name: 'n',
			documentSettings: { metadataRows: { values: [{ key: 'k', content }] } },
		}),
		read: (one) => document(one)?.record.metadata?.k,
		isLeftOut: true,
	},
	{
		label: 'k in "Values for Filters"',
		parameters: (content) => ({
			assistantId: '335ccdfa-d2bb-4f15-9f4a-2b180f46d737',
			message: 'm',
			threadSource: 'new',
			options: { filterValues: { values: [{ key: 'k', content }] } },
		}),
		read: (one) => readRunInput(one, 'message', false).body,
		fields: asked,
	},
];

describe.each(FIELDS)(
	'$label',
	({ label, parameters, read: readField, everyPart, isLeftOut, fields }) => {
		const readFrom = (expression: string, json: IDataObject) => {
			const methods = { getInputData: () => [{ json }], getTimezone: () => 'Europe/Berlin' };
			const one = itemOf(parameters(expression), {
				fields: submitFields,
				...fields,
				json,
				methods,
			});
			return attempt(() => readField(one));
		};

		it('has no value where a part beside others is missing, which is said with its name', () => {
			fc.assert(
				fc.property(template, item, ({ text: expression, columns }, json) => {
					const parsed = parseTemplate(expression.slice(1));
					const parts = partsOf(parsed);
					if (parts.length < 2 || parts.length < columns.length) return;
					const held = columns.map((name) => json[name]);
					const isMissing = (one: unknown) =>
						!isThere(one, false) || (everyPart === true && isBlank(one));
					if (!held.some(isMissing) && !held.every(isBlank)) return;
					const found = readFrom(expression, json);
					if (isLeftOut) expect(found).toBeUndefined();
					else {
						expect(found).toBeInstanceOf(Error);
						const { message } = found as Error;
						expect(message).toContain(`${label} lacks a part: {{ `);
						expect(parts.some(({ code }) => message.includes(`{{ ${code} }}`))).toBe(true);
					}
				}),
				{ numRuns: PROPERTY_RUNS },
			);
		});

		it('is accepted where each part has a word of its own, and is that of n8n', () => {
			const words = fc
				.record(
					Object.fromEntries(COLUMNS.map((name) => [name, fc.stringMatching(/^[a-z0-9]{5,8}$/)])),
				)
				.map((json) => json as IDataObject);
			fc.assert(
				fc.property(template, words, ({ text: expression, columns }, json) => {
					if (partsOf(parseTemplate(expression.slice(1))).length < columns.length) return;
					const found = readFrom(expression, json);
					if (isError(found)) throw found;
					const whole = String(n8nValue(expression, json));
					expect(JSON.stringify(found)).toContain(
						JSON.stringify(checkedKey(itemOf({}), whole, '')).slice(1, -1),
					);
				}),
				{ numRuns: PROPERTY_RUNS },
			);
		});
	},
);
