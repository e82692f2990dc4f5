import type { Content } from './contents';
import type { Action } from './faults';
import type { Loose } from './values';

export interface UploadedFile {
	field: string;
	filename: string;
	mimetype: string;
	size: number;
	content: Content;
}

export interface Upload {
	fields: Record<string, string>;
	files: UploadedFile[];
}

export type LoggedFile = Omit<UploadedFile, 'content'> & { content?: Buffer };

/** A request as it arrived. Header names are in lower case; `rawBody` is kept up to 64 KiB. */
export interface LoggedRequest {
	id: string;
	endpoint?: string;
	method: string;
	path: string;
	headers: Record<string, string | string[] | undefined>;
	body?: unknown;
	rawBody?: string;
	byteLength?: number;
	fields?: Record<string, string>;
	/** File parts; the bytes are kept up to 1 MiB. */
	files?: LoggedFile[];
	arrivedAt: number;
	/** What went wrong with it on purpose. */
	faults?: Action[];
	/** The status that was answered; missing while the answer is awaited or when the connection was dropped. */
	status?: number;
}

const RAW_BODY_LIMIT = 65_536;
const FILE_LIMIT = 1_048_576;

/** Every request that arrived, in order; the sandbox's own /sandbox routes are not among them. */
export class RequestLog {
	readonly all: LoggedRequest[] = [];

	/** Without bodies the log stays small: headers, bodies and files are not kept. */
	constructor(private readonly bodies = true) {}

	add({ headers, ...request }: LoggedRequest): LoggedRequest {
		const entry = { ...request, headers: this.bodies ? { ...headers } : {} };
		this.all.push(entry);
		return entry;
	}

	/** Notes the length of a body, and its text as far as that is kept. */
	keepRaw(entry: LoggedRequest, body: Buffer): void {
		entry.byteLength = body.length;
		if (this.bodies && body.length <= RAW_BODY_LIMIT) entry.rawBody = body.toString('utf8');
	}

	keepBody(entry: LoggedRequest, body: unknown): void {
		if (this.bodies) entry.body = body;
	}

	keepUpload(entry: LoggedRequest, fields: Record<string, string>, files: UploadedFile[]): void {
		if (!this.bodies) return;
		entry.fields = fields;
		entry.files = files.map(({ content: { head, size }, ...file }) =>
			size <= FILE_LIMIT && head.length === size ? { ...file, content: head } : file,
		);
	}

	/** The requests of one endpoint, e.g. `E3`. */
	of(endpoint: string): LoggedRequest[] {
		return this.all.filter((entry) => entry.endpoint === endpoint);
	}

	clear(): void {
		this.all.length = 0;
	}

	/** The log as plain JSON, without the bytes of uploaded files. */
	toJSON(): Loose[] {
		return this.all.map((entry) => ({
			...entry,
			...(entry.files && { files: entry.files.map(({ content: _bytes, ...file }) => file) }),
		}));
	}
}
