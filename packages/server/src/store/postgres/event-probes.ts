/**
 * How the stretches of a query are looked at: those of one holder that lie in the same group of the order in one go, because
 * each would read the group. Whoever is linked to one contact and then another, again and again, has hundreds of them.
 */
import { isSameGroup } from './event-order.ts';
import type { Stretch } from './event-sources.ts';

/** A stretch, or what lies between the first and the last of several. */
export interface Probe extends Stretch {
  /** The first sequence of a stretch, and the first behind it, and so on; none when it is one stretch. Ascending. */
  readonly bounds: readonly number[];
}

const boundsOf = ({ after, through }: Stretch): number[] => [after + 1, through + 1];

const ofOneHolder = (a: Stretch, b: Stretch): boolean => a.holder === b.holder && a.user === b.user;

/** Of stretches that have no event in common. */
export const probesOf = (stretches: readonly Stretch[]): Probe[] => {
  const probes: (Stretch & { bounds: number[] })[] = [];
  for (const stretch of [...stretches].sort((a, b) => a.holder - b.holder || a.after - b.after)) {
    const before = probes.at(-1);
    if (before && ofOneHolder(before, stretch) && isSameGroup('holder', before.through, stretch.after + 1)) {
      const bounds = before.bounds.length > 0 ? before.bounds : boundsOf(before);
      bounds.push(...boundsOf(stretch));
      probes[probes.length - 1] = { ...before, through: stretch.through, bounds };
    } else probes.push({ ...stretch, bounds: [] });
  }
  return probes;
};
