import { documentExtension, mimeTypeOf } from '../../../../nodes/XpertAi/execution/mimeTypes';

it.each([
	['notes.md', 'md', 'text/markdown'],
	['notes.v2.MD', 'md', 'text/markdown'],
	['picture.png', undefined, 'image/png'],
	['notes.md.bak', undefined, 'application/octet-stream'],
	['md', undefined, 'application/octet-stream'],
	['notes.constructor', undefined, 'application/octet-stream'],
])('the file %s has the document extension %s and the type %s', (name, extension, type) => {
	expect([documentExtension(name), mimeTypeOf(name)]).toEqual([extension, type]);
});
