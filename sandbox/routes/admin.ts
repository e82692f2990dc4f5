import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Context } from '../context';
import { badRequest } from '../errors';
import { faultRuleSchema } from '../faults';

const rules = z.union([faultRuleSchema, z.array(faultRuleSchema)]);

/** The sandbox's own routes below /sandbox: faults, request log, state and reset. They are never logged. */
export function registerAdmin(app: FastifyInstance, context: Context): void {
	const { faults, requests, store, tokens } = context;
	app.addHook('preHandler', async (request) => {
		tokens.identify(request.headers);
	});
	app.get('/faults', () => faults.list());
	app.post('/faults', async (request, reply) => {
		const result = rules.safeParse(request.body);
		if (!result.success) throw badRequest(result.error.message);
		faults.add(...[result.data].flat());
		return reply.code(201).send(faults.list());
	});
	app.delete('/faults', () => {
		faults.clear();
		return [];
	});
	app.get('/requests', () => requests.toJSON());
	app.delete('/requests', () => {
		requests.clear();
		return [];
	});
	app.get('/state', () => store.snapshot());
	app.post('/reset', () => {
		context.reset();
		return {};
	});
}
