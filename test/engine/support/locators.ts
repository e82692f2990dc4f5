import type { INodeParameterResourceLocator } from 'n8n-workflow';

/** A record chosen by its ID, as the editor saves it. */
export const byId = (value: string): INodeParameterResourceLocator => ({
	__rl: true,
	mode: 'id',
	value,
});
