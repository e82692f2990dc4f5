/** The functions that sources read with. They are kept apart, so that sources can be listed without loading them. */
export { documentList } from '../../../../payloads/document';
export { documentsInFile, givenDocuments, mappedDocument } from './fieldValues';
export {
	binaryDocument,
	hasFileInstead,
	checkedRecord,
	readDocumentKey,
	nameOfText,
	settingsOf,
	textDocument,
	wholeText,
} from './sourceDocument';
