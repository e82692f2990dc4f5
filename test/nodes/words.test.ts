import { Workflow } from 'n8n-workflow';
import type { INodeParameters, INodeProperties, INodeTypes } from 'n8n-workflow';

import { XpertAiApi } from 'credentials/XpertAiApi.credentials';
import { XpertAi } from 'nodes/XpertAi/XpertAi.node';
import { XpertAiTrigger } from 'nodes/XpertAiTrigger/XpertAiTrigger.node';
import { node } from './support/node';
import { OPERATIONS, type Placed, allProperties } from './support/properties';
import { EMPTY_WORDS } from './support/thrown';

/** Every text of a property that a user reads. */
function textsOf(property: INodeProperties): string[] {
	const { displayName, description, hint, placeholder, options = [], modes = [] } = property;
	return [
		displayName,
		description,
		hint,
		placeholder,
		...options.flatMap((option) => [
			'displayName' in option ? option.displayName : option.name,
			'description' in option ? option.description : undefined,
			'action' in option ? option.action : undefined,
		]),
		...modes.flatMap((mode) => [mode.displayName, mode.hint, mode.placeholder]),
	].filter((text): text is string => text !== undefined);
}

/** The descriptions of the choices in the lists of these properties. */
function optionDescriptions(properties: INodeProperties[]): string[] {
	return properties.flatMap(({ options = [] }) =>
		options.flatMap((option) =>
			'value' in option && option.description ? [option.description] : [],
		),
	);
}

const NODE = new XpertAi().description;
const TRIGGER = new XpertAiTrigger().description;
const CREDENTIAL = new XpertAiApi();

/** Every parameter of both nodes and of the credential. */
const ALL = [NODE, TRIGGER, CREDENTIAL].flatMap(({ name, properties }) =>
	allProperties(properties).map(({ place, property }) => ({ place: `${name} ${place}`, property })),
);
const placesOf = (found: Placed[]) => found.map(({ place }) => place);

/** How long the description of a choice may be: n8n's lists cut what is more than two lines of 358 pixels. */
const LONGEST_OF_CHOICE = 100;

/** Words of those who make servers and nodes; people who use them have plainer ones. */
const JARGON =
	/\b(E\d+|payloads?|idempoten\w+|multipart|endpoints?|booleans?|enum|LangGraph|contract|embed(s|ded)?|knowledge bases?|Xpert(?! AI))\b/i;

const ARTICLE = /\b(a|an|the)\b/i;

/** What must not be misunderstood takes more words. */
const LONG = ['filterValues', 'baseUrl'];

/** Dropdowns whose own name and choices say everything. */
const SELF_EXPLAINING = ['resource', 'operation', 'column', 'direction'];
/** What options are called that are about nothing else. */
const WORDS_OF_THEIR_OWN = /Failures as Replies|Stop After Failures/;
const EMOJI = /\p{Extended_Pictographic}/u;

const sorted = (names: string[]) => [...names].sort((a, b) => a.localeCompare(b, 'en'));

describe('the words of the editor', () => {
	it.each([
		[
			'placeholders that start with "e.g." or "Add"',
			({ placeholder = 'e.g. x' }: INodeProperties) => /^(e\.g\. |Add )/.test(placeholder),
		],
		[
			'descriptions of at most 120 characters, but for what decides who sees what',
			({ name, description = '' }: INodeProperties) =>
				description.length <= 120 || LONG.includes(name),
		],
		['hints of at most 120 characters', ({ hint = '' }: INodeProperties) => hint.length <= 120],
		['hints without a full stop', ({ hint = '' }: INodeProperties) => !hint.endsWith('.')],
		[
			'dropdowns that are described',
			({ type, name, description }: INodeProperties) =>
				!/ptions$/.test(type) || SELF_EXPLAINING.includes(name) || Boolean(description),
		],
		[
			'no emoji',
			(property: INodeProperties) => !textsOf(property).some((text) => EMOJI.test(text)),
		],
		[
			'no words that say nothing',
			(property: INodeProperties) =>
				!textsOf(property).some((text) => EMPTY_WORDS.test(text.replace(WORDS_OF_THEIR_OWN, ''))),
		],
		[
			'plain words',
			(property: INodeProperties) => !textsOf(property).some((text) => JARGON.test(text)),
		],
		[
			'"Whether" for switches alone',
			({ type, description = '' }: INodeProperties) =>
				type === 'boolean' || !description.startsWith('Whether '),
		],
		[
			'choices whose descriptions lists do not cut',
			(property: INodeProperties) =>
				optionDescriptions([property]).every(({ length }) => length <= LONGEST_OF_CHOICE),
		],
		[
			'no blanks around or doubled',
			(property: INodeProperties) => !textsOf(property).some((text) => /^\s|\s$|\s\s/.test(text)),
		],
	])('are %s', (_, holds) => {
		expect(placesOf(ALL.filter(({ property }) => !holds(property)))).toEqual([]);
	});

	it.each(OPERATIONS)(
		'name the action of $title without capitals and articles',
		({ operation }) => {
			const { action } = operation;
			expect(action).toMatch(/^[A-Z][^A-Z]*[^.]$/);
			expect(action).not.toMatch(ARTICLE);
		},
	);

	it('are sorted in the lists of optional fields, the name of a record first', () => {
		const unsorted = ALL.filter(({ property: { type, options = [] } }) => {
			const names = options
				.map((option) => ('displayName' in option ? option.displayName : option.name))
				.filter((name) => name !== 'Name');
			return type === 'collection' && names.join() !== sorted(names).join();
		});
		expect(placesOf(unsorted)).toEqual([]);
	});
});

/** What the editor makes of a line below a node's name. */
function subtitle(expression: string | undefined, parameters: INodeParameters): unknown {
	const noTypes = {
		getByName: () => undefined,
		getByNameAndVersion: () => undefined,
		getKnownTypes: () => ({}),
	};
	const shown = { ...node, parameters };
	const workflow = new Workflow({
		nodes: [shown],
		connections: {},
		active: false,
		nodeTypes: noTypes as unknown as INodeTypes,
	});
	return workflow.expression.getSimpleParameterValue(shown, expression, 'internal', {});
}

describe('the line below the name of a node', () => {
	it.each(OPERATIONS)('names $title as it is chosen', ({ resource, operation }) => {
		const parameters = { resource: resource.value, operation: operation.value };
		expect(subtitle(NODE.subtitle, parameters)).toBe(`${operation.name}: ${resource.name}`);
	});

	it('is empty where nothing that there is was chosen', () => {
		expect(subtitle(NODE.subtitle, { resource: 'file', operation: 'run' })).toBeUndefined();
	});

	it('names the events of the trigger', () => {
		expect(subtitle(TRIGGER.subtitle, { events: ['failed', 'waiting'] })).toBe(
			'Conversation: Failed, Waiting for a Person',
		);
	});
});
