/** The frame of every page: head, search, navigation, and links to the previous and next page. */
import { html } from 'hono/html';
import type { AssetNames } from './assets.ts';
import { type HTML, type NavigationGroup, type NavigationLink, type Page, relativePath } from './page.ts';
import { markdownFileOf } from './to-markdown.ts';

const label = ({ label: text, isCode }: NavigationLink): HTML => (isCode ? html`<code>${text}</code>` : html`${text}`);

const navigation = (groups: readonly NavigationGroup[], { path }: Page): HTML =>
  html`<nav id="menu" popover aria-label="Documentation">
${groups.map(
  ({ title, links }, index) => html`<p id="menu-${index}">${title}</p>
<ul aria-labelledby="menu-${index}">${links.map((link) => {
    const isCurrent = link.path === path;
    return html`<li><a href="${relativePath(path, link.path)}"${isCurrent ? html` aria-current="page"` : ''}>${label(link)}</a></li>`;
  })}</ul>
`,
)}</nav>`;

const contents = ({ headings = [] }: Page): HTML =>
  headings.length < 2
    ? html``
    : html`<nav class="contents" aria-labelledby="contents-title"><p id="contents-title">On this page</p><ul>${headings.map(
        ({ anchor, title }) => html`<li><a href="#${anchor}">${title}</a></li>`,
      )}</ul></nav>`;

const neighbors = (groups: readonly NavigationGroup[], { path }: Page): HTML => {
  const links = groups.flatMap((group) => group.links);
  const at = links.findIndex((link) => link.path === path);
  const [previous, next] = at < 0 ? [] : [links[at - 1], links[at + 1]];
  const link = (to: NavigationLink | undefined, kind: string, text: string): HTML =>
    to
      ? html`<a class="${kind}" href="${relativePath(path, to.path)}"><span>${text}</span> ${label(to)}</a>`
      : html`<span></span>`;
  return html`<nav class="neighbors" aria-label="Next and previous page">${link(previous, 'before', 'Previous')}${link(next, 'after', 'Next')}</nav>`;
};

/** The whole document. `data-root` and `data-docs` tell the script the paths of the server's root and `/docs/`. */
export const layout = (page: Page, groups: readonly NavigationGroup[], assets: AssetNames): HTML => {
  const { path, title, description, content, form } = page;
  const to = (target: string): string => relativePath(path, target);
  const docs = to('');
  return html`<!doctype html>
<html lang="en" data-docs="${docs}" data-root="${docs === './' ? '../' : `${docs}../`}" data-search="${to(assets.search)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${path === '' ? title : `${title} · Firsthand`}</title>
<meta name="description" content="${description}">
<link rel="alternate" type="text/markdown" href="${to(markdownFileOf(path))}">
<link rel="icon" href="${to(assets.icon)}" type="image/svg+xml">
<link rel="stylesheet" href="${to(assets.style)}">
<script type="module" src="${to(assets.script)}"></script>
</head>
<body class="${form}">
<a class="skip" href="#content">Skip to the content</a>
<header class="top">
<button class="menu-button" popovertarget="menu" aria-label="Menu"><span aria-hidden="true"></span></button>
<a class="brand" href="${docs}"><img src="${to(assets.icon)}" alt="" width="24" height="24"> Firsthand <span>docs</span></a>
<search class="search" hidden>
<label for="query" class="visually-hidden">Search the documentation</label>
<input id="query" type="search" placeholder="Search" autocomplete="off" spellcheck="false" role="combobox" aria-expanded="false" aria-controls="results" aria-autocomplete="list">
<kbd aria-hidden="true">/</kbd>
<ul id="results" role="listbox" aria-label="Results" hidden></ul>
<p class="visually-hidden" role="status"></p>
</search>
<a class="top-link" href="${to('reference/')}">API reference</a>
</header>
<div class="frame">
${navigation(groups, page)}
<main id="content" tabindex="-1">
<article>
${content}</article>
${neighbors(groups, page)}
</main>
${contents(page)}
</div>
</body>
</html>
`;
};
