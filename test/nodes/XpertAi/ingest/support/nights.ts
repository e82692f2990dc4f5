import { setImmediate as nextTurn } from 'node:timers/promises';

import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { submit } from '../../../../../nodes/XpertAi/operations/document/submit';
import { derivedId } from '../../../../../nodes/XpertAi/payloads/derivedId';
import { parseAnswer } from '../../../../../nodes/XpertAi/transport/answer';
import type { Outcome, Send } from '../../../../../nodes/XpertAi/transport/request';
import { COPILOT_ID, startSandbox } from '../../../../../sandbox';
import type { Sandbox } from '../../../../../sandbox';
import { itemOf } from '../../../support/context';

/** What a source holds in a night: a version of each of its documents, by their keys. */
export type Source = Record<string, number>;

/** What goes wrong with one request of a run, and what of it the server has done by then. */
export interface Trouble {
	request: number;
	/** `crash`: n8n is gone from then on; `lost`: no answer; `refused`: the server says no. */
	kind: 'crash' | 'lost' | 'refused';
	done: boolean;
}

/** One run, or two at the same time. */
export interface Night {
	source: Source;
	trouble?: Trouble;
	/** What another run of the same node brings meanwhile. */
	other?: Source;
	/** How many turns each request takes on its way, over and over. */
	turns: number[];
}

export const KEYS = ['a', 'b', 'c', 'd', 'e'];
export const VERSIONS = [0, 1, 2];

class Crash extends Error {}

/** A sandbox, with a file for each version of each document, and nights after nights of ingestion. */
export class Nights {
	private constructor(
		private readonly sandbox: Sandbox,
		private readonly addresses: Map<string, string>,
	) {}

	static async start(): Promise<Nights> {
		const sandbox = await startSandbox({ processMs: 0, logBodies: false });
		const addresses = new Map<string, string>();
		for (const key of [...KEYS, 'by hand']) {
			for (const version of VERSIONS) {
				const text = textOf(key, version);
				const form = new FormData();
				form.append('file', new Blob([text]), `${key}.md`);
				const answer = await request(sandbox, 'POST', '/v1/file', form);
				if (!answer.ok) throw new Error('the sandbox takes no file');
				addresses.set(text, (answer.answer as { url: string }).url);
			}
		}
		return new Nights(sandbox, addresses);
	}

	async close(): Promise<void> {
		await this.sandbox.close();
	}

	/** A new knowledgebase with a document that somebody has stored by hand. */
	async knowledgebase(): Promise<string> {
		const { store } = this.sandbox;
		const { id } = store.putKnowledgebase({
			name: `Nights ${store.knowledgebases.size}`,
			copilotModelId: COPILOT_ID,
		});
		const document = this.document(id, 'by hand', 0);
		await request(this.sandbox, 'POST', `/knowledges/${id}/bulk`, JSON.stringify([document]));
		await request(this.sandbox, 'POST', `/knowledges/${id}/process`, JSON.stringify([document.id]));
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
		const all = [...KEYS, 'by hand'].flatMap((key) => {
			const document = store.findable(derivedId(knowledgebaseId, key));
			return document ? [[key, document.chunks.join('')] as const] : [];
		});
		return Object.fromEntries(all);
	}

	/** What assistants should find after a whole run with this source. */
	expected(source: Source): Record<string, string> {
		const texts = Object.entries(source).map(([key, version]) => [key, textOf(key, version)]);
		return { ...Object.fromEntries(texts), 'by hand': textOf('by hand', 0) };
	}

	/**
	 * One night.
	 *
	 * @returns the keys of documents that were taken out of answers by a run that brought them
	 */
	async night(
		knowledgebaseId: string,
		{ source, other, trouble, turns }: Night,
	): Promise<string[]> {
		const wrong: string[] = [];
		const runs = [this.run(knowledgebaseId, source, { trouble, turns, wrong })];
		if (other) runs.push(this.run(knowledgebaseId, other, { turns: [...turns].reverse(), wrong }));
		const ends = await Promise.allSettled(runs);
		if (!trouble) for (const end of ends) if (end.status === 'rejected') throw end.reason;
		return wrong;
	}

	private async run(
		knowledgebaseId: string,
		source: Source,
		{ trouble, turns, wrong }: Pick<Night, 'trouble' | 'turns'> & { wrong: string[] },
	): Promise<void> {
		const documents = Object.entries(source).map(([key, version]) =>
			this.document(knowledgebaseId, key, version),
		);
		const parameters = {
			knowledgebaseId,
			source: 'json',
			jsonBody: documents,
			afterStoring: 'process',
			options: {
				skipUnchanged: true,
				whenGone: 'disable',
				maxGonePercent: 100,
				retryMinutes: 0,
				batchSize: 2,
				sourceName: 'nights',
			},
		};
		const methods = {
			getInputData: () => [{ json: {} }],
			getMode: () => 'trigger',
			getExecutionCancelSignal: () => undefined,
			getParentNodes: () => [],
			getChildNodes: () => [],
			getWorkflowDataProxy: () => ({ $runIndex: 0 }),
			continueOnFail: () => false,
			addExecutionHints: () => undefined,
		} as unknown as Partial<IExecuteFunctions>;
		const item = itemOf(parameters, { fields: submit.fields, methods });
		const brought = new Map(
			Object.keys(source).map((key) => [derivedId(knowledgebaseId, key), key]),
		);
		const send = this.sender({ trouble, turns }, (id) => {
			const key = brought.get(id);
			if (key !== undefined) wrong.push(key);
		});
		await submit.execute({ context: item.context, send, items: [item] });
	}

	/** Sends over HTTP, with what goes wrong on the way. */
	private sender(
		{ trouble, turns }: Pick<Night, 'trouble' | 'turns'>,
		onDisabled: (id: string) => void,
	): Send {
		let count = 0;
		let crashed = false;
		return async ({ method, path, body }) => {
			const number = count++;
			if (crashed) throw new Crash();
			for (let left = turns[number % turns.length] ?? 0; left > 0; left--) await nextTurn();
			if (typeof body === 'string' && path.endsWith('/bulk'))
				for (const { id, disabled } of JSON.parse(body) as IDataObject[])
					if (disabled === true) onDisabled(String(id));
			if (number !== trouble?.request) return await request(this.sandbox, method, path, body);
			crashed = trouble.kind === 'crash';
			if (trouble.done) await request(this.sandbox, method, path, body);
			if (crashed) throw new Crash();
			return trouble.kind === 'lost'
				? failed(method, path, { kind: 'network', code: 'ECONNRESET' })
				: failed(method, path, { kind: 'status', status: 422 });
		};
	}

	private document(knowledgebaseId: string, key: string, version: number) {
		const fileUrl = this.addresses.get(textOf(key, version)) ?? '';
		return { id: derivedId(knowledgebaseId, key), name: `${key}.md`, fileUrl };
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

const textOf = (key: string, version: number) => `This is version ${version} of ${key}.`;

const failed = (method: string, path: string, facts: object) =>
	({ ok: false, failure: { method, path, ...facts } }) as Outcome;

async function request(
	sandbox: Sandbox,
	method: string,
	path: string,
	body?: string | FormData,
): Promise<Outcome> {
	const response = await fetch(`${sandbox.url}/api/ai${path}`, {
		method,
		body,
		headers: {
			Authorization: `Bearer ${sandbox.accessToken}`,
			...(typeof body === 'string' ? { 'Content-Type': 'application/json' } : {}),
		},
	});
	const { status } = response;
	const answer = parseAnswer(await response.text());
	return response.ok
		? { ok: true, status, answer }
		: failed(method, path, { kind: 'status', status });
}
