import { get, partition } from 'lodash';
import type {
	IDataObject,
	IExecuteFunctions,
	IHttpRequestOptions,
	INodeExecutionData,
} from 'n8n-workflow';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { findChanges } from '../../../../../nodes/XpertAi/operations/document/findChanges';
import { submit } from '../../../../../nodes/XpertAi/operations/document/submit';
import { keyNamespace } from '../../../../../nodes/XpertAi/operations/document/sourceIdentity';
import { disable, enable } from '../../../../../nodes/XpertAi/operations/document/disableOrEnable';
import { derivedId } from '../../../../../nodes/XpertAi/payloads/ids';
import { connectionWithoutItem } from '../../../../../nodes/XpertAi/transport/request';
import { systemClock } from '../../../../../nodes/XpertAi/transport/clock';
import { COPILOT_ID, startSandbox, type Sandbox } from '../../../../../sandbox';
import { contextWith, itemOf, unconnected } from '../../../support/context';
import type { Answer } from './nightFaults';

/** What the server puts in the place of a note that somebody has it process (recorded: a document without a file). */
const NO_FILE = "Cannot read properties of undefined (reading 'Symbol(Symbol.asyncIterator)')";

export type Source = Record<string, number>;

/** What goes wrong with one request of a run, and what of it the server has done by then. */
export interface Trouble {
	request: number;
	/** What comes in place of the answer; `crash`: n8n is gone from then on. */
	answer: 'crash' | Answer;
	done: boolean;
	/** Whether that address answers so for the rest of the night. */
	stays?: boolean;
	/** Whether all requests with documents are answered so from then on, and which of them the server has done, by turns. */
	ofDocuments?: boolean[];
	/** After how many further requests the server carries it out, at the latest when the night has ended. */
	late?: number;
}

export interface Setup {
	/** Whether the documents bring their address, or a text to be uploaded. */
	from: 'json' | 'text';
	afterStoring: 'process' | 'wait';
	/** Whether requests are tried again, after waits that take no time here. */
	retries: boolean;
	/** Whether On Error is Continue; of several runs, those that do not work end with the reason. */
	goesOn: boolean;
}

/** What somebody does to some documents by their keys, with Disable or Enable. */
export interface Hand {
	keys: string[];
	disabled: boolean;
}

/** A field whose expression lacks a value. */
export type Lacking = 'documentKey' | 'documentVersion' | 'sourceName' | 'shard';

export interface Night extends Partial<Setup> {
	source: Source;
	trouble?: Trouble;
	harm?: Harm;
	/** The documents that the server refuses for what they are, where they bring their address. */
	refused?: string[];
	others?: Source[];
	/** What is done by hand while it is at work, and at which request. */
	hand?: Hand & { at: number };
	/** How many documents a proxy lets through in one request. */
	mostDocuments?: number;
	/** How many batches go at once, and how large they are; else as the node has it, and two. */
	concurrency?: number;
	batchSize?: number;
	/** How many turns each request takes on its way, over and over. */
	turns: number[];
	/** Whether the first run only tells what the next one would do. */
	dryRun?: boolean;
	/** After how many requests a rebuild of the knowledgebase ends that was under way when the night began. */
	rebuild?: number;
	/** After how many documents that fail in a row the run ends the sending; On Error is Continue then. */
	brake?: number;
	/** How often the node ran before in the same execution, as it does in a loop. */
	runIndex?: number;
	/** When Run Again, and how the execution was started. */
	mode?: 'all' | 'changed' | 'mirror';
	startedBy?: 'retry';
	/** Whether documents come with a version. */
	versioned?: boolean;
	/** What the expressions of some documents read, and their items do not have. On Error is Continue then. */
	lacks?: { keys: string[]; what: Lacking };
	/** Whether Find Changes stands before Submit, and disables what is gone. */
	finds?: boolean;
	/** Whether the same run brings a document of another source. */
	beside?: boolean;
}

/** What came of a night. */
export interface Course {
	/** The keys of documents that were taken out of answers by a run that brought them. */
	wrong: string[];
	requests: number;
	/** How many of them could have changed something on the server. */
	writes: number;
	items: IDataObject[];
	error?: Error;
	said: string[];
	/** What the runs brought that were not refused because another one was at work. */
	worked: Source[];
	/** The keys that Find Changes passed on, if it ran. */
	passed?: string[];
	refused: string[];
	/** Whether the run has ended, and its process with it if it crashed. */
	isOver?: boolean;
	/** What the server still has to carry out of a request that nobody waits for. */
	late?: { from: number; carryOut: () => Promise<unknown> };
}

export interface Harm {
	how: 'deleted' | 'processed';
	kind: keyof typeof NOTES;
	/** Which of this kind; all without it. */
	which?: number;
}

/** The kinds of notes, by their names in the server's list. */
export const NOTES = {
	every: /^n8n: /,
	turn: /^n8n: when .* began/,
	lease: /^n8n: whether .* is at work/,
	root: /^n8n: what .* has stored \(/,
	piece: /^n8n: what .* has stored, /,
	names: /^n8n: what .* calls its documents/,
	page: /^n8n: what .* is storing/,
	end: /^n8n: how far .* has come/,
};

/** What is said where the server twice denies, in its own words, that it has the route of the memory. */
export const UNREMEMBERED = /^Nothing is left out: this server does not give back/;

/** What is said once of a source whose documents are there before anything was remembered. */
export const STORED_BEFORE = /stored before this source was remembered/;

export const KEYS = ['a', 'b', 'c', 'd', 'e'];
export const VERSIONS = [0, 1, 2];

const SOURCE_NAME = 'nights';

/** What is said of the source as long as what was gone may still be found: of it alone, or of it by its name. */
export const LOST = new RegExp(
	`^Notes from before .* may still be found although they left the source\\.[^:]*(: .*\\b${SOURCE_NAME}\\b.*)?$`,
);
/** The name of another source, and of its only document. */
const BESIDE = 'beside';
const SETUP: Setup = { from: 'json', afterStoring: 'process', retries: false, goesOn: false };

/** Longer than the server's column for a source type. */
const REFUSED = { sourceType: 'x'.repeat(21) };

/** Whether all that a night brings has to be found after it. */
export const isWhole = ({
	trouble,
	brake,
	hand,
	refused,
	rebuild,
	retries,
	lacks,
}: Night): boolean =>
	!(trouble || brake || hand || refused || (lacks && lacks.what !== 'documentVersion')) &&
	(rebuild === undefined || retries === true);

class Crash extends Error {}

const NO_SIGNAL = { getExecutionCancelSignal: () => undefined, continueOnFail: () => false };

/** A sandbox, with a file for each version of each document, and nights after nights of ingestion. */
export class Nights {
	private constructor(
		private readonly sandbox: Sandbox,
		private readonly addresses: Map<string, string>,
		private readonly restoreTime: () => void,
		private readonly keys: string[],
	) {}

	static async start(keys = KEYS): Promise<Nights> {
		const sandbox = await startSandbox({ processMs: 0, logBodies: false });
		const nights = new Nights(sandbox, new Map(), passQuickly(), keys);
		for (const key of [...keys, 'by hand', BESIDE])
			for (const version of VERSIONS) await nights.upload(key, textOf(key, version));
		return nights;
	}

	async close(): Promise<void> {
		this.restoreTime();
		await this.sandbox.close();
	}

	/** A new knowledgebase with a document that somebody has stored by hand. */
	async knowledgebase(): Promise<string> {
		const { store } = this.sandbox;
		const { id } = store.putKnowledgebase({
			name: `Nights ${store.knowledgebases.size}`,
			copilotModelId: COPILOT_ID,
		});
		const document = { ...this.document(id, 'by hand', 0), id: derivedId(id, 'by hand') };
		await this.post(`/knowledges/${id}/bulk`, [document]);
		await this.post(`/knowledges/${id}/process`, [document.id]);
		await this.processed(id);
		return id;
	}

	remove(knowledgebaseId: string): void {
		this.sandbox.store.removeKnowledgebase(knowledgebaseId);
	}

	/** What assistants find, as the text of each document by its key. */
	async found(knowledgebaseId: string): Promise<Record<string, string>> {
		await this.processed(knowledgebaseId);
		const { store } = this.sandbox;
		const ids = this.keys.map((key) => [key, idOf(knowledgebaseId, key)]);
		const all = [...ids, ['by hand', derivedId(knowledgebaseId, 'by hand')]];
		return Object.fromEntries(
			all.flatMap(([key, id = '']) => {
				const document = store.findable(id);
				return document ? [[key, document.chunks.join('')] as const] : [];
			}),
		);
	}

	expected(source: Source): Record<string, string> {
		const texts = Object.entries(source).map(([key, version]) => [key, textOf(key, version)]);
		return { ...Object.fromEntries(texts), 'by hand': textOf('by hand', 0) };
	}

	/** The keys of the source's documents that the server has, found or not. */
	stored(knowledgebaseId: string): string[] {
		return this.keys.filter((key) => this.sandbox.store.documents.has(idOf(knowledgebaseId, key)));
	}

	/** The text that a document of the source has on the server, found or not. */
	textOn(knowledgebaseId: string, key: string): string | undefined {
		const { documents, contents } = this.sandbox.store;
		const address = documents.get(idOf(knowledgebaseId, key))?.fileUrl;
		return contents.at(String(address).replace(/^.*\/public\//, ''))?.head.toString();
	}

	keyOf(knowledgebaseId: string, id: unknown): string | undefined {
		return this.keys.find((key) => idOf(knowledgebaseId, key) === id);
	}

	lose(knowledgebaseId: string, key: string): void {
		this.sandbox.store.documents.delete(idOf(knowledgebaseId, key));
	}

	/** At noon, documents are taken out of answers, or let in again, by another node with the name of the source. */
	async noon(knowledgebaseId: string, { keys, disabled }: Hand): Promise<IDataObject[]> {
		const methods = {
			...NO_SIGNAL,
			getInputData: () => keys.map(() => ({ json: {} })),
			addExecutionHints: () => undefined,
			getWorkflow: () => ({ id: 'noon', name: 'Noon' }),
			getExecutionId: () => 'noon',
		} as unknown as Partial<IExecuteFunctions>;
		const { fields, execute } = disabled ? disable : enable;
		const course = newCourse();
		const { send } = await connectionWithoutItem(
			this.client(knowledgebaseId, { source: {}, turns: [0] }, course),
		);
		const connection = { ...unconnected, send };
		const items = keys.map((documentKey, index) =>
			itemOf(
				{ knowledgebaseId, documentsBy: 'key', documentKey, sourceName: SOURCE_NAME, options: {} },
				{ fields, methods, index, connection },
			),
		);
		const [first] = items;
		if (!first) return [];
		return (await execute({ context: first.context, items })).map(({ json }) => json);
	}

	async night(knowledgebaseId: string, night: Night): Promise<Course> {
		const { others = [], turns } = night;
		if (night.harm) this.harm(knowledgebaseId, night.harm);
		const owner = this.sandbox.store.knowledgebases.get(knowledgebaseId) ?? {};
		if (night.rebuild !== undefined) Object.assign(owner, { status: 'rebuilding' });
		const beside = others.map((source, at) => {
			const later = [...turns.slice(at + 1), ...turns.slice(0, at + 1)];
			return { ...night, source, trouble: undefined, hand: undefined, turns: later };
		});
		const runs = [night, ...beside].map(async (one, at) => {
			const own = newCourse();
			try {
				await this.run(knowledgebaseId, { ...one, runId: at + 1 }, own);
				own.worked.push(one.source);
			} catch (caught) {
				// A run alone names another at work where a fault keeps it from learning that this one has ended.
				if (night.others && isAtWork(caught)) own.refused.push(wordsOf(caught));
				else own.error = caught as Error;
			}
			own.isOver = true;
			return own;
		});
		const courses = await Promise.all(runs);
		const [course = newCourse()] = courses;
		await course.late?.carryOut();
		Object.assign(owner, { status: 'ready' });
		const isSlow = night.rebuild !== undefined && !night.retries;
		const mayFail = night.trouble ?? night.hand ?? night.refused ?? night.lacks ?? isSlow;
		const failed = courses.find(({ error }) => error);
		if (!mayFail && failed?.error) throw failed.error;
		for (const list of ['wrong', 'said', 'refused', 'worked'] as const)
			Object.assign(course, { [list]: courses.flatMap((one): unknown[] => one[list]) });
		return course;
	}

	private harm(knowledgebaseId: string, { kind, which, how }: Harm): void {
		const { store } = this.sandbox;
		const all = store
			.documentsOf(knowledgebaseId)
			.filter(({ name }) => NOTES[kind].test(String(name)));
		for (const [at, one] of all.entries())
			if (which !== undefined && at !== which % all.length) continue;
			else if (how === 'deleted') store.documents.delete(one.id);
			else Object.assign(one, { status: 'error', processMsg: NO_FILE });
	}

	private async run(
		knowledgebaseId: string,
		night: Night & { runId?: number },
		course: Course,
	): Promise<void> {
		const { source, from, afterStoring, retries, goesOn, refused = [] } = { ...SETUP, ...night };
		let entries = Object.entries(source);
		const isVersioned = night.versioned ?? night.finds;
		const parameters = {
			knowledgebaseId,
			source: from,
			documentSettings: { documentVersionField: isVersioned ? 'revision' : '' },
			mode: night.finds ? 'changed' : (night.mode ?? 'mirror'),
			sourceName: SOURCE_NAME,
			options: {
				afterStoring,
				maxGonePercent: 100,
				dryRun: night.dryRun ?? false,
			},
			tuning: {
				retryMinutes: retries ? 10 : 0,
				batchSize: night.batchSize ?? 2,
				...(night.brake
					? { stopAfterFailures: night.brake, concurrency: night.concurrency ?? 1 }
					: {}),
			},
		};
		const ofEach = () => entries.map((): INodeExecutionData => ({ json: {} }));
		let inputs = ofEach();
		const methods = {
			getInputData: () => inputs,
			getMode: () => night.startedBy ?? 'trigger',
			...NO_SIGNAL,
			getParentNodes: () => [],
			getChildNodes: () => [],
			getWorkflow: () => ({ id: 'nights', name: 'Nights' }),
			getExecutionId: () => String(night.runId),
			getWorkflowDataProxy: () => ({ $runIndex: night.runIndex ?? 0 }),
			continueOnFail: () =>
				(goesOn && !night.others) || night.brake !== undefined || night.lacks !== undefined,
			addExecutionHints: (...hints: Array<{ message: string }>) =>
				void course.said.push(...hints.map(({ message }) => message)),
		} as unknown as Partial<IExecuteFunctions>;
		/** The fields that say which document it is; those that lack a value would be those of others without it. */
		const fieldsOf = (key: string) => {
			const isLacking = (what: Lacking) =>
				night.lacks?.what === what && night.lacks.keys.includes(key);
			const { options, sourceName } = parameters;
			return {
				documentKey: `=${isLacking('documentKey') ? '{{ $json.missing }}' : ''}{{ $json.key }}`,
				documentVersion: isLacking('documentVersion')
					? '={{ $json.missing + $json.key }}'
					: '={{ $json.version }}',
				sourceName: isLacking('sourceName') ? '=nights{{ $json.missing }}' : sourceName,
				options: isLacking('shard') ? { ...options, shard: '={{ $json.missing }} of 2' } : options,
			};
		};
		/** A document with a key that is missing would replace the first one. */
		const jsonOf = (key: string, version: number) => ({
			key: night.lacks?.what === 'documentKey' && night.lacks.keys.includes(key) ? 'a' : key,
			version,
		});
		const of = (key: string, version: number) =>
			from === 'text'
				? {
						text: textOf(key, version),
						...fieldsOf(key),
						name: `${key}.md`,
						documentSettings: {
							documentVersion: isVersioned ? fieldsOf(key).documentVersion : '',
						},
					}
				: {
						jsonBody: entries.map(([name, number]) => ({
							...this.document(knowledgebaseId, name, number),
							...(isVersioned ? { revision: number } : {}),
							...(refused.includes(name) ? REFUSED : {}),
						})),
					};
		const { send } = await connectionWithoutItem(this.client(knowledgebaseId, night, course));
		const connection = { ...unconnected, send };
		if (night.finds) {
			const listed = entries.map(([key, version], index) =>
				itemOf(
					{ ...parameters, ...fieldsOf(key), whatIsGone: 'disable' },
					{ fields: findChanges.fields, methods, index, connection, json: jsonOf(key, version) },
				),
			);
			const [one] = listed;
			const passed = one ? await findChanges.execute({ context: one.context, items: listed }) : [];
			course.items.push(...passed.flatMap(({ json }) => (json.error ? [json] : [])));
			const indexes = passed.flatMap(({ json, pairedItem }) =>
				json.error ? [] : Number(get(pairedItem, 'item')),
			);
			entries = entries.filter((_, index) => indexes.includes(index));
			course.passed = entries.map(([key]) => key);
			if (entries.length === 0) return;
		}
		inputs = from === 'text' ? ofEach() : [{ json: {} }];
		if (night.beside) inputs.push({ json: {} });
		const items = inputs.map((_, index) => {
			const [key = '', version = 0] = entries[index] ?? [];
			const isBeside = night.beside && index === inputs.length - 1;
			const own = isBeside ? this.besideIn(knowledgebaseId) : of(key, version);
			return itemOf(
				{ ...parameters, ...own },
				{ fields: submit.fields, methods, index, connection, json: jsonOf(key, version) },
			);
		});
		const [first] = items;
		if (!first) return;
		const outputs = await submit.execute({ context: first.context, items });
		course.items.push(...outputs.map(({ json }) => json));
	}

	/** n8n's HTTP client and the credential, with what goes wrong on the way. */
	private client(
		knowledgebaseId: string,
		{ source, trouble, turns, rebuild, hand, mostDocuments = Infinity }: Night,
		course: Course,
	): IExecuteFunctions {
		const brought = new Map(Object.keys(source).map((key) => [idOf(knowledgebaseId, key), key]));
		let gone = false;
		let address: string | undefined;
		let answersLost = 0;
		const isHit = (number: number, here: string, documents: number) => {
			if (!trouble) return false;
			if (trouble.ofDocuments) return number >= trouble.request && documents > 0;
			return number === trouble.request || here === address;
		};
		const httpRequestWithAuthentication = async (_: string, options: IHttpRequestOptions) => {
			// What a crashed n8n would have done later it does not do.
			if (course.isOver && gone) return await new Promise<never>(() => undefined);
			const number = course.requests++;
			if (options.method !== 'GET') course.writes += 1;
			if (gone) throw new Crash();
			if (number === rebuild) {
				const owner = this.sandbox.store.knowledgebases.get(knowledgebaseId);
				Object.assign(owner ?? {}, { status: 'ready' });
			}
			for (let left = turns[number % turns.length] ?? 0; left > 0; left--) await nextTurn();
			if (number === hand?.at) await this.noon(knowledgebaseId, hand);
			const rows = rowsOf(options);
			for (const { id, disabled } of rows) {
				const key = disabled === true ? brought.get(String(id)) : undefined;
				if (key !== undefined) course.wrong.push(key);
			}
			const documents = rows.filter(({ name }) => !NOTES.every.test(String(name))).length;
			const whole = rows.filter((row) => 'fileUrl' in row).length;
			if (whole > mostDocuments) return answered({ status: 413 });
			if (course.late && number >= course.late.from) {
				const { carryOut } = course.late;
				course.late = undefined;
				await carryOut();
			}
			const here = `${options.method} ${options.url.replace(/\?.*/, '')}`;
			if (!trouble || !isHit(number, here, documents)) return await this.request(options);
			if (trouble.stays) address = here;
			const { ofDocuments } = trouble;
			const isDone = ofDocuments?.[answersLost++ % ofDocuments.length] ?? trouble.done;
			if (isDone) await this.request(options);
			if (trouble.late !== undefined)
				course.late = {
					from: number + trouble.late,
					carryOut: async () => await this.request(options),
				};
			if (trouble.answer === 'crash') gone = true;
			if (gone) throw new Crash();
			return answered(trouble.answer as Answer);
		};
		const { url: baseUrl, accessToken } = this.sandbox;
		return contextWith({
			getCredentials: (async () => ({
				baseUrl,
				accessToken,
			})) as IExecuteFunctions['getCredentials'],
			...NO_SIGNAL,
			helpers: { httpRequestWithAuthentication } as unknown as IExecuteFunctions['helpers'],
		});
	}

	private async request({ url, method, body, headers }: IHttpRequestOptions) {
		const response = await fetch(url, {
			method,
			body: body as Buffer | FormData,
			headers: {
				...(headers as Record<string, string>),
				Authorization: `Bearer ${this.sandbox.accessToken}`,
			},
		});
		return {
			statusCode: response.status,
			headers: Object.fromEntries(response.headers),
			body: await response.text(),
		};
	}

	private async post(path: string, body: unknown): Promise<unknown> {
		const json = !(body instanceof FormData);
		const response = await this.request({
			url: `${this.sandbox.url}/api/ai${path}`,
			method: 'POST',
			body: json ? JSON.stringify(body) : body,
			headers: json ? { 'Content-Type': 'application/json' } : {},
		});
		if (response.statusCode !== 201) throw new Error(response.body);
		return JSON.parse(response.body) as unknown;
	}

	private async upload(key: string, text: string): Promise<void> {
		const form = new FormData();
		form.append('file', new Blob([text]), `${key}.md`);
		const { url } = (await this.post('/v1/file', form)) as { url: string };
		this.addresses.set(text, url);
	}

	/** The item of another source in the same run. */
	private besideIn(knowledgebaseId: string) {
		const id = derivedId(keyNamespace(knowledgebaseId, BESIDE), BESIDE);
		const document = { ...this.document(knowledgebaseId, BESIDE, 0), id };
		return { source: 'json', sourceName: BESIDE, jsonBody: [document] };
	}

	/** Whether assistants find the document of the other source. */
	async findsBeside(knowledgebaseId: string): Promise<boolean> {
		await this.processed(knowledgebaseId);
		const id = derivedId(keyNamespace(knowledgebaseId, BESIDE), BESIDE);
		return this.sandbox.store.findable(id) !== undefined;
	}

	private document(knowledgebaseId: string, key: string, version: number) {
		const fileUrl = this.addresses.get(textOf(key, version)) ?? '';
		return { id: idOf(knowledgebaseId, key), name: `${key}.md`, fileUrl };
	}

	private async processed(knowledgebaseId: string): Promise<void> {
		const { store } = this.sandbox;
		const isWorking = () =>
			store.documentsOf(knowledgebaseId).some(({ id }) => {
				const processing = store.processing.get(id);
				return processing !== undefined && processing.end === undefined;
			});
		while (isWorking()) await nextTurn();
	}
}

/**
 * Has pauses pass at once: waiting is none of what is tried here. What is to be done meanwhile is.
 *
 * @returns what has them take their time again
 */
function passQuickly(): () => void {
	const { now, sleep, later } = systemClock;
	let slept = 0;
	let waiting: Array<{ at: number; work: () => void }> = [];
	systemClock.now = () => now() + slept;
	systemClock.later = (ms, work) => void waiting.push({ at: systemClock.now() + ms, work });
	systemClock.sleep = async (ms) => {
		slept += ms;
		const [due, rest] = partition(waiting, ({ at }) => at <= systemClock.now());
		waiting = rest;
		for (const { work } of due) work();
		await nextTurn();
	};
	return () => Object.assign(systemClock, { now, sleep, later });
}

const newCourse = (): Course => ({
	wrong: [],
	requests: 0,
	writes: 0,
	items: [],
	said: [],
	worked: [],
	refused: [],
});

export const textOf = (key: string, version: number) => `This is version ${version} of ${key}.`;

const idOf = (knowledgebaseId: string, key: string) =>
	derivedId(keyNamespace(knowledgebaseId, SOURCE_NAME), key);

function rowsOf({ url, body }: IHttpRequestOptions): IDataObject[] {
	return url.endsWith('/bulk') ? (JSON.parse(String(body)) as IDataObject[]) : [];
}

/** What n8n's client gives for an answer, or throws for a connection that breaks. */
function answered(answer: Answer) {
	if ('code' in answer)
		throw Object.assign(new Error('broken'), { cause: { code: answer.code, message: 'broken' } });
	const { status: statusCode, body = '', headers = {} } = answer;
	return { statusCode, headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

const wordsOf = (error: unknown) => `${get(error, 'message')} ${get(error, 'description')}`;

/** Whether a run has ended in words because another one was at work. */
const isAtWork = (error: unknown) => /another run of this source/i.test(wordsOf(error));
