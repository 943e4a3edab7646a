import type { Format } from './formats/format.ts';
import { ga4 } from './formats/ga4.ts';
import { goatcounter } from './formats/goatcounter.ts';
import { matomo } from './formats/matomo.ts';
import { posthog } from './formats/posthog.ts';
import { segment } from './formats/segment.ts';
import { umami } from './formats/umami.ts';

/**
 * The formats by name. The last one must stay last, because it is recognized by a field that others might also have.
 */
export const formats = { posthog, ga4, umami, matomo, goatcounter, segment } as const satisfies Record<string, Format>;

export type FormatName = keyof typeof formats;

export const formatNames = Object.keys(formats) as readonly FormatName[];

/** Finds the format of rows with these fields. */
export const findFormat = (fields: Iterable<string>): FormatName | undefined => {
  const present = new Set(fields);
  return formatNames.find((name) => formats[name].fields.every((field) => present.has(field)));
};
