import { setImmediate as nextTurn } from 'node:timers/promises';

import { get } from 'lodash';
import type {
	IDataObject,
	IExecuteFunctions,
	IHttpRequestOptions,
	INodeExecutionData,
} from 'n8n-workflow';

import { disable } from '../../../../../nodes/XpertAi/operations/document/disable';
import { enable } from '../../../../../nodes/XpertAi/operations/document/enable';
import { submit } from '../../../../../nodes/XpertAi/operations/document/submit';
import { keyOwner } from '../../../../../nodes/XpertAi/operations/document/submit/sources/identity';
import { derivedId } from '../../../../../nodes/XpertAi/payloads/derivedId';
import { systemClock } from '../../../../../nodes/XpertAi/transport/clock';
import { createSend } from '../../../../../nodes/XpertAi/transport/request';
import { COPILOT_ID, startSandbox } from '../../../../../sandbox';
import type { Sandbox } from '../../../../../sandbox';
import { contextWith, itemOf } from '../../../support/context';
import type { Answer } from './nightFaults';

/** What the server puts in the place of a note that somebody has it process (recorded: a document without a file). */
const NO_FILE = "Cannot read properties of undefined (reading 'Symbol(Symbol.asyncIterator)')";

/** What a source holds in a night: a version of each of its documents, by their keys. */
export type Source = Record<string, number>;

/** What goes wrong with one request of a run, and what of it the server has done by then. */
export interface Trouble {
	request: number;
	/** What comes in place of the answer; `crash`: n8n is gone from then on. */
	answer: 'crash' | Answer;
	done: boolean;
	/** Whether that address answers so for the rest of the night. */
	stays?: boolean;
	/** After how many further requests the server carries it out, at the latest when the night has ended. */
	late?: number;
}

/** How the node is set up. */
export interface Setup {
	/** Whether the documents bring their address, or a text to be uploaded. */
	from: 'json' | 'text';
	afterStoring: 'process' | 'wait';
	/** Whether requests are tried again, after waits that take no time here. */
	retries: boolean;
}

/** One run, or two at the same time. */
export interface Night extends Partial<Setup> {
	source: Source;
	trouble?: Trouble;
	/** What happens to a note of the memory before. */
	harm?: { note: number; how: (typeof HARMS)[number] };
	/** What another run of the same node brings meanwhile. */
	other?: Source;
	/** Whether that one begins beside it: else one of them leaves, unless it takes the other for gone. */
	beside?: boolean;
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
}

/** What came of a night. */
export interface Course {
	/** The keys of documents that were taken out of answers by a run that brought them. */
	wrong: string[];
	/** How many requests the first run made. */
	requests: number;
	/** How many of them could have changed something on the server. */
	writes: number;
	/** What the first run gave. */
	items: IDataObject[];
	/** Why the first run failed. */
	error?: Error;
	/** What the first run said beside its counts. */
	said: string[];
	/** What the server still has to carry out of a request that nobody waits for. */
	late?: { from: number; carryOut: () => Promise<unknown> };
}

/** What people do to a note: delete it, or have it processed in the server's list. */
export const HARMS = ['deleted', 'processed'] as const;

/** What is said where the server twice denies, in its own words, that it has the route of the memory. */
export const UNREMEMBERED = /^Everything is sent: this server does not give back/;

export const KEYS = ['a', 'b', 'c', 'd', 'e'];
export const VERSIONS = [0, 1, 2];

const SOURCE_NAME = 'nights';
const SETUP: Setup = { from: 'json', afterStoring: 'process', retries: false };

/** Whether all that a night brings has to be found after it. */
export const isWhole = ({ trouble, other, brake, dryRun, rebuild, retries }: Night): boolean =>
	!(trouble || other || brake || dryRun) && (rebuild === undefined || retries === true);

class Crash extends Error {}

/** A sandbox, with a file for each version of each document, and nights after nights of ingestion. */
export class Nights {
	private constructor(
		private readonly sandbox: Sandbox,
		private readonly addresses: Map<string, string>,
		private readonly restoreTime: () => void,
	) {}

	static async start(): Promise<Nights> {
		const sandbox = await startSandbox({ processMs: 0, logBodies: false });
		const nights = new Nights(sandbox, new Map(), passQuickly());
		for (const key of [...KEYS, 'by hand'])
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

	/** Forgets a knowledgebase, so that very many may follow one another. */
	remove(knowledgebaseId: string): void {
		this.sandbox.store.removeKnowledgebase(knowledgebaseId);
	}

	/** What assistants find, as the text of each document by its key. */
	async found(knowledgebaseId: string): Promise<Record<string, string>> {
		await this.processed(knowledgebaseId);
		const { store } = this.sandbox;
		const ids = KEYS.map((key) => [key, idOf(knowledgebaseId, key)]);
		const all = [...ids, ['by hand', derivedId(knowledgebaseId, 'by hand')]];
		return Object.fromEntries(
			all.flatMap(([key, id = '']) => {
				const document = store.findable(id);
				return document ? [[key, document.chunks.join('')] as const] : [];
			}),
		);
	}

	/** What assistants should find after a whole run with this source. */
	expected(source: Source): Record<string, string> {
		const texts = Object.entries(source).map(([key, version]) => [key, textOf(key, version)]);
		return { ...Object.fromEntries(texts), 'by hand': textOf('by hand', 0) };
	}

	/** The keys of the source's documents that the server has, found or not. */
	stored(knowledgebaseId: string): string[] {
		return KEYS.filter((key) => this.sandbox.store.documents.has(idOf(knowledgebaseId, key)));
	}

	/** The key of a document of the source. */
	keyOf(knowledgebaseId: string, id: unknown): string | undefined {
		return KEYS.find((key) => idOf(knowledgebaseId, key) === id);
	}

	/** Somebody deletes a document on the server. */
	lose(knowledgebaseId: string, key: string): void {
		this.sandbox.store.documents.delete(idOf(knowledgebaseId, key));
	}

	/** At noon, documents are taken out of answers, or let in again, by another node with the name of the source. */
	async noon(knowledgebaseId: string, keys: string[], disabled: boolean): Promise<IDataObject[]> {
		const methods = {
			getInputData: () => keys.map(() => ({ json: {} })),
			getExecutionCancelSignal: () => undefined,
			continueOnFail: () => false,
			addExecutionHints: () => undefined,
			getWorkflow: () => ({ id: 'noon', name: 'Noon' }),
			getExecutionId: () => '2',
		} as unknown as Partial<IExecuteFunctions>;
		const { fields, execute } = disabled ? disable : enable;
		const course: Course = { wrong: [], requests: 0, writes: 0, items: [], said: [] };
		const send = await createSend(this.client(knowledgebaseId, { source: {}, turns: [0] }, course));
		const connection = { send, secrets: [] };
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

	/** One night. */
	async night(knowledgebaseId: string, night: Night): Promise<Course> {
		const { other, turns } = night;
		const course: Course = { wrong: [], requests: 0, writes: 0, items: [], said: [] };
		if (night.harm) this.harm(knowledgebaseId, night.harm);
		const owner = this.sandbox.store.knowledgebases.get(knowledgebaseId) ?? {};
		if (night.rebuild !== undefined) Object.assign(owner, { status: 'rebuilding' });
		const runs = [this.run(knowledgebaseId, night, course)];
		if (other) {
			const meanwhile = {
				...night,
				source: other,
				trouble: undefined,
				turns: [...turns].reverse(),
				evenIfRunning: night.beside,
			};
			runs.push(this.run(knowledgebaseId, meanwhile, { ...course, items: [], said: [] }));
		}
		const [first, second] = await Promise.allSettled(runs);
		await course.late?.carryOut();
		if (second?.status === 'rejected' && !isOverlap(second.reason)) throw second.reason;
		if (first?.status === 'rejected') course.error = first.reason as Error;
		Object.assign(owner, { status: 'ready' });
		const mayFail = night.trouble ?? (night.rebuild !== undefined && !night.retries);
		if (!mayFail && course.error && !isOverlap(course.error)) throw course.error;
		return course;
	}

	private harm(knowledgebaseId: string, { note, how }: NonNullable<Night['harm']>): void {
		const { store } = this.sandbox;
		const notes = store
			.documentsOf(knowledgebaseId)
			.filter(({ name }) => String(name).startsWith('n8n: '));
		const one = notes[note % notes.length];
		if (!one) return;
		if (how === 'deleted') store.documents.delete(one.id);
		else Object.assign(one, { status: 'error', processMsg: NO_FILE });
	}

	private async run(
		knowledgebaseId: string,
		night: Night & { evenIfRunning?: boolean },
		course: Course,
	): Promise<void> {
		const { source, from, afterStoring, retries } = { ...SETUP, ...night };
		const entries = Object.entries(source);
		const parameters = {
			knowledgebaseId,
			source: from,
			documentSettings: {},
			mode: 'mirror',
			maxGonePercent: 100,
			sourceName: SOURCE_NAME,
			options: {
				afterStoring,
				retryMinutes: retries ? 10 : 0,
				dryRun: night.dryRun ?? false,
				evenIfRunning: night.evenIfRunning ?? false,
				batchSize: 2,
				...(night.brake ? { stopAfterFailures: night.brake, concurrency: 1 } : {}),
			},
		};
		const inputs: INodeExecutionData[] =
			from === 'text' ? entries.map(() => ({ json: {} })) : [{ json: {} }];
		const methods = {
			getInputData: () => inputs,
			getMode: () => 'trigger',
			getExecutionCancelSignal: () => undefined,
			getParentNodes: () => [],
			getChildNodes: () => [],
			getWorkflow: () => ({ id: 'nights', name: 'Nights' }),
			getExecutionId: () => '1',
			getWorkflowDataProxy: () => ({ $runIndex: night.runIndex ?? 0 }),
			continueOnFail: () => night.brake !== undefined,
			addExecutionHints: (...hints: Array<{ message: string }>) =>
				void course.said.push(...hints.map(({ message }) => message)),
		} as unknown as Partial<IExecuteFunctions>;
		const of = (key: string, version: number) =>
			from === 'text'
				? { name: `${key}.md`, text: textOf(key, version), documentKey: key }
				: { jsonBody: entries.map((entry) => this.document(knowledgebaseId, ...entry)) };
		const send = await createSend(this.client(knowledgebaseId, night, course));
		const connection = { send, secrets: [] };
		const items = inputs.map((_, index) => {
			const [key = '', version = 0] = entries[index] ?? [];
			return itemOf(
				{ ...parameters, ...of(key, version) },
				{ fields: submit.fields, methods, index, connection },
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
		{ source, trouble, turns, rebuild }: Night,
		course: Course,
	): IExecuteFunctions {
		const brought = new Map(Object.keys(source).map((key) => [idOf(knowledgebaseId, key), key]));
		let gone = false;
		let address: string | undefined;
		const httpRequestWithAuthentication = async (_: string, options: IHttpRequestOptions) => {
			const number = course.requests++;
			if (options.method !== 'GET') course.writes += 1;
			if (gone) throw new Crash();
			if (number === rebuild) {
				const owner = this.sandbox.store.knowledgebases.get(knowledgebaseId);
				Object.assign(owner ?? {}, { status: 'ready' });
			}
			for (let left = turns[number % turns.length] ?? 0; left > 0; left--) await nextTurn();
			for (const id of disabledBy(options)) {
				const key = brought.get(id);
				if (key !== undefined) course.wrong.push(key);
			}
			if (course.late && number >= course.late.from) {
				const { carryOut } = course.late;
				course.late = undefined;
				await carryOut();
			}
			const here = `${options.method} ${options.url.replace(/\?.*/, '')}`;
			if (!trouble || (number !== trouble.request && here !== address))
				return await this.request(options);
			if (trouble.stays) address = here;
			if (trouble.done) await this.request(options);
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
			getExecutionCancelSignal: () => undefined,
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
 * Has pauses pass at once: waiting is none of what is tried here.
 *
 * @returns what has them take their time again
 */
function passQuickly(): () => void {
	const { now, sleep } = systemClock;
	let slept = 0;
	systemClock.now = () => now() + slept;
	systemClock.sleep = async (ms) => {
		slept += ms;
		await nextTurn();
	};
	return () => Object.assign(systemClock, { now, sleep });
}

const textOf = (key: string, version: number) => `This is version ${version} of ${key}.`;

const idOf = (knowledgebaseId: string, key: string) =>
	derivedId(keyOwner(knowledgebaseId, SOURCE_NAME), key);

/** The ids of documents that a request takes out of answers. */
function disabledBy({ url, body }: IHttpRequestOptions): string[] {
	if (!url.endsWith('/bulk')) return [];
	const documents = JSON.parse(String(body)) as IDataObject[];
	return documents.flatMap(({ id, disabled }) => (disabled === true ? String(id) : []));
}

/** What n8n's client gives for an answer, or throws for a connection that breaks. */
function answered(answer: Answer) {
	if ('code' in answer)
		throw Object.assign(new Error('broken'), { cause: { code: answer.code, message: 'broken' } });
	const { status: statusCode, body = '', headers = {} } = answer;
	return { statusCode, headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

/** Whether a run has ended in words because another one was at work: what one stores anew, the other does not see begun. */
const isOverlap = (error: unknown): boolean =>
	/another run of this source (was at work as well|is at work|has taken over)/i.test(
		`${get(error, 'message')} ${get(error, 'description')}`,
	);
