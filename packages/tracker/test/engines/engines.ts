/** The engines that the tracker is proved in. */
import { describe } from 'vitest';
import { chromium } from './chromium.ts';
import type { Engine } from './engine.ts';
import { firefox } from './firefox.ts';
import { webkit } from './webkit.ts';

const only = process.env.ENGINE;

/** All of them, or those that ENGINE names (`ENGINE=firefox`). */
export const engines: readonly Engine[] = [chromium, firefox, webkit].filter(
  ({ name }) => !only || name.toLowerCase().startsWith(only.toLowerCase()),
);

/** The same tests in each engine. */
export const describeEngines = (what: string, tests: (engine: Engine) => void): void => {
  for (const engine of engines) describe(`${what} in ${engine.name}`, () => tests(engine));
};
