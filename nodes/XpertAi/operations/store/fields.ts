import { textField } from '../../execution/fields';

/** A namespace as text, with slashes between its elements. */
export const namespaceField = (
	name: string,
	displayName: string,
	description: string,
	placeholder = 'e.g. memories/user-1',
) => textField(name, displayName, `${description}. Separate elements by slashes.`, { placeholder });

/** The elements of a namespace; a list from an expression is returned unchanged. */
export function namespaceElements(value: unknown): unknown {
	if (typeof value !== 'string') return value;
	return value
		.split('/')
		.map((element) => element.trim())
		.filter(Boolean);
}

/** What Xpert requires of a namespace; it answers 500 otherwise. */
export function assistantFirst(displayName: string): string {
	return `On Xpert AI servers the first element of "${displayName}" is the ID of an assistant, and this assistant has an embedding model.`;
}
