import { documentExtension, mimeTypeOf } from '../../../../nodes/XpertAi/execution/mimeTypes';

it.each([
	['notes.md', 'md', 'text/markdown'],
	['notes.v2.MD', 'md', 'text/markdown'],
	['notes.txt', 'txt', 'text/plain'],
	['table.csv', 'csv', 'text/csv'],
	['table.tsv', 'tsv', 'text/tab-separated-values'],
	['page.htm', 'htm', 'text/html'],
	['page.html', 'html', 'text/html'],
	['data.json', 'json', 'application/json'],
	['data.xml', 'xml', 'application/xml'],
	['book.pdf', 'pdf', 'application/pdf'],
	['book.epub', 'epub', 'application/epub+zip'],
	['picture.png', undefined, 'image/png'],
	['picture.jpg', undefined, 'image/jpeg'],
	['picture.jpeg', undefined, 'image/jpeg'],
	['picture.gif', undefined, 'image/gif'],
	['picture.webp', undefined, 'image/webp'],
	['notes.md.bak', undefined, 'application/octet-stream'],
	['md', undefined, 'application/octet-stream'],
	['notes.constructor', undefined, 'application/octet-stream'],
])('the file %s has the document extension %s and the type %s', (name, extension, type) => {
	expect([documentExtension(name), mimeTypeOf(name)]).toEqual([extension, type]);
});
