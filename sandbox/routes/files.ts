import { randomBytes, randomUUID } from 'node:crypto';
import { basename, extname } from 'node:path';
import { pick } from 'lodash';
import type { TokenKind } from '../auth';
import { timestamp } from '../clock';
import type { Call, Endpoint } from '../context';
import { OWNED, OWNER, type FileContext, type StoredFile } from '../entities';
import { badRequest, forbidden, internal } from '../errors';
import type { UploadedFile } from '../requestLog';
import { understood } from '../runs/files';
import { isObject, isUuid, type Loose } from '../values';

const PARSE_MODES = ['auto', 'fast', 'deep', 'none'];

/** The one file part `file`; any other file part is refused by its name (`E16` "two files"). */
function fileIn({ upload }: Call): UploadedFile {
	const [file, ...others] = upload?.files ?? [];
	const unexpected = file?.field === 'file' ? others[0] : file;
	if (unexpected) throw badRequest(`Unexpected field - ${unexpected.field}`);
	if (file === undefined) throw internal();
	return file;
}

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
	const name = basename(file.filename);
	const unique = `${prefix}-${context.clock.now()}-${randomBytes(3).toString('hex')}${extname(name)}`;
	const path = `${directory}/${OWNER.tenantId}/${unique}`;
	const row = {
		...OWNED,
		file: path,
		url: `${context.url()}/public/${path}`,
		originalName: name,
		size: file.size,
		mimetype: file.mimetype,
	};
	return context.store.putFile(row, file.content);
}

const createFile = (call: Call): Loose =>
	keep(call, fileIn(call), place(call.upload?.fields.target, 'files'));

async function createContext(call: Call): Promise<Loose> {
	const file = fileIn(call);
	const fields = call.upload?.fields ?? {};
	const { parseMode = 'auto' } = fields;
	if (!PARSE_MODES.includes(parseMode)) throw badRequest('Invalid parseMode payload');
	const stored = keep(call, file, place(fields.target, 'contexts'));
	const id = randomUUID();
	const context: FileContext = {
		id,
		fileId: id,
		storageFileId: stored.id,
		...pick(stored, 'url', 'originalName', 'size'),
		mimeType: stored.mimetype,
		createdAt: timestamp(call.context.clock),
		...(await understood(call.context, stored, parseMode)),
	};
	call.context.store.contexts.set(stored.id, context);
	return context;
}

/** Whose keys may delete a file that belongs to no file context: a user's (`searchable` "delete an uploaded file"). */
const OF_USERS: TokenKind[] = ['plain', 'user'];

/** Takes the id of the file, not of the context; whatever else is asked for is forbidden, also a second time. */
function removeContext({ context, caller, params }: Call): Loose {
	const { store } = context;
	const id = params.id;
	if (!isUuid(id)) throw internal();
	const file = store.files.get(id);
	if (file === undefined) throw forbidden();
	if (!store.contexts.has(id) && !OF_USERS.includes(caller.kind)) throw forbidden();
	store.contexts.delete(id);
	store.removeFile(file);
	return pick(file, 'originalName', 'size', 'mimetype', 'url');
}

export const fileEndpoints: Endpoint[] = [
	{ id: 'E12', method: 'POST', path: '/contexts/file', status: 201, handle: createContext },
	{ id: 'E14', method: 'DELETE', path: '/contexts/file/:id', status: 200, handle: removeContext },
	{ id: 'E16', method: 'POST', path: '/v1/file', status: 201, handle: createFile },
];
