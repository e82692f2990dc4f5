import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { groupBy, isPlainObject } from 'lodash';
import type { Player } from './player';
import { routeOf } from './read';
import { sampleFile } from './sampleFiles';
import type { ReadEvent } from './streams';

/** One request and its answer, recorded from a real server. Long bodies were cut and stand there as text. */
export interface Exchange {
	label: string;
	auth: string;
	request: { method: string; path: string; body?: unknown };
	response: { status: number; contentType: string | null; body: unknown };
}

const FOLDER = join(__dirname, '..', '..', 'recordings');

/** All recorded exchanges by endpoint (`E01` … `E17`), in the order they were recorded. */
export function recordings(): Map<string, Exchange[]> {
	const files = readdirSync(FOLDER).filter((name) => /^E\d\d\.json$/.test(name));
	return new Map(
		files.sort().map((name) => {
			const text = readFileSync(join(FOLDER, name), 'utf8');
			return [name.slice(0, 3), (JSON.parse(text) as { exchanges: Exchange[] }).exchanges];
		}),
	);
}

/** The names of all other recordings. */
export const sequenceNames = readdirSync(FOLDER)
	.filter((name) => !/^E\d\d\.json$/.test(name))
	.map((name) => name.replace('.json', ''));

/** What of a stream arrived at once. */
export interface Piece {
	atMs: number;
	text: string;
}

/** A sequence of exchanges, each of which may use ids that an answer before it gave. */
export interface SequenceExchange {
	label: string;
	endpoint: string;
	/** What was said of it: that its answer was reduced, say. */
	note?: string;
	/** The sequence it belongs to, where a recording has several, and the recording. */
	sequence?: string;
	recording?: string;
	/** When it was sent since the sequence began, and how long its answer took, in milliseconds. */
	atMs?: number;
	tookMs?: number;
	/** Whose key was used, where it was not that of the workspace. */
	key?: string;
	request: {
		method: string;
		path: string;
		body?: unknown;
		headers?: Record<string, string>;
		key?: string;
	};
	/** What happens on the server at this moment, in the place of a request. */
	happens?: (player: Player) => Promise<void> | void;
	/** `broken` says why there was no answer. */
	response:
		| {
				status: number;
				contentType: string | null;
				body: unknown;
				pieces?: Piece[];
				events?: ReadEvent[];
				ended?: string;
				/** Whether a stream was heard to its end, and which of its events were left out of the recording. */
				complete?: boolean;
				note?: string;
		  }
		| { broken: string };
}

/** Where the server of some recordings says that it is. */
const BASE_URL = 'https://api.example.com';

/** One of the recorded sequences, in order. */
export function sequence(name: string): SequenceExchange[] {
	const text = readFileSync(join(FOLDER, `${name}.json`), 'utf8');
	const { exchanges } = JSON.parse(text.replaceAll(BASE_URL, '{base_url}')) as {
		exchanges: SequenceExchange[];
	};
	return exchanges.map((one) => ({ ...unnamed(one), ...one }));
}

/** What an exchange is called of which a recording has only the request. */
const unnamed = ({ request }: Partial<SequenceExchange>) => ({
	label: request?.method,
	endpoint: request ? endpointOf(request) : '',
});

function endpointOf({ method, path }: SequenceExchange['request']): string {
	const route = routeOf({ method, path }) ?? '';
	return /^E\d/.test(route) ? route : `${method} ${path}`;
}

/** The sequences of a recording that has several, by their names. */
export function sequences(name: string): Map<string, SequenceExchange[]> {
	const all = sequence(name).reduce<SequenceExchange[]>(
		(before, one) => [...before, { ...inPlace(one, before.at(-1)), recording: name }],
		[],
	);
	return new Map(Object.entries(groupBy(all, (one) => one.sequence ?? name)));
}

/** What was recorded beside a sequence, or is no request, stands right after what came before it. */
function inPlace(one: SequenceExchange, before?: SequenceExchange): SequenceExchange {
	const isBeside = one.sequence === 'see label';
	const isNote = (one as Partial<SequenceExchange>).request === undefined;
	if (!before || !(isBeside || isNote)) return one;
	const [, left] = /left after (\d+) ms/.exec(JSON.stringify(one.response)) ?? [];
	const atMs = (before.atMs ?? 0) + (before.tookMs ?? 0);
	const sequence = isBeside ? before.sequence : one.sequence;
	return { ...one, sequence, atMs, tookMs: Number(left ?? 0) };
}

/** A request as it is to be sent. */
export interface Sendable {
	contentType?: string;
	data?: string | Buffer;
}

const JSON_TYPE = 'application/json';

/** Documents of the recording "100 docs", of which only the beginning was kept. */
const hundred = () =>
	Array.from({ length: 100 }, (_, i) => ({
		name: `doc-${i}.txt`,
		type: 'txt',
		filePath: `files/doc-${i}.txt`,
		metadata: { i },
	}));

/** A bulk body of exactly so many bytes. */
function bulkOf(bytes: number): string {
	const [head, tail] = ['[{"name":"big","metadata":{"x":"', '"}}]'];
	return head + 'a'.repeat(bytes - head.length - tail.length) + tail;
}

/** A multipart body; where only its beginning was kept, filled up to the size the server reported. */
function multipart(body: string, size: unknown): Sendable {
	const boundary = body.slice(2, body.indexOf('\r\n'));
	const contentType = `multipart/form-data; boundary=${boundary}`;
	const end = `\r\n--${boundary}--\r\n`;
	if (body.endsWith('--\r\n')) return { contentType, data: Buffer.from(body) };
	const start = body.slice(0, body.indexOf('\r\n\r\n') + 4);
	const content = Buffer.alloc(Number(size), body.slice(start.length, start.length + 6));
	return { contentType, data: Buffer.concat([Buffer.from(start), content, Buffer.from(end)]) };
}

/** The body of a recorded request as it went over the wire, rebuilt where the recording has it cut. */
export function sendable({ label, request, response }: Exchange): Sendable {
	const { body } = request;
	if (body === undefined) return {};
	if (label === 'long name 10000') {
		return { contentType: JSON_TYPE, data: JSON.stringify({ name: 'N'.repeat(10_000) }) };
	}
	if (label === '100 docs') return { contentType: JSON_TYPE, data: JSON.stringify(hundred()) };
	const bytes = /^body (\d+) bytes$/.exec(label)?.[1];
	if (bytes) return { contentType: JSON_TYPE, data: bulkOf(Number(bytes)) };
	if (label === 'form') {
		return { contentType: 'application/x-www-form-urlencoded', data: String(body) };
	}
	if (label === 'text/plain') return { contentType: 'text/plain', data: JSON.stringify(body) };
	if (label === 'string json') return { contentType: JSON_TYPE, data: JSON.stringify(body) };
	if (typeof body !== 'string') return { contentType: JSON_TYPE, data: JSON.stringify(body) };
	if (body.startsWith('------x')) {
		return multipart(body, (response.body as { size?: unknown }).size);
	}
	return { contentType: JSON_TYPE, data: body };
}

interface SentFile {
	filename: string;
	contentType: string;
	content: string;
	bytes?: number;
}

/** How a recording describes a file instead of its content. */
const TEXT_FILE = /^\(a text file (.+?)(?:, (\d+) bytes)?\)$/;

/** The files of `searchable`, of which the recording keeps the beginning, and the text of `conversations`. */
const SENTENCES = 'A sentence of some words. '.repeat(60);
const NOTES = '# Notes\nThe meeting is on Friday at ten. Bring the red folder.';

function fileOf(description: string): SentFile {
	const [, filename = '', bytes] = TEXT_FILE.exec(description) ?? [];
	const content = bytes ? SENTENCES.slice(0, Number(bytes)) : NOTES;
	return { filename, contentType: bytes ? 'text/plain' : 'text/markdown', content };
}

/** A body of a sequence as it went over the wire: JSON, or a form with one file and some fields. */
export function sendableBody(body: unknown): unknown {
	const { file, multipart: form, ...rest } = (body ?? {}) as Record<string, unknown>;
	if (typeof file === 'string' && TEXT_FILE.test(file)) return formOf(fileOf(file), rest);
	if (!isPlainObject(form)) return body;
	const { file: sent, ...fields } = form as { file: SentFile };
	return formOf(sent, fields);
}

function formOf(file: SentFile, fields: object): FormData {
	const form = new FormData();
	form.append('file', new Blob([contentOf(file)], { type: file.contentType }), file.filename);
	for (const [name, value] of Object.entries(fields)) form.append(name, String(value));
	return form;
}

function contentOf({ filename, content, bytes }: SentFile): Buffer | string {
	if (content === '(binary)') return sampleFile(filename, bytes);
	return filename === 'long.md' ? SENTENCES : content;
}

/** The beginning of a JSON text as a value: cut back to the last complete element and closed again. */
export function repaired(text: string): unknown {
	const open: string[] = [];
	let [inString, lastComma, closers] = [false, 0, ''];
	for (let i = 0; i < text.length; i += 1) {
		const char = text[i];
		if (inString) {
			if (char === '\\') i += 1;
			else if (char === '"') inString = false;
		} else if (char === '"') inString = true;
		else if (char === '{') open.push('}');
		else if (char === '[') open.push(']');
		else if (char === '}' || char === ']') open.pop();
		else if (char === ',') [lastComma, closers] = [i, [...open].reverse().join('')];
	}
	return JSON.parse(text.slice(0, lastComma) + closers) as unknown;
}
