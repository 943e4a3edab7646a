/** The check of packages/docs/own-domain.md: whether a path of a site reaches the server, and its cookie the browser. */
import { type Block, blocksOf, runBlock } from '../fixtures/documents/guides.ts';

const blocks = blocksOf('own-domain.md');
const at = blocks.findIndex(({ code }) => code.startsWith('curl'));
const [check, shown] = blocks.slice(at) as [Block, Block];

/** What the guide says that it prints. */
export const checkShown = shown.code.trim();

/** What it prints for the site with this origin. */
export const checkOwnPath = (origin: string, token: string, env: Readonly<Record<string, string>> = {}) =>
  runBlock({ ...check, code: check.code.replaceAll('https://shop.example', origin).replace('browser_…', token) }, env);
