import { createHash } from 'node:crypto';
import { orderBy, pick, uniqBy } from 'lodash';
import type { StoredDocument, ToolCall } from './entities';
import {
	appliedFilter,
	checkFilter,
	FilterError,
	isMet,
	withValues,
	type Filter,
	type Filtered,
} from './filters';
import type { Filtering, StepSeed, ToolSeed } from './seed';
import type { Store } from './store';
import { asObject, type Loose } from './values';

/** What every answer of the tool tells the model to do with it. */
const INSTRUCTIONS =
	'When using a chunk in the final answer, append its citationMarkdown immediately after the supported sentence or paragraph. Use the exact citationMarkdown string verbatim as an inline Markdown link in the form [label](url); do not rewrite it as a footnote, plain [1], reference-style link, bare URL, or separate source list.';

const CITED = [
	'index',
	'chunkId',
	'documentId',
	'knowledgebaseId',
	'documentName',
	'fileUrl',
	'score',
	'snippet',
	'citationLabel',
	'citationUrl',
	'citationMarkdown',
];

/** A passage that was found, and how near it is. */
interface Hit {
	document: StoredDocument;
	/** Its place among the passages of its document. */
	place: number;
	text: string;
	score: number;
}

/**
 * Looks into a knowledgebase: all its passages, those first that fit best. There is no threshold: what has nothing in
 * common with the question is found as well (`sources` "a question that has nothing in common with the documents").
 */
function hits(store: Store, knowledgebaseId: string, query: string, filter?: Filter): Search {
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
	const candidates = { documents: uniqBy(all, 'document').length, chunks: all.length };
	return { found: inOrder.slice(0, Number(topK)), candidates };
}

/** What was found, and among how many. */
interface Search {
	found: Hit[];
	candidates: Record<'documents' | 'chunks', number>;
}

/** What a filter sees of a document; what its folder is called stands in it. */
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
	const search = searched(store, knowledgebaseId, query, { ...filtering, fixed }, args);
	const { found, filter } = search;
	const chunks = found.map((hit, place) => chunkOf(hit, knowledgebaseId, place + 1));
	const told = {
		chunks,
		citations: chunks.map((chunk) => pick(chunk, CITED)),
		instructions: INSTRUCTIONS,
		diagnostics: [diagnosticsOf(search, filter)],
	};
	return JSON.stringify(told, null, 2);
}

/** A filter of the model's own only narrows the fixed one; one that is wrong is dropped (`knowledge-filter-2` "agent filter wrong"). */
function searched(
	store: Store,
	knowledgebaseId: string,
	query: string,
	{ fixed, agent }: Filtering,
	{ dynamicFilter }: Loose,
): Search & { filter: Loose } {
	const dynamic = agent?.enabled ? (dynamicFilter as Filter | undefined) : undefined;
	const plain = () => ({
		...hits(store, knowledgebaseId, query, fixed),
		filter: fixed ? appliedFilter(fixed, fixed) : { filterStatus: 'not_applied' },
	});
	if (!dynamic) return plain();
	const both: Filter = fixed
		? { kind: 'group', operator: 'and', children: [fixed, dynamic] }
		: dynamic;
	try {
		return { ...hits(store, knowledgebaseId, query, both), filter: appliedFilter(fixed, both) };
	} catch (error) {
		if (!(error instanceof FilterError)) throw error;
		return { ...plain(), filter: { filterStatus: 'dynamic_fallback' } };
	}
}

/** What a model uses of a passage that it was told of. */
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
	return into.flatMap((id) => hits(store, id, query, filter).found).map(passageOf);
}

const passageOf = (hit: Hit): Loose => ({
	id: idOf('row', hit),
	pageContent: hit.text,
	metadata: metadataOf(hit),
	contentHash: createHash('sha256').update(hit.text).digest('hex'),
	version: 2,
	document: pick(hit.document, 'id', 'name', 'sourceType', 'category', 'fileUrl'),
});

function chunkOf(hit: Hit, knowledgebaseId: string, index: number): Loose {
	const { document, text, score } = hit;
	const [documentId, chunkId] = [document.id, idOf('chunk', hit)];
	const where = `knowledgebaseId=${knowledgebaseId}&documentId=${documentId}&chunkId=${chunkId}`;
	const citationUrl = `xpert://knowledgebase/chunk?${where}`;
	const citationLabel = `⟦${index}⟧`;
	return {
		index,
		chunkId,
		documentId,
		knowledgebaseId,
		documentName: document.name ?? undefined,
		fileUrl: document.fileUrl,
		score,
		snippet: text.replace(/\s+/g, ' '),
		metadata: metadataOf(hit),
		citationLabel,
		citationUrl,
		citationMarkdown: `[${citationLabel}](${citationUrl})`,
		content: text,
	};
}

const metadataOf = (hit: Hit): Loose => ({
	// Where in its file a passage stands is not kept: these are the lines of its own.
	loc: { lines: { to: hit.text.split('\n').length, from: 1 } },
	source: hit.document.fileUrl,
	tokens: 0,
	chunkId: idOf('chunk', hit),
	chunkIndex: hit.place,
	score: hit.score,
});

/** The id of a passage, the same each time it is found; its row has another one. */
function idOf(kind: 'chunk' | 'row', { document, place, text }: Hit): string {
	const parts = JSON.stringify([kind, document.id, place, text]);
	const hash = createHash('sha256').update(parts).digest('hex');
	return hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5');
}

const diagnosticsOf = ({ found, candidates }: Search, filter: Loose): Loose => ({
	filterVersion: 2,
	...filter,
	hitCount: found.length,
	vectorBackend: 'pgvector',
	filterLatency: 0,
	candidateDocumentCount: candidates.documents,
	candidateChunkCount: candidates.chunks,
	vectorLatency: 0,
	retryableWithoutDynamic: false,
});

/**
 * A use of the tool as the conversation's message shows it, and streams do when it begins (`status` "running"): all
 * knowledgebases that the assistant has are one set of tools.
 */
export const componentOf = (call: ToolCall, tools: ToolSeed[], created: string): Loose => {
	const { toolset, title = call.name } = tools.find(({ name }) => name === call.name) ?? {};
	const looksInto = tools.flatMap((tool) => tool.knowledgebaseId ?? []).join(',');
	return {
		input: call.args,
		category: 'Tool',
		toolset: toolset?.name ?? 'knowledgebase',
		toolset_id: toolset?.id ?? looksInto,
		tool: call.name,
		title: toolset ? title : 'Knowledge Tools',
		created_date: created,
		status: 'running',
	};
};

/** The same of the step of a workflow. */
export const stepComponentOf = (query: string, created: string): Loose => ({
	category: 'Tool',
	type: 'knowledges',
	title: 'Knowledge retrieval',
	created_date: created,
	status: 'running',
	message: query,
	end_date: null,
	input: { query },
});
