import { createHash } from 'node:crypto';
import { orderBy, pick } from 'lodash';
import type { StoredDocument, ToolCall } from '../entities';
import {
	checkFilter,
	FilterError,
	isMet,
	withValues,
	type Filter,
	type Filtered,
} from '../filters';
import type { Filtering, StepSeed, ToolSeed } from '../seed';
import type { Store } from '../store';
import { asObject, type Loose } from '../values';

interface Hit {
	document: StoredDocument;
	place: number;
	text: string;
	score: number;
}

/**
 * Looks into a knowledgebase: all its passages, those first that fit best. There is no threshold: what has nothing in
 * common with the question is found as well (`sources` "a question that has nothing in common with the documents").
 */
function hits(store: Store, knowledgebaseId: string, query: string, filter?: Filter): Hit[] {
	if (filter) checkFilter(filter, store.knowledgebases.get(knowledgebaseId)?.metadataSchema);
	const found = store.index.passages(query, (id) => store.findable(id));
	const scores = new Map(found.map(({ documentId, place, score }) => [documentId + place, score]));
	const documents = store
		.documentsOf(knowledgebaseId)
		.filter((one) => !filter || isMet(filter, filtered(one)));
	const all = documents.flatMap((document) => {
		const { chunks = [] } = store.findable(document.id) ?? {};
		return chunks.map((text, place) => {
			return { document, place, text, score: scores.get(document.id + place) ?? 0 };
		});
	});
	const { topK = 10 } = asObject(store.knowledgebases.get(knowledgebaseId)?.recall);
	const inOrder = orderBy(all, ['score', ({ text }) => text.length], ['desc', 'asc']);
	return inOrder.slice(0, Number(topK));
}

const filtered = (document: StoredDocument): Filtered => ({
	metadata: asObject(document.metadata),
	document: {
		...pick(document, 'id', 'mimeType', 'category', 'sourceType', 'createdAt', 'updatedAt'),
		fileName: document.name,
		fileExtension: document.type,
		folderPath: document.folder,
	},
});

/** What an assistant's tool answers (`tool-calls` "one tool call"): passages, and how they are to be cited; JSON text. */
export function retrieve(
	store: Store,
	{ knowledgebaseId = '', filtering = {} }: ToolSeed,
	{ args }: ToolCall,
	variables: Loose,
): string {
	const fixed = filtering.fixed && withValues(filtering.fixed, variables);
	const query = String(args.query ?? args.input);
	const { found, filter } = searched(store, knowledgebaseId, query, { ...filtering, fixed }, args);
	const chunks = found.map((hit, place) => chunkOf(hit, knowledgebaseId, place + 1));
	const diagnostics = [{ filterVersion: 2, ...filter, hitCount: found.length }];
	return JSON.stringify({ chunks, diagnostics }, null, 2);
}

/** A filter of the model's own only narrows the fixed one; one that is wrong is dropped (`knowledge-filter-2` "agent filter wrong"). */
function searched(
	store: Store,
	knowledgebaseId: string,
	query: string,
	{ fixed, agent }: Filtering,
	{ dynamicFilter }: Loose,
): { found: Hit[]; filter: Loose } {
	const dynamic = agent?.enabled ? (dynamicFilter as Filter | undefined) : undefined;
	const plain = () => ({
		found: hits(store, knowledgebaseId, query, fixed),
		filter: { filterStatus: fixed ? 'applied' : 'not_applied' },
	});
	if (!dynamic) return plain();
	const both: Filter = fixed
		? { kind: 'group', operator: 'and', children: [fixed, dynamic] }
		: dynamic;
	try {
		const found = hits(store, knowledgebaseId, query, both);
		return { found, filter: { filterStatus: 'applied' } };
	} catch (error) {
		if (!(error instanceof FilterError)) throw error;
		return { ...plain(), filter: { filterStatus: 'dynamic_fallback' } };
	}
}

export type FoundPassage = Record<'documentName' | 'content' | 'citationMarkdown', string>;

/** The passages in what a tool said; undefined where it has looked into no knowledgebase. */
export function passagesIn(toolSaid: string): FoundPassage[] | undefined {
	if (!toolSaid.startsWith('{')) return undefined;
	return (JSON.parse(toolSaid) as { chunks: FoundPassage[] }).chunks;
}

/** What the step of a workflow finds (`sources` "a knowledge step of a workflow"): passages without links. */
export function found(store: Store, step: StepSeed, query: string, variables: Loose): Loose[] {
	const filter = step.filter && withValues(step.filter, variables);
	const into = [step.knowledgebaseId, ...(step.also ?? [])];
	return into.flatMap((id) => hits(store, id, query, filter)).map(passageOf);
}

const passageOf = (hit: Hit): Loose => ({
	id: idOf('row', hit),
	pageContent: hit.text,
	metadata: { chunkId: idOf('chunk', hit), score: hit.score },
	document: pick(hit.document, 'id', 'name', 'fileUrl'),
});

function chunkOf(hit: Hit, knowledgebaseId: string, index: number): Loose {
	const { document, text, score } = hit;
	const [documentId, chunkId] = [document.id, idOf('chunk', hit)];
	const where = `knowledgebaseId=${knowledgebaseId}&documentId=${documentId}&chunkId=${chunkId}`;
	return {
		index,
		chunkId,
		documentId,
		knowledgebaseId,
		documentName: document.name ?? undefined,
		fileUrl: document.fileUrl,
		score,
		snippet: text.replace(/\s+/g, ' '),
		citationMarkdown: `[⟦${index}⟧](xpert://knowledgebase/chunk?${where})`,
		content: text,
	};
}

/** The id of a passage, the same each time it is found; its row has another one. */
function idOf(kind: 'chunk' | 'row', { document, place, text }: Hit): string {
	const parts = JSON.stringify([kind, document.id, place, text]);
	const hash = createHash('sha256').update(parts).digest('hex');
	return hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5');
}

export const componentOf = (call: ToolCall): Loose => ({
	input: call.args,
	category: 'Tool',
	tool: call.name,
	status: 'running',
});

export const stepComponentOf = (query: string): Loose => ({
	category: 'Tool',
	type: 'knowledges',
	status: 'running',
	input: { query },
});
