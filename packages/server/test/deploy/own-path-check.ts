/**
 * Runs the check in packages/docs/own-domain.md: whether a path on a site reaches the server, and whether the server's
 * cookie reaches the browser.
 */
import { type Block, readBlocks, runBlock } from '../fixtures/documents/guides.ts';

const blocks = readBlocks('own-domain.md');
const at = blocks.findIndex(({ code }) => code.startsWith('curl'));
const [check, outputBlock] = blocks.slice(at) as [Block, Block];

/** The output that the guide shows for the check. */
export const expectedOutput = outputBlock.code.trim();

/** Runs the check for the site at this origin, and returns its output. */
export const checkOwnPath = (origin: string, token: string, env: Readonly<Record<string, string>> = {}) =>
  runBlock({ ...check, code: check.code.replaceAll('https://shop.example', origin).replace('browser_…', token) }, env);
