import { updateDisplayOptions } from 'n8n-workflow';
import type { INodeProperties } from 'n8n-workflow';
import type { ZodTypeAny } from 'zod';

import { answerFor, readSimplify, simplified } from '../../execution/answers';
import { checkInput, jsonText } from '../../execution/badInput';
import type { InputSource } from '../../execution/badInput';
import type { RequestMeaning } from '../../execution/hints';
import { forEachItem, pairedItems } from '../../execution/items';
import { isJsonMode, readBody } from '../../execution/readBody';
import { readFields } from '../../execution/readFields';
import type { ItemReader } from '../../execution/readFields';
import { readTimeoutMs } from '../../execution/runDeclared';
import { anyJson } from '../../payloads/common';
import { answerItems } from '../../transport/answer';
import { multipartForm } from '../../transport/multipart';
import type { UploadFile } from '../../transport/multipart';
import type { ApiRequest } from '../../transport/request';
import type { CodedOperation } from '../operation';
import { binaryChunks, binaryFieldName, readBinaryField, storedSize } from './binaryField';
import type { BinaryField } from './binaryField';
import {
	bodyMode,
	fieldCollection,
	jsonBodyField,
	optionsField,
	simplify,
	timeoutOption,
} from './fields';

const UPLOAD_TIMEOUT_SECONDS = 600;

/** What tells the two uploads (E12, E16) apart. */
interface Upload {
	face: Pick<CodedOperation, 'value' | 'name' | 'action' | 'description' | 'endpoint'>;
	path: string;
	/** Text parts that may go along with the file. */
	parts: INodeProperties[];
	partsSchema: ZodTypeAny;
	simplify: string[];
}

const uploadMode: INodeProperties = {
	...bodyMode,
	displayName: 'Send',
	options: [
		{
			name: 'File From Binary Field',
			value: 'fields',
			description: 'Upload a file of the item (multipart)',
		},
		{
			name: 'JSON',
			value: 'json',
			description: 'Give the whole request body as JSON or an expression',
		},
	],
	description:
		'Whether to upload a file of the item or to send a JSON body, for servers that take one',
};

/** An operation that uploads the file of each item, or sends a JSON body as the contract has it. */
export function uploadOperation(upload: Upload): CodedOperation {
	const jsonBody = { fields: [], schema: anyJson, notShown: true, example: '{}' };
	return {
		...upload.face,
		properties: [
			uploadMode,
			...updateDisplayOptions({ show: { bodyMode: ['fields'] } }, [
				binaryFieldName('the file to upload'),
				fieldCollection('additionalFields', upload.parts),
			]),
			...updateDisplayOptions({ show: { bodyMode: ['json'] } }, [jsonBodyField('{}')]),
			simplify,
			optionsField([timeoutOption(UPLOAD_TIMEOUT_SECONDS)]),
		],
		execute: async ({ context, send }) =>
			await forEachItem(context, async (itemIndex) => {
				const reader: ItemReader = { context, itemIndex };
				const source = { node: context.getNode(), itemIndex };
				const { body, meaning } = isJsonMode(reader)
					? asJson(readBody(reader, jsonBody), source)
					: await readForm(reader, upload);
				const isSimple = readSimplify(reader);
				const answer = await answerFor({ ...reader, meaning }, send, {
					method: 'POST',
					path: upload.path,
					body,
					timeoutMs: readTimeoutMs(reader, UPLOAD_TIMEOUT_SECONDS),
				});
				const results = answerItems(answer);
				return pairedItems(isSimple ? simplified(upload.simplify, results) : results, itemIndex);
			}),
	};
}

/** What is sent, and what is known of it. */
interface SentUpload {
	body: ApiRequest['body'];
	meaning: RequestMeaning;
}

const FILE_WANTED = 'Xpert AI servers take a file, not JSON. Set "Send" to File From Binary Field.';

function asJson(value: unknown, source: InputSource): SentUpload {
	const statusHints = { 500: FILE_WANTED };
	return { body: jsonText(value, source), meaning: { body: { value, source }, statusHints } };
}

async function readForm(reader: ItemReader, { parts, partsSchema }: Upload): Promise<SentUpload> {
	const { context, itemIndex } = reader;
	const fields = [fieldCollection('additionalFields', parts)];
	const source = { node: context.getNode(), itemIndex, fields };
	const texts = checkInput(partsSchema, readFields(reader, fields), source) as Record<
		string,
		unknown
	>;
	// The parts are sent as JSON text each; one that has none is named here.
	jsonText(texts, source);
	const field = readBinaryField(reader);
	const { fileName, mimeType } = field.binary;
	const content = await contentOf(reader, field);
	return {
		body: multipartForm({ name: fileName || field.property, mimeType, content }, texts),
		meaning: { body: { value: texts, source } },
	};
}

/** A file on disk is streamed; one in memory is sent from there. */
async function contentOf(reader: ItemReader, field: BinaryField): Promise<UploadFile['content']> {
	const { context, itemIndex } = reader;
	const { id } = field.binary;
	if (id === undefined) return await context.helpers.getBinaryDataBuffer(itemIndex, field.property);
	return { size: await storedSize(reader, field, id), open: () => binaryChunks(reader, field) };
}
