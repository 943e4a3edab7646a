import { expect, it, onTestFinished, vi } from 'vitest';
import type { TestProject } from 'vitest/node';

it('fails a tier before its first test if a program is missing, and prints its Debian package', async () => {
  vi.stubEnv('CHROMIUM_PATH', '/nowhere/chromium');
  vi.stubEnv('FIREFOX_PATH', '/nowhere/firefox');
  vi.stubEnv('ENGINE', '');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { setup } = await import('../../vitest.needs.ts');
  const start = (name: string) => () => setup({ name } as TestProject);
  const chromium = "/nowhere/chromium (Debian's package chromium)";
  expect(start('browsers')).toThrow(new Error(`The tests of "browsers" need ${chromium}.`));
  const engines = `The tests of "browsers: engines" need ${chromium}; /nowhere/firefox (Debian's package firefox-esr)`;
  expect(start('browsers: engines')).toThrow(engines);
  vi.stubEnv('TEST_CITUS_URL', '');
  vi.stubEnv('CITUS_BIN', '/nowhere');
  expect(start('citus')).toThrow('The tests of "citus" need TEST_CITUS_URL, or CITUS_BIN: the folder of');
  vi.stubEnv('TEST_CITUS_URL', 'postgres://nowhere/postgres');
  expect(start('citus')).not.toThrow();
  expect(start('citus: faults')).toThrow('The tests of "citus: faults" need CITUS_BIN: the folder of');
  expect(start('unit')).not.toThrow();
  vi.stubEnv('PATH', '/nowhere');
  expect(start('unit')).toThrow('The tests of "unit" need bash; curl; python3.');
});
