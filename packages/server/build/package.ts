/**
 * Completes the build for the npm package: adds the tracker, the licenses of bundled packages, and an SBOM of
 * all packages whose code it contains. Installing it requires neither sources nor a TypeScript compiler.
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

/** The package folders in a source map, as URLs. */
const listPackages = (bundle: string): string[] => {
  const map = new URL(`${bundle}.cjs.map`, dist);
  const { sources }: { sources: string[] } = JSON.parse(readFileSync(map, 'utf8'));
  return sources
    .flatMap((source) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+\//.exec(source)?.[0] ?? [])
    .map((path) => new URL(path, map).href);
};

const readLicense = (folder: string): string => {
  const file = readdirSync(new URL(folder)).find((name) => /^licen[cs]e/i.test(name));
  if (file === undefined) throw new Error(`${fileURLToPath(folder)} has no license, but its code is in the bundles`);
  const { name } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'));
  return `${name}\n\n${readFileSync(new URL(file, folder), 'utf8').trim()}\n`;
};

/** The package folders in the tracker's scripts. */
const listTrackerPackages = (): string[] => {
  const { resolve } = createRequire(new URL('../../tracker/package.json', import.meta.url));
  return ['js-cookie', 'nanoid'].map((name) => new URL('./', pathToFileURL(resolve(`${name}/package.json`))).href);
};

const serverPackages = [...new Set(bundles.flatMap(listPackages))].sort();
const licenses = serverPackages.map(readLicense);
await writeFile(new URL('licenses.txt', dist), `The files dist/*.cjs contain parts of:\n\n${licenses.join('\n')}`);
const packageURL = new URL('../', import.meta.url).href;
const consolePackages = bundledPackages.map(({ href }) => href);
const pagePackages = [...listTrackerPackages(), ...consolePackages, bundledPackage.href];
await writeFile(new URL('sbom.json', dist), toSBOM(packageURL, [...new Set([...serverPackages, ...pagePackages])]));

const tracker = fileURLToPath(new URL('tracker', dist));
await rm(tracker, { recursive: true, force: true });
await buildTracker(tracker);
