/** The pictures in the files, which their pages show as well. */
import { readdirSync, readFileSync } from 'node:fs';
import { hashedName } from './hashed-name.ts';

const folder = 'packages/docs/images';
const onDisk = new URL(`../../../${folder}/`, import.meta.url);

interface Picture {
  /** Relative to `/docs/`. */
  readonly path: string;
  readonly content: Buffer;
}

/** By their paths in the repository. */
export const pictures: ReadonlyMap<string, Picture> = new Map(
  readdirSync(onDisk).map((name) => {
    const content = readFileSync(new URL(name, onDisk));
    return [`${folder}/${name}`, { path: hashedName(name, content), content }];
  }),
);
