import { WORDS } from './networkWords';

/** What operators want to know, as far as the network tests prove it. */
export const NETWORK_SECTIONS = `
## Behind a proxy

n8n's variables hold for every operation, every list in the editor and the test of the credential:

- \`HTTP_PROXY\` is for Base URLs with http://, \`HTTPS_PROXY\` for those with https://, \`ALL_PROXY\` for both. In
  small letters they do the same.
- \`NO_PROXY\` names the hosts that are reached without the proxy, separated by commas: host names, addresses,
  \`.example.com\` for all below a name, \`*\` for all; no ranges of addresses.
- To an https:// server the proxy gives a tunnel: it sees host and port, neither the token nor what is sent.
  What goes to an http:// server it can read, the token included.
- A user name and password for the proxy stand in its address, \`http://user:password@proxy.example.com:3128\`.
  They go to the proxy only and come out in no message.
- Certificates are checked as without a proxy. Where a proxy opens TLS, give n8n its certificate with
  \`NODE_EXTRA_CA_CERTS\`.

A proxy that does not let requests through ends in these words. After the first nothing is sent again; the
others are treated like the same faults of a server.

- It wants a password: “${WORDS.noPassword('Proxy Authentication Required')}”
- It does not find the server: “${WORDS.badGateway}”
- It closes the connection: “${WORDS.noTunnel}”,
  with http:// “${WORDS.closed}”
- Nothing listens at its address: “${WORDS.nobodyThere}”

## n8n's SSRF protection

With \`N8N_SSRF_PROTECTION_ENABLED=true\` n8n sends nothing to private addresses such as 10.0.0.5 or 127.0.0.1,
for whichever operation or list. Nothing is tried again, and no document counts as stored or in doubt:
“${WORDS.blocked('10.0.0.5')}”. The test of the credential says, in n8n's words,
“${WORDS.blockedTest}”.

- To allow a server, set \`N8N_SSRF_ALLOWED_IP_RANGES\`, e.g. to \`10.0.0.5/32\`, or \`N8N_SSRF_ALLOWED_HOSTNAMES\`,
  e.g. to \`xpert.example.com\`. A host name helps only where the Base URL has it, too.
- A host in \`N8N_SSRF_BLOCKED_HOSTNAMES\` is held back although its address is allowed.
- Behind a proxy it is the server that is judged. The proxy needs no leave, but n8n looks up the server's name
  itself: one that only the proxy knows ends in “${WORDS.unknownHost}”.
- Redirects are no way around it, because the node follows none.
`;
