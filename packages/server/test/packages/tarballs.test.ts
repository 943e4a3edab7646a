import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { findTarball, type PackageName, packageNames, root } from './tarballs.ts';

let folder: string;
const unpacked = (name: PackageName) => join(folder, name, 'package');
const filesOf = (name: PackageName) =>
  readdirSync(unpacked(name), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(unpacked(name).length + 1));
const read = (name: PackageName, file: string) => readFileSync(join(unpacked(name), file), 'utf8');
const manifestOf = (name: PackageName) => JSON.parse(read(name, 'package.json'));

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-tarballs-'));
  for (const name of packageNames) {
    execFileSync('mkdir', ['-p', join(folder, name)]);
    execFileSync('tar', ['-xzf', findTarball(name), '-C', join(folder, name)]);
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

describe.each(packageNames)('%s', (name) => {
  it('has a license and a README, but no tests, sources or build caches', () => {
    const files = filesOf(name);
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'package.json']));
    expect(read(name, 'LICENSE')).toBe(readFileSync(join(root, 'LICENSE'), 'utf8'));
    expect(files.filter((file) => /\.test\.|tsbuildinfo|\.compiled$|tsconfig|(?<!\.d)\.[cm]?ts$/.test(file))).toEqual(
      [],
    );
  });

  it('is publishable: has a license, Node versions and provenance, and no dependency on the repository', () => {
    const { private: isPrivate, license, engines, publishConfig, version, dependencies = {} } = manifestOf(name);
    expect({ isPrivate, license, engines, publishConfig, version }).toEqual({
      isPrivate: undefined,
      license: 'MIT',
      engines: { node: '>=20.20' },
      publishConfig: { access: 'public', provenance: true },
      version: JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version,
    });
    const ownDependencies = Object.keys(dependencies).filter((dependency) => dependency.includes('firsthand'));
    expect(ownDependencies).toEqual(name === '@firsthand/client' ? ['@firsthand/contract'] : []);
  });

  it('reveals no paths on the machine where it was packed', () => {
    const paths = new RegExp(`${root.replaceAll(/[.*+?^$()[\]\\{}|]/g, '\\$&')}|file:///`);
    const withPath = filesOf(name).filter((file) => !/\.(br|gz)$/.test(file) && paths.test(read(name, file)));
    expect(withPath).toEqual([]);
  });

  it('has a source map, with sources, for each built file', () => {
    const builtFiles = filesOf(name).filter((file) => /^dist\/(?!tracker)[^.]*\.c?js$/.test(file));
    expect(builtFiles.length).toBeGreaterThan(2);
    for (const file of builtFiles) {
      const { sources, sourcesContent } = JSON.parse(read(name, `${file}.map`));
      expect(sourcesContent).toHaveLength(sources.length);
      expect(read(name, file)).toMatch(/^\/\/# sourceMappingURL=[\w.-]+\.map\n?$/m);
    }
  });

  it('has declarations that import only existing files', () => {
    const declarations = filesOf(name).filter((file) => file.endsWith('.d.ts'));
    expect(declarations.length > 0).toBe(name !== 'firsthand');
    for (const file of declarations) {
      for (const [, to = ''] of read(name, file).matchAll(/(?:from|import\() ?'(\.[^']+)'/g)) {
        expect(to).toMatch(/\.js$/);
        expect(existsSync(join(unpacked(name), file, '..', to.replace(/\.js$/, '.d.ts')))).toBe(true);
      }
    }
  });
});

test('contains migrations, the demo page, the tracker, the documentation and third-party licenses in the server’s package', () => {
  const files = filesOf('firsthand');
  for (const driver of ['sqlite', 'postgres']) {
    const folder = join(root, `packages/server/src/store/${driver}/migrations`);
    const inRepository = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.sql'),
    );
    const migrations = new RegExp(`^src/store/${driver}/migrations/`);
    expect(
      files
        .filter((file) => migrations.test(file))
        .map((file) => file.replace(migrations, ''))
        .sort(),
    ).toEqual(inRepository.sort());
  }
  const tracker = readFileSync(join(root, 'packages/tracker/dist/tracker.js'), 'utf8');
  const { src } = JSON.parse(read('firsthand', 'dist/tracker/integrity.json'))['tracker.js'];
  for (const file of ['tracker.js', src]) expect(read('firsthand', `dist/tracker/${file}`)).toBe(tracker);
  expect(files).toEqual(
    expect.arrayContaining(['src/demo/page.html', 'dist/tracker/tracker.js.br', 'dist/tracker/snippet.html']),
  );
  expect(files.filter((file) => file.startsWith('deploy/metrics/')).sort()).toEqual([
    'deploy/metrics/alerts.yml',
    'deploy/metrics/dashboard.json',
  ]);
  expect(files.filter((file) => /^dist\/docs\/(index|reference\/logEvent)\.html$/.test(file))).toHaveLength(2);
  for (const name of ['hono', 'zod', 'pino', 'commander', 'isbot', '@hono/node-server', 'nanoid'])
    expect(read('firsthand', 'dist/licenses.txt')).toMatch(new RegExp(`^${name}\n\n`, 'm'));
});

test('contains an SBOM in the server’s package, which lists each bundled package with its version and license', () => {
  const { metadata, components, dependencies, ...head } = JSON.parse(read('firsthand', 'dist/sbom.json'));
  expect(head).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.5', version: 1 });
  const { version } = manifestOf('firsthand');
  expect(metadata.component).toMatchObject({
    type: 'application',
    name: 'firsthand',
    purl: `pkg:npm/firsthand@${version}`,
  });
  const names = components.map(({ name }: { name: string }) => name);
  const licenses = filesOf('firsthand').filter((file) => /\/licenses\.(?:\w+\.)?txt$/.test(file));
  expect(licenses.toSorted()).toEqual([
    expect.stringMatching(/^dist\/console\/assets\//),
    expect.stringMatching(/^dist\/docs\/assets\//),
    'dist/licenses.txt',
    'dist/tracker/licenses.txt',
  ]);
  const licensed = licenses.flatMap((file) =>
    [...read('firsthand', file).matchAll(/(?<=^|\n\n)(?:@[\w-]+\/)?[a-z][\w.-]+(?=\n\n)/g)].map(([name]) => name),
  );
  expect(licensed.length).toBeGreaterThan(8);
  expect(names).toEqual(expect.arrayContaining(licensed));
  expect(names.filter((name: string) => !licensed.includes(name))).toEqual([]);
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  for (const { name, version: componentVersion, purl, licenses: componentLicenses } of components) {
    const locked = Object.entries(packages as Record<string, { version: string }>)
      .filter(([path]) => path.endsWith(`node_modules/${name}`))
      .map(([, entry]) => entry.version);
    expect(locked).toContain(componentVersion);
    expect(purl).toBe(`pkg:npm/${name.replace('@', '%40')}@${componentVersion}`);
    expect(componentLicenses).toHaveLength(1);
  }
  const refs = components.map((component: Record<string, string>) => component['bom-ref']);
  expect(dependencies).toEqual([{ ref: `firsthand@${version}`, dependsOn: refs }]);
});

test('limits the server to 12 dependencies, each explained in packages/README.md, and the tracker to none', () => {
  const { dependencies, optionalDependencies } = manifestOf('firsthand');
  const names = Object.keys({ ...dependencies, ...optionalDependencies });
  expect(names.length).toBeLessThanOrEqual(12);
  const [, table = ''] =
    /\n\| dependency \|.*\n\|---\|---\|\n((?:\|.*\n)+)/.exec(readFileSync(join(root, 'packages/README.md'), 'utf8')) ??
    [];
  const explained = table
    .trim()
    .split('\n')
    .flatMap((row) => [...(row.split('|')[1] as string).matchAll(/`([^`]+)`/g)].map(([, name]) => name));
  expect(explained.sort()).toEqual(names.sort());
  expect(manifestOf('@firsthand/tracker').dependencies).toBeUndefined();
});
