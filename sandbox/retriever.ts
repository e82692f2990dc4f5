import { createHash } from 'node:crypto';
import { pick } from 'lodash';
import type { Store } from './store';
import type { ToolCall } from './entities';
import type { Loose } from './values';

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

/** A passage of a document as the tool gives it to the model. */
type Chunk = Loose & { chunkId: string; documentId: string; knowledgebaseId: string };

/** What the tool found: its answer as the model reads it, and the passages in it. */
export interface Retrieved {
	output: string;
	chunks: Chunk[];
}

/**
 * Looks into a knowledgebase as an assistant's tool does (`tool-calls` "one tool call"): the passages that fit best,
 * with where they stand and how they are to be cited.
 */
export function retrieve(store: Store, knowledgebaseId: string, query: string): Retrieved {
	const documents = store.documentsOf(knowledgebaseId).filter(({ id }) => store.findable(id));
	const { topK = 10 } = (store.knowledgebases.get(knowledgebaseId)?.recall ?? {}) as Loose;
	const own = new Set(documents.map(({ id }) => id));
	const found = store.index
		.passages(query, (id) => store.findable(id))
		.filter(({ documentId }) => own.has(documentId))
		.slice(0, Number(topK));
	const chunks = found.map(({ documentId, place, text, score }, at) =>
		chunkOf({ store, knowledgebaseId, documentId, place, text, score }, at + 1),
	);
	const told = {
		chunks,
		citations: chunks.map((chunk) => pick(chunk, CITED)),
		instructions: INSTRUCTIONS,
		diagnostics: [diagnosticsOf(chunks.length, documents.length)],
	};
	return { output: JSON.stringify(told, null, 2), chunks };
}

interface Place {
	store: Store;
	knowledgebaseId: string;
	documentId: string;
	place: number;
	text: string;
	score: number;
}

function chunkOf(at: Place, index: number): Chunk {
	const { store, knowledgebaseId, documentId, place, text, score } = at;
	const { name, fileUrl }: Loose = store.documents.get(documentId) ?? {};
	const chunkId = idOf(documentId, place, text);
	const where = `knowledgebaseId=${knowledgebaseId}&documentId=${documentId}&chunkId=${chunkId}`;
	const citationUrl = `xpert://knowledgebase/chunk?${where}`;
	const citationLabel = `⟦${index}⟧`;
	return {
		index,
		chunkId,
		documentId,
		knowledgebaseId,
		documentName: name,
		fileUrl,
		score,
		snippet: text.replace(/\s+/g, ' '),
		metadata: {
			// Where in its file a passage stands is not kept: these are the lines of its own.
			loc: { lines: { to: text.split('\n').length, from: 1 } },
			source: fileUrl,
			tokens: 0,
			chunkId,
			chunkIndex: place,
			score,
		},
		citationLabel,
		citationUrl,
		citationMarkdown: `[${citationLabel}](${citationUrl})`,
		content: text,
	};
}

/** The id of a passage, the same each time it is found. */
function idOf(...parts: unknown[]): string {
	const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
	return hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5');
}

const diagnosticsOf = (hitCount: number, documents: number): Loose => ({
	filterVersion: 2,
	filterStatus: 'not_applied',
	hitCount,
	vectorBackend: 'pgvector',
	filterLatency: 0,
	candidateDocumentCount: documents,
	candidateChunkCount: hitCount,
	vectorLatency: 0,
	retryableWithoutDynamic: false,
});

/** A use of the tool as the conversation's message shows it, and streams do when it begins (`status` "running"). */
export const componentOf = (call: ToolCall, knowledgebaseId: string, created: string): Loose => ({
	input: call.args,
	category: 'Tool',
	toolset: 'knowledgebase',
	toolset_id: knowledgebaseId,
	tool: call.name,
	title: 'Knowledge Tools',
	created_date: created,
	status: 'running',
});
