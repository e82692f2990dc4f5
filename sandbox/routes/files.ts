import { randomBytes, randomUUID } from 'node:crypto';
import { basename, extname } from 'node:path';
import { omit } from 'lodash';
import type { TokenKind } from '../auth';
import { timestamp } from '../clock';
import type { Call, Endpoint } from '../context';
import { AUTHORS, OWNED, OWNER, TENANCY, type StoredFile } from '../entities';
import { badRequest, forbidden, internal } from '../errors';
import type { UploadedFile } from '../requestLog';
import { theFile } from '../uploads';
import { asObject, isObject, isUuid, type Loose } from '../values';

const PARSE_MODES = ['auto', 'fast', 'deep', 'none'];
const PARSED_AT_ONCE = 2 * 1024 * 1024;
const SUMMARY_LENGTH = 500;

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

/** What becomes of a file's text: small texts are read at once, the rest later or never (`E12` "fake pdf"). */
function reading(file: UploadedFile, parseMode: string) {
	const status =
		parseMode === 'none'
			? 'uploaded'
			: parseMode === 'deep' || file.size > PARSED_AT_ONCE
				? 'parsing'
				: /^text\/|json|xml/.test(file.mimetype)
					? 'ready'
					: 'failed';
	if (status !== 'ready') return { status, summary: null, capabilities: ['preview'] };
	const summary = file.content.head
		.toString('utf8')
		.replace(/\s+/g, ' ')
		.trim()
		.slice(0, SUMMARY_LENGTH);
	const table = file.mimetype === 'text/csv' ? ['table_query'] : [];
	return { status, summary, capabilities: ['preview', 'read', 'search', ...table] };
}

function createContext(call: Call): Loose {
	const file = theFile(call.upload);
	if (file === undefined) throw internal();
	const fields = call.upload?.fields ?? {};
	const parseMode = fields.parseMode ?? 'auto';
	if (!PARSE_MODES.includes(parseMode)) throw badRequest('Invalid parseMode payload');
	const stored = keep(call, file, place(fields.target, 'contexts'));
	const { status, summary, capabilities } = reading(file, parseMode);
	const id = randomUUID();
	const context = {
		id,
		fileId: id,
		storageFileId: stored.id,
		objectKey: stored.file,
		url: stored.url,
		originalName: stored.originalName,
		size: stored.size,
		mimeType: stored.mimetype,
		status,
		parseStatus: status,
		purpose: fields.purpose ?? 'chat_attachment',
		parseMode,
		capabilities,
		summary,
		workspacePath: fields.workspacePath ?? null,
	};
	call.context.store.contexts.set(stored.id, context);
	return context;
}

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

/** E12, E14 and E16. */
export const fileEndpoints: Endpoint[] = [
	{ id: 'E12', method: 'POST', path: '/contexts/file', status: 201, handle: createContext },
	{ id: 'E14', method: 'DELETE', path: '/contexts/file/:id', status: 200, handle: removeContext },
	{ id: 'E16', method: 'POST', path: '/v1/file', status: 201, handle: createFile },
];
