/** A data file of each release opens, and answers as that release did. `make.ts` adds a release. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { serveHere } from '../fixtures/serving.ts';
import { createCall, type Release } from './release.ts';

const here = new URL('.', import.meta.url);
const bytesOf = (name: string) => readFileSync(new URL(name, here));
const endOfFile = '.db.gz';
const versions = readdirSync(here).flatMap((name) =>
  name.endsWith(endOfFile) ? name.slice(0, -endOfFile.length) : [],
);

/** The data file of a release in a folder of its own, with its record of erasures. */
const unpack = (version: string): string => {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'firsthand.db');
  writeFileSync(path, gunzipSync(bytesOf(version + endOfFile)));
  if (existsSync(new URL(`${version}.db-erased`, here))) {
    writeFileSync(`${path}-erased`, bytesOf(`${version}.db-erased`));
  }
  return path;
};

describe.each(versions)('a data file of %s', (version) => {
  const { serverToken, answers }: Release = JSON.parse(gunzipSync(bytesOf(`${version}.json.gz`)).toString());

  test('answers as that release did, whatever was added since', async () => {
    const { url } = await serveHere({ DATABASE_URL: `sqlite:${unpack(version)}` });
    const call = createCall(url, serverToken);
    for (const { question, answer } of answers) {
      expect(await call(question), `${question.path} ${JSON.stringify(question.input)}`).toMatchObject(
        answer as object,
      );
    }
    expect(answers.length).toBeGreaterThan(50);
  });
});
