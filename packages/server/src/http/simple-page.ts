/** A page with a title, a sentence and possibly a button, for people who are not signed in. */
import { createHash } from 'node:crypto';
import { escapeHTML } from './built-pages.ts';
import { type Exchange, headersOf } from './responses/responses.ts';

/** Matches the sign-in page: a centered card in the console's colors. */
const style = `:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { display: grid; place-items: center; min-height: 100vh; margin: 0; background: light-dark(#f5f7f4, #0f1210); color: light-dark(#1a1f1c, #e7ece8) }
main { box-sizing: border-box; width: min(24rem, 100% - 2rem); padding: 2rem; border: 1px solid light-dark(#e1e6e0, #262d28); border-radius: 1rem; background: light-dark(#fff, #161a17) }
h1 { margin: 0.6rem 0; font-size: 1.375rem; line-height: 1.25 }
p { margin: 0 }
button { margin-top: 1.25rem; padding: 0.5rem 1rem; border: 0; border-radius: 0.5rem; background: #1c7a59; color: #fff; font: inherit; cursor: pointer }`;

const hashOfStyle = createHash('sha256').update(style).digest('base64');

const policy = (formAction: string) =>
  `default-src 'none'; style-src 'sha256-${hashOfStyle}'; base-uri 'none'; form-action ${formAction}; frame-ancestors 'none'`;

interface SimplePage {
  readonly title: string;
  readonly text: string;
  /** The label of a button that posts to the page's own address. */
  readonly button?: string;
}

/** Responds with the page, which loads nothing. Keeps it out of search engines and caches. */
export const simplePage = (exchange: Exchange, status: number, { title, text, button }: SimplePage): Response => {
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Firsthand</title>
<style>${style}</style>
</head>
<body>
<main>
<svg viewBox="0 0 32 32" width="44" height="44" aria-hidden="true"><path d="M16 29C7 25 4 17 6 6c11 0 18 5 18 14 0 4-3 8-8 9Z" fill="#2f9e77"/></svg>
<h1>${escapeHTML(title)}</h1>
<p>${escapeHTML(text)}</p>${button === undefined ? '' : `\n<form method="post"><button>${escapeHTML(button)}</button></form>`}
</main>
</body>
</html>
`;
  const headers = {
    ...headersOf(exchange),
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy(button === undefined ? "'none'" : "'self'"),
    'X-Robots-Tag': 'noindex, nofollow',
    'Cache-Control': 'no-store',
  };
  return new Response(page, { status, headers });
};
