import type { IExecuteFunctions } from 'n8n-workflow';

import { itemOf } from './context';

/** A binary field. With an `id`, n8n has stored its file. */
export const field = (mimeType = '', more: object = {}) => ({
	property: 'data',
	parameterLabel: 'Input Binary Field',
	binary: { data: '', mimeType, ...more },
});

/** An item whose file comes in these pieces: in one from memory, else from disk. */
export function itemWith(pieces: Iterable<Buffer>, broken?: string) {
	const helpers = {
		getBinaryDataBuffer: async () =>
			broken ? await Promise.reject(new Error(broken)) : [...pieces][0],
		getBinaryStream: async () => pieces,
		getBinaryMetadata: async () => ({ fileSize: Buffer.concat([...pieces]).length }),
	} as unknown as IExecuteFunctions['helpers'];
	return itemOf({}, { methods: { helpers } });
}
