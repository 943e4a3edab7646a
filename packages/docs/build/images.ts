/** The pictures in the documentation. File names contain a content hash, so that browsers can cache them forever. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

interface Picture {
  /** Relative to `/docs/`. */
  readonly path: string;
  readonly content: Buffer;
  /** In CSS pixels. */
  readonly width: number;
  readonly height: number;
}

const folder = new URL('../images/', import.meta.url);
const pixelsPerUnit = 1.5;

/** The pixel size of a picture, from the header of a lossy or extended WebP file (RFC 9649 section 2). */
const sizeOf = (name: string, content: Buffer): readonly [width: number, height: number] => {
  switch (content.toString('latin1', 8, 16)) {
    case 'WEBPVP8 ':
      return [content.readUInt16LE(26) & 0x3fff, content.readUInt16LE(28) & 0x3fff];
    case 'WEBPVP8X':
      return [content.readUIntLE(24, 3) + 1, content.readUIntLE(27, 3) + 1];
    default:
      throw new Error(`${name} is not a lossy WebP file`);
  }
};

/** By file name. */
export const pictures: ReadonlyMap<string, Picture> = new Map(
  readdirSync(folder)
    .filter((name) => name.endsWith('.webp'))
    .map((name) => {
      const content = readFileSync(new URL(name, folder));
      const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
      const [width, height] = sizeOf(name, content).map((pixels) => Math.round(pixels / pixelsPerUnit)) as [
        number,
        number,
      ];
      return [name, { path: `assets/${name.replace(/(?=\.\w+$)/, `.${hash}`)}`, content, width, height }];
    }),
);
