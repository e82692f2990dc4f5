/** The memory of the source `handbook` as the first version wrote it: the documents `a` and `b` are stored as `content`. */
export const OLD =
	'n8n-memory-1:4b586ccb1c28c9df142025432ee02db9:eyJzb3VyY2UiOiJoYW5kYm9vayIsIm1hcmsiOiJhbiBvbGQgbWFyayIsImluY2x1ZGVzIjpbIngiXSwiY291bnRzIjpbMiwwLDBdfQ==:yT9dIrGmXfSB33UX2e39ngQPBv13QJJH5F1l9fXUUMyhP59xNVi5IwQPBv13QJJH';
