import { no, success } from '../../../support/send';
import type { ApiRequest, RequestOutcome } from '../../../../../nodes/XpertAi/transport/request';

interface Record {
	id: string;
	title: string;
	createdAt: string;
	updatedAt: string;
}

const failed = ({ method, path }: ApiRequest, status: number, more: object = {}): RequestOutcome =>
	no({ kind: 'status', status, method, path, ...more });

/**
 * The records of locks on a server, as `test/recordings/turn-lock.json` shows them: the first request makes a record, each
 * later one with another title moves `updatedAt`, and what is not there cannot be deleted.
 *
 * @param now the server's clock
 */
export function lockServer(now: () => number) {
	const records = new Map<string, Record>();
	const create = ({ body }: ApiRequest): RequestOutcome => {
		const { id, title } = JSON.parse(String(body)) as Record;
		const time = new Date(now()).toISOString();
		const existing = records.get(id);
		if (!existing) records.set(id, { id, title, createdAt: time, updatedAt: time });
		else if (existing.title !== title) {
			const later = Math.max(now(), Date.parse(existing.updatedAt) + 1);
			Object.assign(existing, { title, updatedAt: new Date(later).toISOString() });
		}
		return success({ ...records.get(id) });
	};
	/** Answers what concerns locks; undefined for anything else. */
	const answer = (request: ApiRequest): RequestOutcome | undefined => {
		const { method, path } = request;
		const [, id = ''] = /^\/conversations\/([^/]+)$/.exec(path) ?? [];
		if (method === 'POST' && path === '/conversations') return create(request);
		if (method === 'GET' && id) return success({ ...records.get(id) });
		if (method !== 'DELETE' || !id) return undefined;
		return records.delete(id) ? success(undefined) : failed(request, 500);
	};
	return { records, answer };
}
