import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { LOOPBACK } from '../../../host/ports';
import { stopAllServers } from '../../../host/serverProcess';
import { Harness } from '../../e2e/support/harness';
import { ownN8n } from '../../e2e/support/ownN8n';
import { freshUserFolder } from '../../e2e/support/userFolder';
import { startPostgres, startRedis, type Service } from './services';
import { Worker } from './worker';

/** Redis, Postgres, a main n8n with a sandbox, and two workers. */
export class QueueMode {
	readonly harness = new Harness();

	readonly workers: Worker[] = [];

	private readonly services: Service[] = [];

	private readonly folder = freshUserFolder();

	private settings: NodeJS.ProcessEnv = {};

	/** Starts all of it; every n8n gets the packed node. */
	async start(): Promise<void> {
		mkdirSync(this.folder);
		const postgres = await this.keep(startPostgres(this.folder));
		const redis = await this.keep(startRedis(this.folder));
		this.settings = queueSettings(postgres.port, redis.port);
		const userFolder = join(this.folder, 'main');
		await this.harness.start(await ownN8n({ userFolder, env: this.settings }));
		await Promise.all(['worker-1', 'worker-2'].map(async (name) => await this.startWorker(name)));
	}

	async startWorker(name: string): Promise<Worker> {
		const worker = await Worker.start(name, this.harness.host, this.folder, this.settings);
		this.workers.push(worker);
		return worker;
	}

	/** The worker that has begun an execution, or undefined as long as none has. */
	workerOf(executionId: string): Worker | undefined {
		return this.workers.find(({ executions }) => executions.includes(executionId));
	}

	/** Ends all of it and removes what it has written. */
	async end(): Promise<void> {
		await Promise.all(this.workers.map(async (worker) => await worker.stop()));
		await this.harness.end();
		await stopAllServers();
		await Promise.all(this.services.map(async (service) => await service.stop()));
		rmSync(this.folder, { recursive: true, force: true });
	}

	private async keep(starting: Promise<Service>): Promise<Service> {
		const service = await starting;
		this.services.push(service);
		return service;
	}
}

/** How long a worker may be silent until it counts as gone: it reads a whole shard before it speaks again. */
const SILENCE_MS = 15_000;

/** What makes n8n work with a queue. A worker's silence is noticed sooner than after n8n's own minute. */
function queueSettings(postgresPort: number, redisPort: number): NodeJS.ProcessEnv {
	return {
		EXECUTIONS_MODE: 'queue',
		OFFLOAD_MANUAL_EXECUTIONS_TO_WORKERS: 'true',
		QUEUE_BULL_REDIS_HOST: LOOPBACK,
		QUEUE_BULL_REDIS_PORT: String(redisPort),
		QUEUE_WORKER_LOCK_DURATION: String(SILENCE_MS),
		QUEUE_WORKER_LOCK_RENEW_TIME: '2000',
		QUEUE_WORKER_STALLED_INTERVAL: '3000',
		DB_TYPE: 'postgresdb',
		DB_POSTGRESDB_HOST: LOOPBACK,
		DB_POSTGRESDB_PORT: String(postgresPort),
		DB_POSTGRESDB_USER: 'n8n',
		DB_POSTGRESDB_PASSWORD: 'none',
		DB_POSTGRESDB_DATABASE: 'postgres',
	};
}
