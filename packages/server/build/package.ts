/**
 * Completes the build for the npm package: adds the tracker's files, the licenses of the packages that are in the bundles, and the list of
 * all packages whose code the npm package holds. Whoever installs it needs neither sources nor a compiler of TypeScript.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundledPackages } from '../../console/build/bundled-packages.ts';
import { bundledPackage } from '../../docs/build/bundled-package.ts';
import { buildTracker } from '../../tracker/build/build.ts';
import { dist } from '../bin/built.js';
import { toSBOM } from './sbom.ts';

const bundles = ['main', 'writer-thread', 'reader-thread', 'report-engine'];

/** The folders of the packages that a source map names, as URLs. */
const packagesIn = (bundle: string): string[] => {
  const map = new URL(`${bundle}.cjs.map`, dist);
  const { sources }: { sources: string[] } = JSON.parse(readFileSync(map, 'utf8'));
  return sources
    .flatMap((source) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+\//.exec(source)?.[0] ?? [])
    .map((path) => new URL(path, map).href);
};

const licenseOf = (folder: string): string => {
  const file = readdirSync(new URL(folder)).find((name) => /^licen[cs]e/i.test(name));
  if (file === undefined) throw new Error(`${fileURLToPath(folder)} has no license, but its code is in the bundles`);
  const { name } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'));
  return `${name}\n\n${readFileSync(new URL(file, folder), 'utf8').trim()}\n`;
};

/** The folders of the packages that are in the tracker's scripts. */
const packagesInTracker = (): string[] => {
  const { resolve } = createRequire(new URL('../../tracker/package.json', import.meta.url));
  return ['js-cookie', 'nanoid'].map((name) => new URL('./', pathToFileURL(resolve(`${name}/package.json`))).href);
};

const bundled = [...new Set(bundles.flatMap(packagesIn))].sort();
const licenses = bundled.map(licenseOf);
await writeFile(new URL('licenses.txt', dist), `The files dist/*.cjs contain parts of:\n\n${licenses.join('\n')}`);
const own = new URL('../', import.meta.url).href;
const inConsole = bundledPackages.map(({ href }) => href);
const inPages = [...packagesInTracker(), ...inConsole, bundledPackage.href];
await writeFile(new URL('sbom.json', dist), toSBOM(own, [...new Set([...bundled, ...inPages])]));

const tracker = fileURLToPath(new URL('tracker', dist));
await rm(tracker, { recursive: true, force: true });
await buildTracker(tracker);
