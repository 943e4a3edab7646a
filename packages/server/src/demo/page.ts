/** Serves the shop page `/demo/`, with the same script tag as any site. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Handler } from 'hono';
import { type PagePaths, scriptTag } from '../http/script-tag.ts';
import { responseHeaders } from './response-headers.ts';

const template = new URL('./page.html', import.meta.url);

/** Allows only scripts and styles with the nonce, and requests to this origin. */
const createPolicy = (nonce: string): string =>
  [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

export const createPage = (browserToken: string, paths: PagePaths): Handler => {
  const page = readFileSync(template, 'utf8').replace('{snippet}', () =>
    // A relative URL, because a proxy might serve the page under another path.
    scriptTag('..', browserToken, paths).replaceAll('<script', '<script nonce="{nonce}"'),
  );
  return (c) => {
    const nonce = randomBytes(16).toString('base64url');
    return c.html(page.replaceAll('{nonce}', nonce), 200, {
      ...responseHeaders,
      'Content-Security-Policy': createPolicy(nonce),
      'Cross-Origin-Opener-Policy': 'same-origin',
    });
  };
};
