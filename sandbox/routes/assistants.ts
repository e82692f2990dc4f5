import type { Call, Endpoint } from '../context';
import { internal, notFound } from '../errors';
import type { Assistant } from '../seed';
import { asObject, isUuid, type Loose } from '../values';

const shown = (assistant: Assistant): Loose => ({
	assistant_id: assistant.id,
	graph_id: assistant.id,
	name: assistant.name,
	description: assistant.description,
	version: 1,
	created_at: assistant.createdAt,
	updated_at: assistant.createdAt,
	config: {
		agentConfig: agentConfigOf(assistant),
	},
	metadata: {
		workspaceId: assistant.workspaceId,
		slug: assistant.slug,
		type: assistant.type,
		title: assistant.title,
	},
});

/** What is shown of filters: those of tools, and of a step nothing (`knowledge-filter-4` "what a key sees of the filter"). */
function agentConfigOf({ tools, stateVariables }: Assistant): Loose {
	const retrievals = (tools ?? []).flatMap(({ knowledgebaseId, filtering }) =>
		knowledgebaseId !== undefined && filtering ? [[knowledgebaseId, { filtering }]] : [],
	);
	return {
		...(retrievals.length > 0 && { retrievals: Object.fromEntries(retrievals) as Loose }),
		...(stateVariables && { stateVariables }),
	};
}

/** Assistants that have the metadata asked for; keys other than these three are ignored. */
function withMetadata({ context }: Call, metadata: unknown): Assistant[] {
	const { slug, workspaceId, type } = asObject(metadata);
	if (workspaceId !== undefined && !isUuid(workspaceId)) throw internal();
	return [...context.store.assistants.values()].filter(
		(assistant) =>
			(slug === undefined || assistant.slug === slug) &&
			(type === undefined || assistant.type === type) &&
			(workspaceId === undefined || assistant.workspaceId === workspaceId),
	);
}

/** The server reads `limit` and `offset` but then answers with all (`E07` "limit 1"); `graph_id` is ignored. */
function search(call: Call): Loose[] {
	if (call.body === undefined) throw internal();
	const { limit, offset, metadata } = asObject(call.body);
	if ([limit, offset].some((value) => value !== undefined && Number.isNaN(Number(value)))) {
		throw internal();
	}
	return withMetadata(call, metadata).map(shown);
}

/** A bare number; here `graph_id` is heeded (`E09` "graph_id unknown"). */
function count(call: Call): string {
	const { graph_id: graphId, metadata } = asObject(call.body);
	if (graphId !== undefined && !isUuid(graphId)) throw internal();
	const found = withMetadata(call, metadata);
	return String(found.filter((row) => graphId === undefined || row.id === graphId).length);
}

function get({ context, params }: Call): Loose {
	if (!isUuid(params.id)) throw internal();
	const assistant = context.store.assistants.get(params.id);
	if (assistant === undefined) throw notFound();
	return shown(assistant);
}

export const assistantEndpoints: Endpoint[] = [
	{ id: 'E7', method: 'POST', path: '/assistants/search', status: 201, handle: search },
	{
		id: 'E9',
		method: 'POST',
		path: '/assistants/count',
		status: 201,
		contentType: 'text/html; charset=utf-8',
		handle: count,
	},
	{ id: 'getAssistant', method: 'GET', path: '/assistants/:id', status: 200, handle: get },
];
