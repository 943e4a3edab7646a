/** The name of a file below `/docs/` that holds a hash of its content, so that browsers may keep it for ever. */
import { createHash } from 'node:crypto';

/** `icon.svg` → `assets/icon.<hash>.svg` */
export const hashedName = (name: string, content: Buffer): string => {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
  return `assets/${name.replace(/(?=\.\w+$)/, `.${hash}`)}`;
};
