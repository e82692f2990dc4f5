import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { groupBy, isPlainObject } from 'lodash';
import type { SandboxOptions } from '../../../sandbox';
import type { Step } from './happenings';
import { sampleFile } from './sampleFiles';
import type { ReadEvent } from './streams';

export interface Exchange {
	label: string;
	/** The token it was sent with: `plain` where nothing is said, none for null. */
	token?: string | null;
	request: {
		method: string;
		path: string;
		/** Text is sent as it is, with `<ab × 1000>` filled up; all else as JSON. */
		body?: unknown;
		contentType?: string;
		headers?: Record<string, string>;
	};
	/** Of a long body the recording has a part as text, and its beginning as a value. */
	response: { status: number; contentType: string | null; body: unknown; beginning?: unknown };
}

/** From the exchange with this number on a fresh server was asked, on which this was. */
export interface Server {
	from: number;
	options: 'noAssistants' | 'twoAssistants' | 'noModel';
	before: Step[];
}

const FOLDER = join(__dirname, '..', '..', 'recordings');
const NAMES = readdirSync(FOLDER).map((name) => name.replace('.json', ''));
const textOf = (name: string) => readFileSync(join(FOLDER, `${name}.json`), 'utf8');
const isOfEndpoint = (name: string) => /^E\d\d$/.test(name);

/** The recordings of endpoints (`E01` … `E17`), each in its order, with the servers that were asked. */
export const endpointRecordings = NAMES.filter(isOfEndpoint).map((endpoint) => {
	const recorded = JSON.parse(textOf(endpoint)) as { servers: Server[]; exchanges: Exchange[] };
	return { endpoint, ...recorded };
});

export const recordings = (): Map<string, Exchange[]> =>
	new Map(endpointRecordings.map(({ endpoint, exchanges }) => [endpoint, exchanges]));

export const sequenceNames = NAMES.filter((name) => !isOfEndpoint(name));

/** What of a stream arrived at once. */
export interface Piece {
	atMs: number;
	text: string;
}

/** A sequence of exchanges, each of which may use ids that an answer before it gave. */
export interface SequenceExchange {
	label: string;
	endpoint: string;
	/** The sequence it belongs to, where a recording has several. */
	sequence?: string;
	/** False for what the node never asks, of which too little was recorded, or that two orders are right for. */
	isReplayed?: boolean;
	/** What alone is compared: nothing where a race of the server decides, the status of lists of what else it has. */
	compared?: 'nothing' | 'status';
	/** Whether the recording has only some columns of the rows, and the last messages of the threads. */
	isShort?: boolean;
	/** Whether the server was slow: the time of its answer is let pass. */
	isSlow?: boolean;
	/** Whether the answer takes as long as a run, where the path does not say so. */
	isRun?: boolean;
	/** Whether it was sent once no run was under way any more, whenever that was. */
	isOnceAllRan?: boolean;
	/** Whether it was asked for again and again, and the answer is the one that was looked for. */
	isPolled?: boolean;
	/** When it was sent since the sequence began, and how long its answer took, in milliseconds. */
	atMs?: number;
	tookMs?: number;
	/** Whose key was used, where it was not that of the workspace. */
	key?: string;
	request: { method: string; path: string; body?: unknown; headers?: Record<string, string> };
	/** What happens on the server at this moment, in the place of a request. */
	happens?: Step[];
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

interface Recording {
	/** Whether its sequences go on where the one before has ended, on one server. */
	isOneServer?: boolean;
	isSlow?: boolean;
	options: SandboxOptions;
	/** What was there, or happened without a request. */
	happenings?: SequenceExchange[];
	exchanges: SequenceExchange[];
}

/** Where the server of some recordings says that it is. */
const BASE_URL = 'https://api.example.com';

const recording = (name: string) =>
	JSON.parse(textOf(name).replaceAll(BASE_URL, '{base_url}')) as Recording;

export const sequence = (name: string): SequenceExchange[] => recording(name).exchanges;

const bySequence = (name: string, exchanges: SequenceExchange[]) =>
	groupBy(exchanges, (one) => one.sequence ?? name);

/** The sequences of a recording that has several, by their names. */
export const sequences = (name: string): Map<string, SequenceExchange[]> =>
	new Map(Object.entries(bySequence(name, sequence(name))));

/** What is replayed of a recording: its sequences with what happened meanwhile. */
export function replayed(name: string) {
	const { isSlow, options, isOneServer, happenings = [], exchanges } = recording(name);
	const happened = bySequence(name, happenings);
	const sent = exchanges.filter((one) => one.isReplayed !== false);
	const played = Object.entries(bySequence(name, sent)).map(([title, all]) => {
		const inOrder = [...(happened[title] ?? []), ...all];
		return [title, inOrder.map((one) => ({ ...one, isSlow }))] as const;
	});
	return { options, isOneServer, played };
}

/** The body of a recorded request as it went over the wire. */
export function sendable({ body, contentType = 'application/json' }: Exchange['request']) {
	if (typeof body !== 'string') {
		return body === undefined ? {} : { contentType, data: JSON.stringify(body) };
	}
	const data = body.replace(/<([^<]+) × (\d+)>/, (_all, text: string, length: string) =>
		''.padEnd(Number(length), text),
	);
	if (!body.startsWith('------x')) return { contentType, data };
	const boundary = body.slice(2, body.indexOf('\r\n'));
	return { contentType: `multipart/form-data; boundary=${boundary}`, data };
}

interface Form {
	multipart: { file: { filename: string; contentType: string; content: string; bytes?: number } };
}

/** A body of a sequence as it went over the wire: JSON, or a form with one file and some fields. */
export function sendableBody(body: unknown): unknown {
	if (!isPlainObject(body) || !('multipart' in (body as object))) return body;
	const { file, ...fields } = (body as Form).multipart;
	const { filename, contentType: type, content, bytes } = file;
	const part = content === '(binary)' ? sampleFile(filename, bytes) : content;
	const form = new FormData();
	form.append('file', new Blob([part], { type }), filename);
	for (const [name, value] of Object.entries(fields)) form.append(name, String(value));
	return form;
}
