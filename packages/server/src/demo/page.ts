/** Serves `/demo/`, the shop page, with the script tag as on any site. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Handler } from 'hono';
import { trackerFolder } from '../tracker-folder.ts';
import { answerHeaders } from './answer-headers.ts';

const template = new URL('./page.html', import.meta.url);
const snippet = join(trackerFolder, 'snippet.html');

/** The script tag for a page, from the template of the tracker's build. Throws if the tracker hasn't been built. */
export const scriptTag = (src: string, token: string): string => {
  if (!existsSync(snippet)) throw new Error('the tracker is not built yet, and the demo needs it: npm run build');
  return readFileSync(snippet, 'utf8').trim().replaceAll('{src}', src).replaceAll('{token}', token);
};

/** A policy that allows only scripts and styles with the nonce, and requests to this origin only. */
const policy = (nonce: string): string =>
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

export const createPage = (browserToken: string): Handler => {
  const page = readFileSync(template, 'utf8').replace('{snippet}', () =>
    scriptTag('../tracker.js', browserToken).replaceAll('<script', '<script nonce="{nonce}"'),
  );
  return (c) => {
    const nonce = randomBytes(16).toString('base64url');
    return c.html(page.replaceAll('{nonce}', nonce), 200, {
      ...answerHeaders,
      'Content-Security-Policy': policy(nonce),
      'Cross-Origin-Opener-Policy': 'same-origin',
    });
  };
};
