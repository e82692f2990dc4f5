import { randomBytes, randomUUID } from 'node:crypto';
import { basename, extname } from 'node:path';
import { omit, pick } from 'lodash';
import type { TokenKind } from '../auth';
import { timestamp } from '../clock';
import type { Call, Context, Endpoint } from '../context';
import { AUTHORS, OWNED, OWNER, TENANCY, type FileContext, type StoredFile } from '../entities';
import { badRequest, forbidden, internal, notFound } from '../errors';
import { hashOf, passageOf, understandDeeply, understood } from '../fileUnderstanding';
import type { UploadedFile } from '../requestLog';
import { theFile } from '../uploads';
import { asObject, isObject, isUuid, type Loose } from '../values';

const PARSE_MODES = ['auto', 'fast', 'deep', 'none'];

interface Place {
	directory: string;
	prefix: string;
}

/** Where a file goes: `target` as JSON text; only storage works, the others fail as recorded in `E16`. */
function place(target: string | undefined, directory: string): Place {
	if (target === undefined) return { directory, prefix: 'files' };
	const wanted = parsed(target);
	if (!isObject(wanted) || typeof wanted.kind !== 'string')
		throw badRequest('Invalid target payload');
	if (wanted.kind === 'volume') {
		throw badRequest("Cannot read properties of undefined (reading 'replace')");
	}
	if (wanted.kind !== 'storage') {
		const kind = wanted.kind === 'sandbox' ? 'sandbox:undefined' : 'undefined';
		throw badRequest(
			`No strategy found for type '${kind}' for strategy 'FILE_UPLOAD_TARGET_STRATEGY'`,
		);
	}
	const into = String(wanted.directory ?? directory);
	if (into.split('/').includes('..')) throw badRequest('Invalid relative path');
	return { directory: into, prefix: String(wanted.prefix ?? 'files') };
}

function parsed(target: string): unknown {
	try {
		return JSON.parse(target) as unknown;
	} catch {
		throw badRequest('Invalid target JSON');
	}
}

function keep({ context }: Call, file: UploadedFile, { directory, prefix }: Place): StoredFile {
	const now = context.clock.now();
	const name = basename(file.filename);
	const unique = `${prefix}-${now}-${randomBytes(3).toString('hex')}${extname(name)}`;
	const path = `${directory}/${OWNER.tenantId}/${unique}`;
	const row = {
		...OWNED,
		file: path,
		url: `${context.url()}/public/${path}`,
		thumb: null,
		originalName: name,
		encoding: null,
		recordedAt: timestamp(context.clock),
		deletedAt: null,
		size: file.size,
		mimetype: file.mimetype,
		storageProvider: 'LOCAL',
	};
	return context.store.putFile(row, file.content);
}

function createFile(call: Call): Loose {
	const file = theFile(call.upload);
	if (file === undefined) throw internal();
	const row = keep(call, file, place(call.upload?.fields.target, 'files'));
	return { ...row, ...TENANCY, ...AUTHORS };
}

/** What E12 answers with; the rest of a file context is shown by routes of the server's own. */
const ANSWERED = [
	...['id', 'fileId', 'storageFileId', 'objectKey', 'url', 'originalName', 'size', 'mimeType'],
	...['status', 'parseStatus', 'purpose', 'parseMode', 'capabilities', 'summary', 'workspacePath'],
];

async function createContext(call: Call): Promise<Loose> {
	const file = theFile(call.upload);
	if (file === undefined) throw internal();
	const fields = call.upload?.fields ?? {};
	const { parseMode = 'auto', purpose = 'chat_attachment', workspacePath = null } = fields;
	if (!PARSE_MODES.includes(parseMode)) throw badRequest('Invalid parseMode payload');
	const stored = keep(call, file, place(fields.target, 'contexts'));
	const id = randomUUID();
	const now = timestamp(call.context.clock);
	const context: FileContext = {
		...OWNED,
		id,
		fileId: id,
		storageFileId: stored.id,
		conversationId: fields.conversationId ?? null,
		objectKey: stored.file,
		url: stored.url,
		originalName: stored.originalName,
		size: stored.size,
		mimeType: stored.mimetype,
		purpose,
		parseMode,
		workspacePath,
		createdAt: now,
		updatedAt: now,
		passageId: randomUUID(),
		artifactId: randomUUID(),
		...(await understood(call.context, stored, parseMode)),
	};
	call.context.store.contexts.set(stored.id, context);
	const answer = pick(context, ANSWERED);
	void understandDeeply(call.context, context);
	return answer;
}

/** The file context that a path names. */
function contextOf({ context, params }: Call): FileContext {
	const found = [...context.store.contexts.values()].find(({ id }) => id === params.id);
	if (found === undefined) throw notFound();
	return found;
}

/** A file context as the server's own routes show it: the row of its table. */
function row({ store }: Context, file: FileContext): Loose {
	const stored: Loose = store.files.get(file.storageFileId) ?? {};
	const { id, url, thumb, originalName, size, mimetype, storageProvider } = stored;
	const storageFile = { id, file: stored.file, url, fileUrl: url, thumb, thumbUrl: null };
	return {
		...pick(file, ANSWERED),
		...pick(file, 'tenantId', 'organizationId', 'conversationId', 'createdAt', 'updatedAt'),
		...{ createdById: null, updatedById: null, threadId: null, projectId: null, xpertId: null },
		userId: OWNER.userId,
		fileName: file.objectKey,
		sha256: hashOf(String(file.text)),
		metadata: {
			storageFile: { ...storageFile, originalName, size, mimetype, storageProvider },
			...PARSER,
		},
		...pick(file, 'error', 'parsedAt'),
		failedAt: null,
	};
}

const PARSER = { parser: 'text', chunkCount: 1 };

/** What the row does not have of what E12 answers with. */
const OF_ANSWERS = ['fileId', 'objectKey', 'url', 'parseStatus'];

const get = (call: Call): Loose => omit(row(call.context, contextOf(call)), OF_ANSWERS);

const status = (call: Call): Loose =>
	pick(contextOf(call), 'fileId', 'status', 'error', 'parsedAt');

/** The passages that have the words asked for. */
function search(call: Call): Loose[] {
	const file = contextOf(call);
	const { query } = asObject(call.body);
	return String(file.text).includes(String(query)) ? [passageOf(file)] : [];
}

const read = (call: Call): Loose => passageOf(contextOf(call));

function preview(call: Call): Loose {
	const file = contextOf(call);
	const { originalName: path, mimeType } = file;
	const { id: chunkId, orderNo, anchor, tokenCount } = passageOf(file);
	return {
		file: {
			...pick(file, 'id', 'storageFileId', 'originalName', 'mimeType', 'size', 'status'),
			...pick(file, 'capabilities', 'workspacePath', 'summary', 'error', 'parsedAt'),
			failedAt: null,
			metadata: PARSER,
		},
		artifacts: [{ kind: 'text', orderNo: 1, mimeType, anchor: { path } }],
		chunks: [{ chunkId, orderNo, anchor, tokenCount }],
	};
}

/** The files that were uploaded for a conversation. */
const ofConversation = ({ context, params }: Call): Loose[] =>
	[...context.store.contexts.values()]
		.filter(({ conversationId }) => conversationId === params.id)
		.map((file) => omit(row(context, file), OF_ANSWERS));

/** Whose keys may delete a file that belongs to no file context: a user's (`searchable` "delete an uploaded file"). */
const OF_USERS: TokenKind[] = ['plain', 'user'];

/**
 * Takes the id of the file, not of the context; whatever else is asked for is forbidden, also a second time.
 */
function removeContext({ context, caller, params }: Call): Loose {
	const { store } = context;
	const id = params.id;
	if (!isUuid(id)) throw internal();
	const file = store.files.get(id);
	if (file === undefined) throw forbidden();
	if (!store.contexts.has(id) && !OF_USERS.includes(caller.kind)) throw forbidden();
	store.contexts.delete(id);
	store.removeFile(file);
	return { ...omit(asObject(file), 'id', 'storageProvider'), fileUrl: file.url };
}

const ONE = '/files/:id';

/** E12, E14 and E16, and routes of the server's own. */
export const fileEndpoints: Endpoint[] = [
	{ id: 'E12', method: 'POST', path: '/contexts/file', status: 201, handle: createContext },
	{ id: 'E14', method: 'DELETE', path: '/contexts/file/:id', status: 200, handle: removeContext },
	{ id: 'E16', method: 'POST', path: '/v1/file', status: 201, handle: createFile },
	{ id: 'file', method: 'GET', path: ONE, status: 200, handle: get },
	{ id: 'file', method: 'GET', path: `${ONE}/status`, status: 200, handle: status },
	{ id: 'file', method: 'GET', path: `${ONE}/preview`, status: 200, handle: preview },
	{ id: 'file', method: 'POST', path: `${ONE}/search`, status: 201, handle: search },
	{ id: 'file', method: 'POST', path: `${ONE}/read`, status: 201, handle: read },
	{
		id: 'files',
		method: 'GET',
		path: '/conversations/:id/files',
		status: 200,
		handle: ofConversation,
	},
];
