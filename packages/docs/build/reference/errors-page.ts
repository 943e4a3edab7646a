/** The page of error codes. */

import { readFileSync } from 'node:fs';
import { listErrorCodes } from '@firsthand/contract/document/operation-errors';
import { type ErrorCode, errors } from '@firsthand/contract/errors';
import { html } from 'hono/html';
import { codeBlock } from '../highlight.ts';
import { type HTML, type Page, relativePath } from '../page.ts';
import { type OperationDoc, operationDocs } from './document.ts';
import { prose, sentence } from './fields.ts';

const remedies = readFileSync(new URL('../../troubleshooting.md', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `firsthand: '));
/** Whether the troubleshooting guide has a row for this code. */
const hasRemedy = (code: string): boolean =>
  remedies.some((row) => new RegExp(`\\b${code}\``).test(row.split('|')[1] ?? ''));

const example = {
  error: { code: 'invalid_field', field: 'userUUID', message: 'must be 16 to 64 of A-Z a-z 0-9 _ -' },
  requestID: 'q3VnX8bT0zRk5yWcJ1LsA',
  status: '400',
};

const returns = (operation: OperationDoc, code: ErrorCode): boolean =>
  operation.methods.some((method) => listErrorCodes(operation, method).includes(code));

/** Links to the operations that return a code, or a summary if all or none do. */
const returnedBy = (code: ErrorCode): HTML => {
  const operations = operationDocs.filter((operation) => returns(operation, code));
  if (operations.length === 0) return html`Requests whose path belongs to no operation`;
  if (operations.length === operationDocs.length) return html`Every operation`;
  return html`${operations.map(({ name }, index) => html`${index > 0 ? ', ' : ''}<a href="${name}"><code>${name}</code></a>`)}`;
};

const statuses = [...new Set(Object.values(errors).map(({ status }) => status))];
const codesWith = (status: number) =>
  Object.entries(errors).filter(([, error]) => error.status === status) as [ErrorCode, (typeof errors)[ErrorCode]][];

export const errorsPage = (): Page => {
  const text = 'All error codes. The list is closed, so programs can switch on the code.';
  return {
    path: 'reference/errors',
    title: 'Error codes',
    description: text,
    form: 'text',
    headings: statuses.map((status) => ({ anchor: `status-${status}`, title: String(status) })),
    content: html`<h1>Error codes</h1>
<p class="lead">${text}</p>
<p>${prose('`field`, if present, is the path of the field that caused the error; `message` explains what is expected. The service logs the request under its `requestID`. A 429 or 503 response has `Retry-After`, the number of seconds to wait before trying again.')}</p>
${codeBlock(JSON.stringify(example, null, 2), 'json', 'An error response')}
${statuses.map(
  (status) => html`<h2 id="status-${status}"><a class="anchor" href="#status-${status}">${status}</a></h2>
<div class="fields">${codesWith(status).map(
    ([code, { when }]) => html`<div class="field" id="${code}">
<div class="field-head"><a class="anchor" href="#${code}"><code class="name">${code}</code></a></div>
<p>${prose(sentence(when))}</p>
<p class="example">${returnedBy(code)}</p>
${hasRemedy(code) ? html`<p><a href="${relativePath('reference/errors', 'troubleshooting')}#in-the-browser">What to do when a page reports this code</a></p>` : ''}
</div>
`,
  )}</div>
`,
)}`,
    sections: [
      { anchor: '', title: 'Error codes', text },
      ...(Object.keys(errors) as ErrorCode[]).map((code) => ({
        anchor: code,
        title: code,
        text: `${errors[code].status} ${sentence(errors[code].when)}`.replaceAll('`', ''),
      })),
    ],
  };
};
