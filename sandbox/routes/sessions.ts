import type { Call, Endpoint } from '../context';
import { badRequest, noDate, notFound } from '../errors';
import { asObject, type Loose } from '../values';

const DEFAULT_SECONDS = 600;
const LAST_MOMENT = 8.64e15;

function create({ context, caller, body }: Call): Loose {
	const { assistant, expires_after: asked } = asObject(body);
	const assistantId = asObject(assistant).id;
	if (caller.kind === 'user') {
		if (assistantId === undefined) {
			throw badRequest('assistant.id is required to create a user ChatKit session.');
		}
		if (!context.store.assistants.has(String(assistantId))) throw notFound();
	}
	const seconds = typeof asked === 'number' && asked > 0 ? Math.floor(asked) : DEFAULT_SECONDS;
	const expiresAt = context.clock.now() + seconds * 1000;
	if (expiresAt > LAST_MOMENT) throw noDate();
	return {
		client_secret: context.tokens.mint(caller, expiresAt),
		expires_at: new Date(expiresAt).toISOString(),
		expires_after: seconds,
	};
}

/** To whom a key belongs; nobody may see anything of it but the id (`conversation-by-id`). */
const me = ({ caller: { userId } }: Call): Loose => ({
	id: userId,
	type: 'user',
	email: `${userId}@example.com`,
	hash: `$2b$10$hash-of-the-password-of-${userId}`,
});

export const sessionEndpoints: Endpoint[] = [
	{ id: 'me', method: 'GET', path: '/user/me', isOutside: true, status: 200, handle: me },
	{ id: 'E6', method: 'POST', path: '/v1/chatkit/sessions', status: 201, handle: create },
];
