/** The engines that the tracker is tested in. */
import { describe } from 'vitest';
import { chromium } from './chromium.ts';
import type { Engine } from './engine.ts';
import { firefox } from './firefox.ts';
import { webkit } from './webkit.ts';

const engineName = process.env.ENGINE;

/** All engines, or only the one given by ENGINE (`ENGINE=firefox`). */
export const engines: readonly Engine[] = [chromium, firefox, webkit].filter(
  ({ name }) => !engineName || name.toLowerCase().startsWith(engineName.toLowerCase()),
);

/** Describes the same tests for each engine. */
export const describeEngines = (subject: string, tests: (engine: Engine) => void): void => {
  for (const engine of engines) describe(`${subject} in ${engine.name}`, () => tests(engine));
};
