import { memoize, pick } from 'lodash';
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
 * One element of the array that E3 takes (contract, Document record). No field is required. The contract spells
 * `processDuation` this way. The field mapper in the editor lists the fields in this order.
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

/**
 * The schema of documents with only these fields. A small schema saves time, because a run can check thousands of
 * documents, and checking a missing field takes time too.
 *
 * @param names the names of the fields, separated by spaces
 */
const documentWithFields = memoize((names: string) =>
	openObject(pick(document.shape, names.split(' '))),
);

/** The schema of a document, reduced to the fields that this value has. */
export function documentWith(value: unknown): typeof document {
	const names = Object.keys(document.shape).filter((name) => Object.hasOwn(Object(value), name));
	return documentWithFields(names.join(' ')) as unknown as typeof document;
}

export type DocumentRecord = z.infer<typeof document>;

const AZURE = /^(s[eiprstv]|sig|spr|sip|srt|sdd|ses|sk[estv]|skoid|sktid|s[au]oid|scid)$/;

/**
 * Schemes for signed addresses. `needed` lists the parameters that identify the scheme; `added` matches every parameter
 * that the scheme adds.
 */
const SIGNATURES: Array<{ needed: string[]; added: RegExp }> = [
	{ needed: ['x-amz-signature', 'x-amz-date'], added: /^x-amz-/ },
	{ needed: ['x-goog-signature', 'x-goog-date'], added: /^x-goog-/ },
	{ needed: ['sv', 'sig'], added: AZURE },
	{ needed: ['policy', 'signature', 'key-pair-id'], added: /^(policy|signature|key-pair-id)$/ },
	...['key-pair-id', 'awsaccesskeyid', 'googleaccessid', 'ossaccesskeyid'].map((keyId) => ({
		needed: ['signature', 'expires', keyId],
		added: new RegExp(`^(signature|expires|x-amz-security-token|${keyId})$`),
	})),
];

/**
 * Returns an address without the parameters of its signature, which differ in each run. An address without a known
 * signature is returned unchanged.
 */
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
