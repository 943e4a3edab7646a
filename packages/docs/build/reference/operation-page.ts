/** An operation's page. */

import type { TokenKind } from '@firsthand/contract/account/tokens';
import { listErrorCodes } from '@firsthand/contract/document/operation-errors';
import { errors } from '@firsthand/contract/errors';
import { pageNames } from '@firsthand/contract/identifiers';
import { limits } from '@firsthand/contract/limits';
import { html } from 'hono/html';
import { codeBlock, highlight } from '../highlight.ts';
import { type HTML, type Page, placeholders, relativePath } from '../page.ts';
import type { Endpoint, OperationDoc } from './document.ts';
import { fieldList, prose, sentence } from './fields.ts';
import { clientSample, curlSample, tagSample } from './samples.ts';

export const operationPath = (name: string): string => `reference/${name}`;

/** The shell variables that contain tokens. */
const variableOf: Readonly<Record<TokenKind, string>> = {
  browser: 'BROWSER_TOKEN',
  agent: 'AGENT_TOKEN',
  viewer: 'VIEWER_TOKEN',
  editor: 'EDITOR_TOKEN',
  server: 'SERVER_TOKEN',
  operator: 'OPERATOR_TOKEN',
};
const tokenFor = (tokens: readonly TokenKind[]): string =>
  variableOf[tokens.includes('server') ? 'server' : (tokens[0] ?? 'server')];

const pagePaths = new Set(Object.values(pageNames).map((name) => `/${name}`));
/** The path to show. If pages use it, it is under the prefix that this server's pages send requests to. */
const displayPath = (path: string): string => (pagePaths.has(path) ? placeholders.pageFolder + path.slice(1) : path);

/** A list of paths with their methods. */
const paths = ({ paths: all, endpoints }: OperationDoc): HTML =>
  html`<ul class="endpoints" aria-label="Methods and paths">${all.map(
    (path) =>
      html`<li>${endpoints
        .filter((endpoint) => endpoint.path === path)
        .map(
          ({ operationID, method }) =>
            html`<span class="method ${method.toLowerCase()}" id="${operationID}">${method}</span> `,
        )}<code>${displayPath(path)}</code></li>`,
  )}</ul>`;

const kinds = (tokens: readonly TokenKind[]): HTML =>
  html`${tokens.map(
    (kind, index) =>
      html`${index === 0 ? '' : index === tokens.length - 1 ? ' or ' : ', '}<a href="./#tokens"><code>${kind}</code></a>`,
  )}`;

const bytes = (count: number): string => (count >= 2 ** 20 ? `${count / 2 ** 20} MiB` : `${count / 2 ** 10} KiB`);

/** Notes on how to send the request. */
const describeRequest = ({ methods, body, openToPages }: OperationDoc): string[] => [
  methods.includes('POST')
    ? `The body is a JSON object or form fields, at most ${bytes(body === 'batch' ? limits.batchBodyBytes : limits.bodyBytes)}. Query parameters are also read, but the body takes precedence. Unknown fields are ignored and listed in \`ignored\`.`
    : 'The fields are query parameters. Unknown parameters are rejected.',
  ...(openToPages ? ['Pages on any origin may read the response.'] : []),
];

const isPaged = ({ request, response }: OperationDoc): boolean =>
  response.properties?.nextCursor !== undefined && request.properties?.cursor !== undefined;

interface Tab {
  readonly label: string;
  readonly language: string;
  readonly code: string;
}

export const requestTabs = (operation: OperationDoc): Tab[] => {
  const { name, endpoints, tokens, stream, requestExample } = operation;
  const [{ method, path }] = endpoints as [Endpoint];
  const isStream = stream === true;
  const request = { method, path, token: tokenFor(tokens), fields: requestExample, isStream };
  const tag = tagSample(name, requestExample);
  return [
    { label: 'curl', language: 'sh', code: curlSample(request) },
    {
      label: 'TypeScript',
      language: 'ts',
      code: clientSample(name, requestExample, { isStream, isPaged: isPaged(operation) }),
    },
    ...(tag === undefined ? [] : [{ label: 'Tag', language: 'js', code: tag }]),
  ];
};

/** Tabs as radio buttons, which work without a script and with the arrow keys. */
const tabs = (group: string, all: readonly Tab[]): HTML => html`<figure class="code tabs">
<figcaption role="radiogroup" aria-label="Form of the example">${all.map(
  ({ label }, index) =>
    html`<label><input type="radio" name="${group}" value="${label}"${index === 0 ? html` checked` : ''}> ${label}</label>`,
)}</figcaption>
${all.map(({ language, code }) => html`<pre tabindex="0"><code>${highlight(code, language)}</code></pre>\n`)}</figure>
`;

const responseSample = ({ stream, responseExample }: OperationDoc): HTML => {
  const json = JSON.stringify(responseExample, null, stream ? undefined : 2);
  return stream
    ? codeBlock(`data: ${json}\n\n`, 'text', 'Response: an event in the stream')
    : codeBlock(json, 'json', 'Response');
};

const errorRows = (operation: OperationDoc): HTML => {
  const codes = new Set(operation.methods.flatMap((method) => listErrorCodes(operation, method)));
  return html`${[...codes].map(
    (code) =>
      html`<tr><td><a href="errors#${code}"><code>${code}</code></a></td><td>${errors[code].status}</td><td>${prose(sentence(errors[code].when))}</td></tr>\n`,
  )}`;
};

/** `guides` are the guides that mention the operation. */
export const operationPage = (operation: OperationDoc, guides: readonly { path: string; title: string }[]): Page => {
  const { name, noun, summary, details, tokens, endpoints, request, response } = operation;
  const path = operationPath(name);
  const content = html`<p class="noun">${noun}</p>
<h1>${name}</h1>
<p class="lead">${prose(summary)}</p>
<div class="pair">
<div class="fields-column">
${paths(operation)}
${details ? html`<p>${prose(details)}</p>` : ''}
<p>Requires a token of kind ${kinds(tokens)}.</p>
${
  guides.length === 0
    ? ''
    : html`<p class="guides">Guides that use this operation: ${guides.map(
        (guide, index) => html`${index > 0 ? ', ' : ''}<a href="${relativePath(path, guide.path)}">${guide.title}</a>`,
      )}</p>`
}
<h2 id="request"><a class="anchor" href="#request">Request</a></h2>
<p>${prose(describeRequest(operation).join(' '))}</p>
${fieldList(request, 'request')}
<h2 id="response"><a class="anchor" href="#response">Response</a></h2>
${operation.stream ? html`<p>${prose('Server-sent events. The data of each is this object. An event of type `error`, whose data is the body of an error response, ends the stream.')}</p>` : ''}
${fieldList(response, 'response')}
<h2 id="errors"><a class="anchor" href="#errors">Errors</a></h2>
<div class="table" tabindex="0"><table>
<thead><tr><th>Code</th><th>Status</th><th>When</th></tr></thead>
<tbody>
${errorRows(operation)}</tbody>
</table></div>
</div>
<div class="samples-column">
<div class="samples">
${tabs('sample', requestTabs(operation))}
${responseSample(operation)}
</div>
</div>
</div>
`;
  const fieldNames = [request, response].flatMap(({ properties = {} }) => Object.keys(properties));
  return {
    path,
    title: name,
    description: summary,
    form: 'wide',
    content,
    sections: [
      {
        anchor: '',
        title: name,
        text: [summary, details, ...endpoints.map((each) => each.path), ...new Set(fieldNames)]
          .filter(Boolean)
          .join(' ')
          .replaceAll('`', ''),
      },
    ],
  };
};
