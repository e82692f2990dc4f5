/** The memory of the source `handbook` as the first version wrote it: the document `a` is stored as `content`. */
export const OLD =
	'n8n-memory-1:3b1b35502997860136b23eb78d166502:eyJzb3VyY2UiOiJoYW5kYm9vayIsIm1hcmsiOiJhbiBvbGQgbWFyayIsImluY2x1ZGVzIjpbIngiXSwiY291bnRzIjpbMSwwLDBdfQ==:yT9dIrGmXfSB33UX2e39ngQPBv13QJJH';
