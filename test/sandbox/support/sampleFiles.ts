/** A PDF with one line of text. */
const TEXT = `%PDF-1.4
1 0 obj
<< /Type /Catalog /Pages 2 0 R >>
endobj
2 0 obj
<< /Type /Pages /Kids [3 0 R] /Count 1 >>
endobj
3 0 obj
<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 100] /Contents 4 0 R
   /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>
endobj
4 0 obj
<< /Length 64 >>
stream
BT /F1 12 Tf 10 50 Td (The elephant password is quokkapdf.) Tj ET
endstream
endobj
trailer
<< /Root 1 0 R /Size 5 >>
%%EOF
`;

/** A PDF that wants a password: what it is checked with is made up, so none fits. */
const LOCKED = `%PDF-1.4
1 0 obj
<< /Type /Catalog /Pages 2 0 R >>
endobj
2 0 obj
<< /Type /Pages /Kids [] /Count 0 >>
endobj
3 0 obj
<< /Filter /Standard /V 1 /R 2 /P -4 /O <${'11'.repeat(32)}> /U <${'22'.repeat(32)}> >>
endobj
trailer
<< /Root 1 0 R /Encrypt 3 0 R /ID [<${'33'.repeat(16)}> <${'33'.repeat(16)}>] /Size 4 >>
%%EOF
`;

/** A file of the recordings of which only name and length were kept: one of that length that the server treats alike. */
export function sampleFile(name: string, bytes = 0): Buffer {
	const isPdf = name.endsWith('.pdf') && name !== 'broken.pdf';
	const content = name === 'locked.pdf' ? LOCKED : isPdf ? TEXT : 'no text at all';
	return Buffer.from(content.padEnd(bytes, '\n').slice(0, bytes));
}
