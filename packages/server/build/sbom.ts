/**
 * Lists the packages whose code is in the bundles, as a CycloneDX document. `npm sbom` can't detect bundled packages.
 */
import { readFileSync } from 'node:fs';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

const readManifest = (folder: string): Manifest => JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'));

/** A package URL (purl) of type npm, in which a scope's `@` is encoded. */
const toPURL = ({ name, version }: Manifest): string => `pkg:npm/${name.replace('@', '%40')}@${version}`;

const toComponent = (type: string, manifest: Manifest) => {
  const { name, version, license } = manifest;
  const isExpression = license !== undefined && / (OR|AND|WITH) /.test(license);
  return {
    'bom-ref': `${name}@${version}`,
    type,
    name,
    version,
    purl: toPURL(manifest),
    ...(license !== undefined && { licenses: [isExpression ? { expression: license } : { license: { id: license } }] }),
  };
};

/** Takes package folders as URLs with a trailing slash. The output is deterministic. */
export const toSBOM = (rootFolder: string, bundledFolders: readonly string[]): string => {
  const root = toComponent('application', readManifest(rootFolder));
  const byRef = new Map(
    bundledFolders.map((folder) => {
      const component = toComponent('library', readManifest(folder));
      return [component['bom-ref'], component];
    }),
  );
  const refs = [...byRef.keys()].sort();
  const document = {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: root },
    components: refs.map((ref) => byRef.get(ref)),
    dependencies: [{ ref: root['bom-ref'], dependsOn: refs }],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
};
