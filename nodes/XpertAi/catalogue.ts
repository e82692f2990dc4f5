import type { Resource } from './execution/operation';
import { count } from './operations/assistant/count';
import { getAssistant } from './operations/assistant/get';
import { search as searchAssistants } from './operations/assistant/search';
import { create as createChatSession } from './operations/chatSession/create';
import { create as createConversation } from './operations/conversation/create';
import { deleteConversation } from './operations/conversation/delete';
import { get as getConversation } from './operations/conversation/get';
import { getMessages } from './operations/conversation/getMessages';
import { rate } from './operations/conversation/rate';
import { search as searchConversations } from './operations/conversation/search';
import { update as updateConversation } from './operations/conversation/update';
import { findChanges } from './operations/document/findChanges';
import { getStatus, startProcessing } from './operations/document/processing';
import { submit } from './operations/document/submit';
import { disable, enable } from './operations/document/switch';
import { create as createFile } from './operations/file/create';
import { create as createFileContext } from './operations/fileContext/create';
import { deleteFileContext } from './operations/fileContext/delete';
import { create as createKnowledgebase } from './operations/knowledgebase/create';
import { deleteKnowledgebase } from './operations/knowledgebase/delete';
import { getKnowledgebase } from './operations/knowledgebase/get';
import { update as updateKnowledgebase } from './operations/knowledgebase/update';
import { createNamespace } from './operations/store/createNamespace';
import { searchItems } from './operations/store/searchItems';
import { copy } from './operations/thread/copy';
import { get } from './operations/thread/get';
import { runOperations } from './operations/thread/run';

/** The resource of a fresh node, also as a tool of an agent, which is to ask an assistant. */
export const DEFAULT_RESOURCE = 'thread';

/**
 * Every operation of the node, in the order in which n8n's nodes panel lists them: what is used most comes first.
 * A fresh node starts with the first operation of its resource. A new endpoint is one file and one line here.
 */
export const catalogue: Resource[] = [
	{
		value: 'document',
		name: 'Document',
		operations: [submit, findChanges, disable, enable, getStatus, startProcessing],
	},
	{
		value: 'thread',
		name: 'Thread',
		operations: [...runOperations, get, copy],
	},
	{
		value: 'conversation',
		name: 'Conversation',
		operations: [
			createConversation,
			getConversation,
			searchConversations,
			getMessages,
			updateConversation,
			rate,
			deleteConversation,
		],
	},
	{
		value: 'knowledgebase',
		name: 'Knowledgebase',
		operations: [createKnowledgebase, getKnowledgebase, updateKnowledgebase, deleteKnowledgebase],
	},
	{ value: 'assistant', name: 'Assistant', operations: [searchAssistants, getAssistant, count] },
	{ value: 'store', name: 'Store', operations: [searchItems, createNamespace] },
	{
		value: 'fileContext',
		name: 'File Context',
		operations: [createFileContext, deleteFileContext],
	},
	{ value: 'chatSession', name: 'Chat Session', operations: [createChatSession] },
	{ value: 'file', name: 'File', operations: [createFile] },
];
