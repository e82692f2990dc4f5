import { pickBy } from 'lodash';
import { compileCache } from './paths';
import { LOOPBACK } from './ports';

export interface N8nSettings {
	userFolder: string;
	port: number;
	/** The port on which n8n's own helper process for Code nodes talks to it. */
	brokerPort: number;
	encryptionKey: string;
	/** The folders that workflows may read and write files in. */
	readable: string[];
	/** Further variables, which win over all others. */
	extra?: NodeJS.ProcessEnv;
}

const LEFT_OUT =
	/^(N8N_|NODES_|DB_|EXECUTIONS_|QUEUE_|CREDENTIALS_|GENERIC_|WEBHOOK_|OFFLOAD_|JEST_|npm_|NODE_ENV$|NODE_OPTIONS$|NODE_PATH$)/i;

const QUIET_AND_LOCAL = {
	N8N_DIAGNOSTICS_ENABLED: 'false',
	N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
	N8N_VERSION_NOTIFICATIONS_WHATS_NEW_ENABLED: 'false',
	N8N_DYNAMIC_BANNERS_ENABLED: 'false',
	N8N_HIRING_BANNER_ENABLED: 'false',
	N8N_TEMPLATES_ENABLED: 'false',
	N8N_PERSONALIZATION_ENABLED: 'false',
	N8N_VERIFIED_PACKAGES_ENABLED: 'false',
	N8N_LICENSE_AUTO_RENEW_ENABLED: 'false',
	N8N_SECURE_COOKIE: 'false',
	// n8n refuses all requests while its database seems gone, which on a busy machine is soon so.
	DB_PING_TIMEOUT_MS: '60000',
	N8N_PYTHON_ENABLED: 'false',
	N8N_DISABLED_MODULES:
		'mcp-registry,instance-ai,agents,mcp,source-control,external-secrets,ldap,sso-oidc,sso-saml,otel',
};

/** Variables with which n8n reaches this machine, and so the sandbox, without the proxy the user may have. */
function withoutProxyToLoopback({ no_proxy, NO_PROXY }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
	const hosts = [no_proxy || NO_PROXY, LOOPBACK, 'localhost'].filter(Boolean).join(',');
	return { NO_PROXY: hosts, no_proxy: hosts };
}

/**
 * The environment of an n8n that listens on loopback only, calls nobody by itself, and shares
 * nothing with an n8n the user may have: variables that would steer it are not passed on.
 */
export function n8nEnvironment(settings: N8nSettings): NodeJS.ProcessEnv {
	return {
		...pickBy(process.env, (_value, name) => !LEFT_OUT.test(name)),
		...withoutProxyToLoopback(process.env),
		...QUIET_AND_LOCAL,
		NODE_ENV: 'production',
		NODE_COMPILE_CACHE: compileCache,
		N8N_USER_FOLDER: settings.userFolder,
		N8N_ENCRYPTION_KEY: settings.encryptionKey,
		N8N_LISTEN_ADDRESS: LOOPBACK,
		N8N_HOST: LOOPBACK,
		N8N_PORT: String(settings.port),
		N8N_RUNNERS_BROKER_PORT: String(settings.brokerPort),
		N8N_RESTRICT_FILE_ACCESS_TO: settings.readable.join(';'),
		N8N_GRACEFUL_SHUTDOWN_TIMEOUT: '10',
		N8N_SSRF_PROTECTION_ENABLED: 'false',
		...settings.extra,
	};
}
