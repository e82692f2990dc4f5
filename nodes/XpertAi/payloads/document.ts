import memoize from 'lodash/memoize';
import pick from 'lodash/pick';
import { z } from 'zod';

import {
	dateTime,
	eachOf,
	freeForm,
	nullableNumber,
	nullableText,
	openObject,
	recordFields,
	uuid,
} from './common';
import { parserConfig } from './knowledgebase';

/** A page of a document (contract, Page). */
export const page = openObject({
	...recordFields,
	...eachOf(nullableText, 'pageContent', 'status'),
	metadata: freeForm.nullish(),
});

/** A chunk of a document: a page that may have a parent (contract, Chunk). */
export const chunk = page.extend({ parent: z.unknown() });

/**
 * One element of the array that E3 takes (contract, Document record). No field is required. `processDuation` is the
 * contract's spelling. The mapper of the editor lists the fields in this order.
 */
export const document = openObject({
	...recordFields,
	...eachOf(nullableText, 'name', 'type'),
	disabled: z.boolean().nullish(),
	storageFileId: uuid.nullish(),
	...eachOf(nullableText, 'filePath', 'fileUrl', 'folder', 'mimeType', 'thumbnail', 'parserId'),
	...eachOf(nullableNumber, 'size', 'tokenNum', 'chunkNum', 'progress', 'processDuation'),
	...eachOf(freeForm.nullish(), 'metadata', 'sourceConfig', 'options', 'draft'),
	parserConfig: parserConfig.nullish(),
	parent: z.unknown(),
	...eachOf(nullableText, 'processMsg', 'jobId'),
	processBeginAt: dateTime.nullish(),
	pages: z.array(page).nullish(),
	chunks: z.array(chunk).nullish(),
});

/** The schema of documents with these fields: thousands are checked, and a field that none has costs time as well. */
const documentWithFields = memoize((names: string) =>
	openObject(pick(document.shape, names.split(' '))),
);

/** The schema of a document, without the fields that this value does not have. */
export function documentWith(value: unknown): typeof document {
	const names = Object.keys(document.shape).filter((name) => Object.hasOwn(Object(value), name));
	return documentWithFields(names.join(' ')) as unknown as typeof document;
}

/**
 * The JSON body of E3: an array, or a single document.
 *
 * @param prepare applied to each document before it is checked
 */
export function documentList(prepare: (document: unknown) => unknown = (one) => one) {
	return z.preprocess((value) => {
		if (Array.isArray(value)) return value.map(prepare);
		return typeof value === 'object' && value !== null ? [prepare(value)] : value;
	}, z.array(document));
}

export type DocumentRecord = z.infer<typeof document>;

/** The name of a document field in the contract. */
export type DocumentField = keyof typeof document.shape;

/** Whether the contract has a document field of this name. */
export function isDocumentField(name: string): name is DocumentField {
	return Object.hasOwn(document.shape, name);
}

/** Schemes that sign addresses: the parameters that must all be there, and all those that the scheme adds. */
const SIGNATURES: Array<{ needed: string[]; added: RegExp }> = [
	{ needed: ['x-amz-signature', 'x-amz-date'], added: /^x-amz-/ },
	{ needed: ['x-goog-signature', 'x-goog-date'], added: /^x-goog-/ },
	// Azure
	{
		needed: ['sv', 'sig'],
		added: /^(sv|sig|s[eiprst]|spr|sip|srt|sdd|ses|sk[estv]|skoid|sktid|saoid|suoid|scid)$/,
	},
	{
		needed: ['policy', 'signature', 'key-pair-id'],
		added: /^(policy|signature|key-pair-id)$/,
	},
	...['key-pair-id', 'awsaccesskeyid', 'googleaccessid', 'ossaccesskeyid'].map((keyId) => ({
		needed: ['signature', 'expires', keyId],
		added: new RegExp(`^(signature|expires|x-amz-security-token|${keyId})$`),
	})),
];

/** An address without its signature, which is another in each run. */
export function unsignedAddress(address: string): string {
	const [, path = '', query = '', fragment = ''] = /^([^?#]*)\?([^#]*)(.*)$/s.exec(address) ?? [];
	const nameOf = (parameter: string) => parameter.replace(/=.*/s, '').toLowerCase();
	const parameters = query.split('&');
	const names = parameters.map(nameOf);
	const scheme = SIGNATURES.find(({ needed }) => needed.every((name) => names.includes(name)));
	if (!scheme) return address;
	const kept = parameters.filter((parameter) => !scheme.added.test(nameOf(parameter))).join('&');
	return `${path}${kept && `?${kept}`}${fragment}`;
}
