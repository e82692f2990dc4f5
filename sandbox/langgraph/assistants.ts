import { isMatch } from 'lodash';
import type { Call, Endpoint } from '../context';
import type { Assistant } from '../store';
import type { Loose } from '../values';
import { checked } from './errors';
import { assistantCount, assistantSearch } from './schemas';

const metadataOf = ({ slug, type, workspaceId }: Assistant): Loose => ({
	created_by: 'system',
	slug,
	type,
	workspaceId,
});

const shown = (assistant: Assistant): Loose => ({
	assistant_id: assistant.id,
	graph_id: assistant.slug,
	config: {},
	context: {},
	created_at: assistant.createdAt,
	updated_at: assistant.createdAt,
	metadata: metadataOf(assistant),
	version: 1,
	name: assistant.name,
	description: assistant.description,
});

function found({ context }: Call, graphId: string | undefined, metadata: Loose = {}): Assistant[] {
	return [...context.store.assistants.values()].filter(
		(assistant) =>
			(graphId === undefined || assistant.slug === graphId) &&
			isMatch(metadataOf(assistant), metadata),
	);
}

/** Unlike Xpert, this server heeds limit and offset; without a limit it answers with ten. */
function search(call: Call): Loose[] {
	const body = checked(assistantSearch, call.body ?? {});
	const { graph_id: graphId, metadata, limit = 10, offset = 0 } = body;
	return found(call, graphId, metadata)
		.slice(offset, offset + limit)
		.map(shown);
}

function count(call: Call): string {
	const { graph_id: graphId, metadata } = checked(assistantCount, call.body ?? {});
	return String(found(call, graphId, metadata).length);
}

/** E7 and E9. */
export const assistantEndpoints: Endpoint[] = [
	{ id: 'E7', method: 'POST', path: '/assistants/search', status: 200, handle: search },
	{
		id: 'E9',
		method: 'POST',
		path: '/assistants/count',
		status: 200,
		contentType: 'application/json',
		handle: count,
	},
];
