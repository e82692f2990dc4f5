import { getAdditionalKeys } from 'n8n-core';
import { Workflow } from 'n8n-workflow';
import type {
	ICredentialDataDecryptedObject,
	ICredentialType,
	ICredentialsHelper,
	IHttpRequestOptions,
	INode,
	INodeParameters,
	INodeTypes,
} from 'n8n-workflow';

export interface CredentialData extends ICredentialDataDecryptedObject {
	baseUrl: string;
	accessToken: string;
}

const mockNode: INode = {
	id: 'credential',
	name: 'Credential',
	type: 'engine.start',
	typeVersion: 1,
	position: [0, 0],
	parameters: {},
};

/** Resolves the fields of a credential and calls its type's `authenticate`, as n8n's own helper does. */
export function credentialsHelper(
	type: ICredentialType,
	data: CredentialData,
	nodeTypes: INodeTypes,
): ICredentialsHelper {
	const helper: Partial<ICredentialsHelper> = {
		getParentTypes: () => [],
		isCredentialUsableByNode: () => true,
		getDecrypted: async (additionalData, _node, _type, mode, executeData, _raw, given) => {
			const keys = getAdditionalKeys(additionalData, mode, null);
			if (!given) {
				// Lists in the editor and polls have no items: nothing but the credential itself is known.
				const { expression } = new Workflow({
					nodes: [mockNode],
					connections: {},
					active: false,
					nodeTypes,
				});
				return expression.getComplexParameterValue(
					mockNode,
					data as INodeParameters,
					mode,
					keys,
					undefined,
					undefined,
					data as INodeParameters,
				) as ICredentialDataDecryptedObject;
			}
			try {
				return given.workflow.expression.getParameterValue(
					data as INodeParameters,
					given.runExecutionData,
					given.runIndex,
					given.itemIndex,
					given.node.name,
					given.connectionInputData,
					mode,
					keys,
					executeData,
					false,
					data as INodeParameters,
				) as ICredentialDataDecryptedObject;
			} catch (caught) {
				if (caught instanceof Error) caught.message += ' [Error resolving credentials]';
				throw caught;
			}
		},
		preAuthentication: async () => undefined,
		getCredentialsProperties: () => type.properties,
		authenticate: async (credentials, _typeName, options) => {
			const { authenticate } = type;
			if (typeof authenticate !== 'function')
				throw new Error('the credential has no function to authenticate');
			return await authenticate(credentials, options as IHttpRequestOptions);
		},
	};
	// The engine calls no other method of the helper for a node like ours.
	return helper as ICredentialsHelper;
}
