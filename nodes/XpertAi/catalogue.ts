import { lowerCase, map, startCase, upperFirst } from 'lodash';

import type { Operation, Resource } from './execution/operation';
import { count as countAssistants } from './operations/assistant/count';
import { getAssistant } from './operations/assistant/get';
import { search as searchAssistants } from './operations/assistant/search';
import { create as createChatSession } from './operations/chatSession/create';
import { create as createConversation } from './operations/conversation/create';
import { deleteConversation } from './operations/conversation/delete';
import { get as getConversation } from './operations/conversation/get';
import { getMessages } from './operations/conversation/getMessages';
import { rate as rateAnswer } from './operations/conversation/rate';
import { search as searchConversations } from './operations/conversation/search';
import { update as updateConversation } from './operations/conversation/update';
import { findChanges } from './operations/document/findChanges';
import { getStatus, startProcessing } from './operations/document/processingOperations';
import { submit } from './operations/document/submit';
import { disable, enable } from './operations/document/disableOrEnable';
import { create as createFile } from './operations/file/create';
import { create as createFileContext } from './operations/fileContext/create';
import { deleteFileContext } from './operations/fileContext/delete';
import { create as createKnowledgebase } from './operations/knowledgebase/create';
import { deleteKnowledgebase } from './operations/knowledgebase/delete';
import { getKnowledgebase } from './operations/knowledgebase/get';
import { update as updateKnowledgebase } from './operations/knowledgebase/update';
import { createNamespace } from './operations/store/createNamespace';
import { searchItems } from './operations/store/searchItems';
import { copy as copyThread } from './operations/thread/copy';
import { get as getThread } from './operations/thread/get';
import { threadRunOperations } from './operations/thread/threadRunOperations';

/** The resource that is selected in a new node. */
export const DEFAULT_RESOURCE = 'thread';

/**
 * All operations of the node, by resource. n8n shows the resources and operations in this order. When a user selects a
 * resource, its first operation is selected.
 */
export const catalogue: Resource[] = buildResources({
	document: [submit, findChanges, disable, enable, getStatus, startProcessing],
	thread: [...threadRunOperations, getThread, copyThread],
	conversation: [
		createConversation,
		getConversation,
		searchConversations,
		getMessages,
		updateConversation,
		rateAnswer,
		deleteConversation,
	],
	knowledgebase: [createKnowledgebase, getKnowledgebase, updateKnowledgebase, deleteKnowledgebase],
	assistant: [searchAssistants, getAssistant, countAssistants],
	store: [searchItems, createNamespace],
	fileContext: [createFileContext, deleteFileContext],
	chatSession: [createChatSession],
	file: [createFile],
});

/**
 * Builds the resources, and adds their names and the actions of operations. For example, the key `fileContext` gives the
 * name "File Context". An operation "Get Status" of this resource gets the action "Get status file context", unless the
 * operation declares an action.
 */
function buildResources(operations: Record<string, Operation[]>): Resource[] {
	return map(operations, (declared, value) => {
		const name = startCase(value);
		const actionOf = (one: Operation) => upperFirst(lowerCase(`${one.name} ${name}`));
		const withAction = declared.map((one) => ({ action: actionOf(one), ...one }));
		return { value, name, operations: withAction };
	});
}
