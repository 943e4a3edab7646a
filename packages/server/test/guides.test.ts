/** Checks what can be read in the guides in packages/docs; deploy/guides.test.ts follows them. */
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { inlineScriptSource, scriptTag } from '../src/http/script-tag.ts';
import { findGuideTest, guideFiles, guides, readBlocks } from './fixtures/documents/guides.ts';

describe('the guides', () => {
  test('are all listed in the index', () => {
    expect(guides.toSorted()).toEqual(guideFiles.toSorted());
  });

  test.each(guides.flatMap((guide) => findGuideTest(guide) ?? []))('name an existing test: %s', (path) => {
    expect(existsSync(new URL(`../../${path}`, import.meta.url))).toBe(true);
  });

  test('show the script tag’s inline script, and its hash in csp.md', () => {
    const [inline = ''] = scriptTag('https://shop.example/s', 'browser_…', { trackerPath: '/main.js' }).split('\n');
    // Matches the line before the line that loads the script.
    const line = /^ *(<script[^>]*>.*)\n *<script[^>]* async src=/gm;
    const inlineScripts = guides.flatMap((guide) =>
      readBlocks(guide).flatMap(({ code }) => [...code.matchAll(line)].map(([, text = '']) => [guide, text])),
    );
    expect(inlineScripts.length).toBeGreaterThan(3);
    for (const [guide, text] of inlineScripts)
      expect([guide, text?.replace(' nonce="NONCE"', '')]).toEqual([guide, inline]);
    expect(readBlocks('csp.md')[0]?.code).toContain(inlineScriptSource(inline));
  });
});
