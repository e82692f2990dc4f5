/** What sources read with: in one place, so that they can be listed without any of it being loaded. */
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
