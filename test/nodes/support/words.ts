import type { INodeProperties } from 'n8n-workflow';

/** Every text of a property that a user reads. */
export function textsOf(property: INodeProperties): string[] {
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
export function optionDescriptions(properties: INodeProperties[]): string[] {
	return properties.flatMap(({ options = [] }) =>
		options.flatMap((option) =>
			'value' in option && option.description ? [option.description] : [],
		),
	);
}
