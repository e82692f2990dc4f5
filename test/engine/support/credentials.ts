import { Workflow } from 'n8n-workflow';
import type {
	ICredentialDataDecryptedObject,
	ICredentialType,
	ICredentialsHelper,
	IHttpRequestOptions,
	INode,
	INodeTypes,
} from 'n8n-workflow';

/** What a test puts into the credential of the node. */
export interface CredentialData extends ICredentialDataDecryptedObject {
	baseUrl: string;
	accessToken: string;
}

/** Applies a credential type's generic `authenticate`, as n8n's own helper does. */
export function credentialsHelper(
	type: ICredentialType,
	data: CredentialData,
	nodeTypes: INodeTypes,
): ICredentialsHelper {
	const workflow = new Workflow({ nodes: [], connections: {}, active: false, nodeTypes });
	const resolve = (value: unknown, credentials: ICredentialDataDecryptedObject, node: INode) =>
		typeof value === 'string' && value.startsWith('=')
			? workflow.expression.getSimpleParameterValue(
					node,
					value,
					'internal',
					{ $credentials: credentials },
					undefined,
					'',
				)
			: value;

	const helper: Partial<ICredentialsHelper> = {
		getParentTypes: () => [],
		isCredentialUsableByNode: () => true,
		getDecrypted: async () => ({ ...data }),
		preAuthentication: async () => undefined,
		getCredentialsProperties: () => type.properties,
		authenticate: async (credentials, _typeName, options) => {
			const { authenticate } = type;
			if (typeof authenticate !== 'object')
				throw new Error('the credential has no generic authenticate');
			const node: INode = {
				id: 'credential',
				name: 'Credential',
				type: 'engine.start',
				typeVersion: 1,
				position: [0, 0],
				parameters: {},
			};
			const headers = Object.entries(authenticate.properties.headers ?? {}).map(([name, value]) => [
				name,
				resolve(value, credentials, node),
			]);
			return {
				...options,
				headers: { ...options.headers, ...Object.fromEntries(headers) },
			} as IHttpRequestOptions;
		},
	};
	// The engine calls no other method of the helper for a node like ours.
	return helper as ICredentialsHelper;
}
