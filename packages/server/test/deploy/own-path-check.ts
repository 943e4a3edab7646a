/**
 * The check in packages/docs/own-domain.md: whether a path of a site reaches the server, and its cookie the browser.
 */
import { type Block, blocksOf, runBlock } from '../fixtures/documents/guides.ts';

const blocks = blocksOf('own-domain.md');
const at = blocks.findIndex(({ code }) => code.startsWith('curl'));
const [check, outputBlock] = blocks.slice(at) as [Block, Block];

/** The output that the guide shows. */
export const expectedOutput = outputBlock.code.trim();

/** Runs the check for the site with this origin. Returns its output. */
export const checkOwnPath = (origin: string, token: string, env: Readonly<Record<string, string>> = {}) =>
  runBlock({ ...check, code: check.code.replaceAll('https://shop.example', origin).replace('browser_…', token) }, env);
