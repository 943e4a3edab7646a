/** The home page: the script tag, a first event, and links to all guides and operations. */
import { html } from 'hono/html';
import { codeBlock } from './highlight.ts';
import { renderInline } from './markdown.ts';
import { type Page, placeholders } from './page.ts';
import { document, operationDocs } from './reference/document.ts';
import { operationPath } from './reference/operation-page.ts';
import type { GuideGroup } from './texts.ts';

const firstEvent = `curl ${placeholders.root}/event/logEvent \\
  -H "Authorization: Bearer $SERVER_TOKEN" \\
  -d '{ "eventName": "Signed up",
        "userUUID": "visitor-of-the-docs" }'

curl ${placeholders.root}/event/getEvent \\
  -H "Authorization: Bearer $SERVER_TOKEN"`;

export const frontPage = (groups: readonly GuideGroup[]): Page => {
  const text = 'How to log what visitors do, read it back, and identify them.';
  return {
    path: '',
    title: 'Firsthand documentation',
    description: text,
    form: 'front',
    sections: [{ anchor: '', title: 'Firsthand documentation', text }],
    content: html`<div class="hero">
<h1>Firsthand documentation</h1>
<p class="lead">${text}</p>
<p class="actions">${groups.map(
      ({ title }, index) =>
        html`<a class="button${index === 0 ? '' : ' light'}" href="#guides-${index}">${title || 'Guides'}</a> `,
    )}</p>
</div>
<section id="begin" aria-labelledby="begin-title">
<h2 id="begin-title">Get started</h2>
<div class="steps">
<div class="step">
<h3>1. Add the tag to your pages</h3>
<p>Put it in the <code>&lt;head&gt;</code>, with your browser token. We recommend serving the script from <a href="own-domain">a path on your own site</a>: only then does Safari keep the cookie for 400 days.</p>
<figure class="code"><figcaption>HTML</figcaption><pre class="wraps" tabindex="0"><code>${placeholders.scriptTag}</code></pre></figure>
${codeBlock("tracker.log('Signed up', { plan: 'monthly' });", 'js')}
</div>
<div class="step">
<h3>2. Log from your server, and read events</h3>
<p>Use a server token, and keep it secret. A 200 response means that the event is stored.</p>
${codeBlock(firstEvent, 'sh')}
</div>
</div>
</section>
${groups.map(
  ({ title, guides }, index) => html`<section aria-labelledby="guides-${index}">
<h2 id="guides-${index}">${title || 'Guides'}</h2>
<ul class="cards">${guides.map(
    ({ path, title: label, use }) =>
      html`<li><a href="${path}"><strong>${renderInline(label)}</strong><span>${renderInline(use)}</span></a></li>`,
  )}</ul>
</section>
`,
)}
<section aria-labelledby="reference-title">
<h2 id="reference-title"><a class="anchor" href="reference/">API reference</a></h2>
<div class="nouns">${document.tags.map(
      ({ name: noun, description }) =>
        html`<div><h3>${noun}</h3><p>${description}</p><ul>${operationDocs
          .filter((operation) => operation.noun === noun)
          .map(({ name }) => html`<li><a href="${operationPath(name)}"><code>${name}</code></a></li>`)}</ul></div>`,
    )}</div>
</section>
`,
  };
};
