/** The start page of the reference: what all operations share, tokens, and the list of operations. */

import { type TokenKind, tokenKinds } from '@firsthand/contract/account/tokens';
import { limits } from '@firsthand/contract/limits';
import { html } from 'hono/html';
import { codeBlock } from '../highlight.ts';
import { type Page, placeholders } from '../page.ts';
import { document, operationDocs } from './document.ts';
import { prose } from './fields.ts';

const meanings: Readonly<Record<TokenKind, string>> = {
  browser:
    'Public: it is part of your pages. It logs events and claims who the visitor is, but cannot read personal data.',
  agent:
    'Secret, for AI agents. It reads counts with the tools of /mcp. It can’t read people or single events, or call the operations below.',
  viewer: 'Secret. It reads the data of an account, but cannot write.',
  editor:
    'Secret. It reads the data of an account, changes contacts, catalogues, segments and views, and shares reports. It cannot erase contacts.',
  server: 'Secret, for your own servers. It reads and writes everything in an account.',
  operator: 'Secret, for operators of the service. It creates accounts, but cannot read contacts.',
};

const section = (anchor: string, title: string) =>
  html`<h2 id="${anchor}"><a class="anchor" href="#${anchor}">${title}</a></h2>`;

export const overviewPage = (): Page => {
  const text = 'Every operation of the HTTP API: its paths, fields, limits, examples and error codes.';
  const paging = `If a list has more pages, send \`nextCursor\` as the \`cursor\` of the next request. On the last page, \`nextCursor\` is "". A page contains at most ${limits.eventsPerPage.toLocaleString('en')} entries.`;
  const parts = [
    { anchor: 'requests', title: 'Requests and responses' },
    { anchor: 'tokens', title: 'Tokens' },
    { anchor: 'pages', title: 'Pages' },
    { anchor: 'operations', title: 'Operations' },
  ] as const;
  const [requests, tokens, pages, operations] = parts;
  return {
    path: 'reference/',
    title: 'API reference',
    description: text,
    form: 'text',
    headings: parts,
    content: html`<h1>API reference</h1>
<p class="lead">${text}</p>
<p>The address of this server is <code>${placeholders.root}</code>. Its OpenAPI 3.1 document, for client generators, is <a href="../../openapi.json"><code>/openapi.json</code></a>.</p>
${section(requests.anchor, requests.title)}
${document.info.description.split('\n\n').map((paragraph) => html`<p>${prose(paragraph)}</p>\n`)}
${codeBlock(`curl ${placeholders.root}/account/getAccount -H "Authorization: Bearer $SERVER_TOKEN"`, 'sh')}
${section(tokens.anchor, tokens.title)}
<dl class="kinds">${tokenKinds.map((kind) => html`<dt><code>${kind}</code></dt><dd>${meanings[kind]}</dd>`)}</dl>
<div class="table" tabindex="0"><table>
<thead><tr><th>Operation</th>${tokenKinds.map((kind) => html`<th class="tick">${kind}</th>`)}</tr></thead>
<tbody>
${operationDocs.map(
  ({ name, tokens: accepted }) =>
    html`<tr><td><a href="${name}"><code>${name}</code></a></td>${tokenKinds.map(
      (kind) => html`<td class="tick">${accepted.includes(kind) ? 'yes' : ''}</td>`,
    )}</tr>\n`,
)}</tbody>
</table></div>
${section(pages.anchor, pages.title)}
<p>${prose(paging)}</p>
${section(operations.anchor, operations.title)}
${document.tags.map(
  ({
    name: noun,
    description,
  }) => html`<h3 id="${noun.toLowerCase()}"><a class="anchor" href="#${noun.toLowerCase()}">${noun}</a></h3>
<p>${description}</p>
<dl class="operations">${operationDocs
    .filter((operation) => operation.noun === noun)
    .map(
      ({ name, summary }) => html`<dt><a href="${name}"><code>${name}</code></a></dt><dd>${prose(summary)}</dd>`,
    )}</dl>
`,
)}`,
    sections: [
      { anchor: '', title: 'API reference', text },
      { anchor: requests.anchor, title: requests.title, text: document.info.description.replaceAll('`', '') },
      { anchor: tokens.anchor, title: tokens.title, text: Object.values(meanings).join(' ') },
      { anchor: pages.anchor, title: pages.title, text: paging.replaceAll('`', '') },
    ],
  };
};
