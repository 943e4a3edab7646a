/** Highlights code at build time, with highlight.js. */
import hljs from 'highlight.js/lib/common';
import apache from 'highlight.js/lib/languages/apache';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import http from 'highlight.js/lib/languages/http';
import nginx from 'highlight.js/lib/languages/nginx';
import { html, raw } from 'hono/html';
import type { HTML } from './page.ts';

hljs.registerLanguage('apache', apache);
hljs.registerLanguage('dockerfile', dockerfile);
hljs.registerLanguage('http', http);
hljs.registerLanguage('nginx', nginx);

/** The code as highlighted HTML; plain text for a language that highlight.js does not know. */
export const highlight = (code: string, language: string): HTML =>
  hljs.getLanguage(language) ? raw(hljs.highlight(code, { language, ignoreIllegals: true }).value) : html`${code}`;

const languageNames: Readonly<Record<string, string>> = {
  sh: 'Shell',
  bash: 'Shell',
  js: 'JavaScript',
  javascript: 'JavaScript',
  jsx: 'JSX',
  ts: 'TypeScript',
  tsx: 'TSX',
  json: 'JSON',
  html: 'HTML',
  css: 'CSS',
  sql: 'SQL',
  php: 'PHP',
  python: 'Python',
  yaml: 'YAML',
  ini: 'INI',
  http: 'HTTP',
  nginx: 'nginx',
  apache: 'Apache',
  caddy: 'Caddyfile',
  caddyfile: 'Caddyfile',
  dockerfile: 'Dockerfile',
  text: 'Output',
};

/** A code block with a caption: its language's name, or `label`. */
export const codeBlock = (
  code: string,
  language: string,
  label = languageNames[language.toLowerCase()] ?? language,
): HTML =>
  html`<figure class="code">
<figcaption>${label || 'Text'}</figcaption>
<pre tabindex="0"><code>${highlight(code, language)}</code></pre>
</figure>
`;
