/** The list of the packages whose code is in the bundles, as a CycloneDX document: `npm sbom` can't see them there. */
import { readFileSync } from 'node:fs';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

const manifestIn = (folder: string): Manifest => JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'));

/** A package URL of the type npm: the `@` of a scope is encoded. */
const purlOf = ({ name, version }: Manifest): string => `pkg:npm/${name.replace('@', '%40')}@${version}`;

const toComponent = (type: string, manifest: Manifest) => {
  const { name, version, license } = manifest;
  const isExpression = license !== undefined && / (OR|AND|WITH) /.test(license);
  return {
    'bom-ref': `${name}@${version}`,
    type,
    name,
    version,
    purl: purlOf(manifest),
    ...(license !== undefined && { licenses: [isExpression ? { expression: license } : { license: { id: license } }] }),
  };
};

/** `own` and `bundled` are folders of packages, as URLs that end with a slash. The same input gives the same text. */
export const toSBOM = (own: string, bundled: readonly string[]): string => {
  const root = toComponent('application', manifestIn(own));
  const byRef = new Map(
    bundled.map((folder) => {
      const component = toComponent('library', manifestIn(folder));
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
