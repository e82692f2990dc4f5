/** Where documents are stored (E3). */
export const BULK_PATH = '/knowledges/{knowledgebaseId}/bulk';

/** Where Xpert is told to process documents. */
export const PROCESS_PATH = '/knowledges/{knowledgebaseId}/process';

/** Where Xpert says how far the processing of some documents has come. */
export const STATUS_PATH = '/knowledges/{knowledgebaseId}/status?ids={documentIds*}';
