/**
 * Joins stretches of one holder that share a group of sequences (event-order.ts) into one probe, because each stretch
 * would read the whole group. A user that was often linked to alternating contacts has hundreds of stretches.
 */
import { isSameGroup } from './event-order.ts';
import type { Stretch } from './event-sources.ts';

/** One stretch, or the range from the first to the last of several. */
export interface Probe extends Stretch {
  /** The first sequence of each stretch and the first after it, ascending; empty for a single stretch. */
  readonly bounds: readonly number[];
}

const boundsOf = ({ after, through }: Stretch): number[] => [after + 1, through + 1];

/** Returns the probes of stretches that do not overlap. */
export const probesOf = (stretches: readonly Stretch[]): Probe[] => {
  const probes: (Stretch & { bounds: number[] })[] = [];
  for (const stretch of [...stretches].sort((a, b) => a.holder - b.holder || a.after - b.after)) {
    const before = probes.at(-1);
    const isOfSame = before?.holder === stretch.holder && before.user === stretch.user;
    if (isOfSame && isSameGroup('holder', before.through, stretch.after + 1)) {
      const bounds = before.bounds.length > 0 ? before.bounds : boundsOf(before);
      bounds.push(...boundsOf(stretch));
      probes[probes.length - 1] = { ...before, through: stretch.through, bounds };
    } else probes.push({ ...stretch, bounds: [] });
  }
  return probes;
};
