import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { build } from 'esbuild';
import { expect, test, vi } from 'vitest';
import { prunePackages } from '../build/prune-packages.ts';
import { createTracker, type LogResult, logPageViews } from './index.ts';
import { earlyEventsScript, snippet } from './snippet.ts';

test('does nothing on a server, where it can be imported and called', async () => {
  const tracker = createTracker({ url: 'https://example.com', token: 'browser_x' });
  expect(await tracker.log(1, { a: 'b' })).toEqual({});
  tracker.set({ plan: 'pro' });
  logPageViews(tracker, { event: 'Page viewed' });
  tracker.reset();
  expect(tracker.createContact({ contactEmailaddress: 'a@example.com', contactProfileID: '1' })).toBeInstanceOf(
    Promise,
  );
  expect(await tracker.getUserUUID()).toBeUndefined();
});

test('throws in a worker, which has a location but no document', () => {
  vi.stubGlobal('location', new URL('https://shop.example/worker.js'));
  expect(() => createTracker({ url: '/s', token: 'browser_x' })).toThrow(/needs a document/);
  vi.unstubAllGlobals();
});

test('has a stub for pages to paste that compresses to at most 140 bytes with brotli', () => {
  const [stub = ''] = snippet.split('\n');
  expect(stub).toMatch(/^<script>.*<\/script>$/);
  expect(brotliCompressSync(stub).length).toBeLessThanOrEqual(140);
});

test('shows the tested early-events script in the README, in at most 40 lines', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  expect(readme).toContain(`\`\`\`html\n${earlyEventsScript}\`\`\``);
  expect(earlyEventsScript.trim().split('\n').length).toBeLessThanOrEqual(40);
});

test('adds only the tracker to a bundle, without Zod and page-view code', async () => {
  const { outputFiles } = await build({
    stdin: {
      contents: "import { createTracker } from './index.ts'; createTracker({ url: '/s', token: 'browser_x' });",
      resolveDir: fileURLToPath(new URL('.', import.meta.url)),
    },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
    logLevel: 'silent',
    // Bundles in the same way as the npm package's build.
    plugins: [prunePackages],
  });
  expect(outputFiles[0]?.contents.length).toBeLessThan(7_900);
  expect(outputFiles[0]?.text).not.toMatch(/zod|currententrychange/i);
});

test('lets the compiler check calls to log against a catalogue', () => {
  const tracker = createTracker<{ 7: { plan: 'free' | 'pro' }; 8: undefined; 'Signed up': { plan: string } }>({
    url: '/',
    token: 'browser_x',
  });
  const result: Promise<LogResult> = tracker.log(7, { plan: 'pro' });
  expect(result).toBeInstanceOf(Promise);
  tracker.log(8);
  tracker.log('Signed up', { plan: 'pro' });
  // @ts-expect-error the plan doesn't exist
  tracker.log(7, { plan: 'gold' });
  // @ts-expect-error the plan is missing
  tracker.log(7);
  // @ts-expect-error the event doesn't exist
  tracker.log(9);
  // @ts-expect-error the name doesn't exist
  tracker.log('Signed out');
  // At run time, this test always passes: a wrong call fails type checking.
  expect(tracker.log).toBeTypeOf('function');
});
