/**
 * How far units (people, or sessions) have come in a funnel, while their events are told in the order in which they were stored. For each
 * step the latest time at which somebody can have begun to go through all steps up to it is kept: the latest is the best for every later
 * step, so one number is enough.
 */

const never = Number.NEGATIVE_INFINITY;

/**
 * Numbers that are kept of a unit: the time of its last event, its person, for each step the latest beginning, and for each step but the first
 * how long the unit took from its first step when it reached that one.
 */
const numbersOf = (steps: number): number => 2 * steps + 1;

/** The bytes that the progress of so many units takes. */
export const bytesOfProgress = (steps: number, units: number): number => 8 * numbersOf(steps) * units;

/** Units are numbers from `lowest` to `greatest`. A person is any number except NaN. */
export const createProgress = (
  steps: number,
  withinMilliseconds: number,
  { lowest, greatest }: { readonly lowest: number; readonly greatest: number },
) => {
  const numbers = numbersOf(steps);
  const units = Math.max(0, greatest - lowest + 1);
  /** The numbers of a unit are neighbours, so that an event finds them in one place of the memory. */
  const kept = new Float64Array(numbers * units).fill(never);
  /** Units whose events do not come in the order of their times, or belong to two people. */
  const irregular = new Set<number>();

  /** How many steps a unit reached, counted from the lowest one; 0 if it is irregular. */
  const reachedBy = (unit: number): number => {
    if (kept[unit * numbers] === never || irregular.has(unit + lowest)) return 0;
    let step = 0;
    while (step < steps && kept[unit * numbers + 2 + step] !== never) step += 1;
    return step;
  };

  return {
    irregular,
    /** Tells an event: `meets` has a bit for each step that it meets, the first one lowest. */
    tell(unit: number, person: number, time: number, meets: number): void {
      const first = (unit - lowest) * numbers;
      const last = kept[first] as number;
      if (last === never) kept[first + 1] = person;
      else if (time < last || kept[first + 1] !== person) {
        irregular.add(unit);
        return;
      }
      kept[first] = time;
      // The last step first: an event does not count for two steps in a row.
      for (let step = steps - 1; step > 0; step -= 1) {
        if ((meets & (1 << step)) === 0) continue;
        const place = first + 2 + step;
        const begun = kept[place - 1] as number;
        if (time - begun > withinMilliseconds || begun <= (kept[place] as number)) continue;
        if (kept[place] === never) kept[place + steps - 1] = time - begun;
        kept[place] = begun;
      }
      if ((meets & 1) !== 0) kept[first + 2] = time;
    },
    /** For each step, how many units reached it; irregular ones do not count. */
    counts(): number[] {
      const counts = new Array<number>(steps).fill(0);
      for (let unit = 0; unit < units; unit += 1)
        for (let step = reachedBy(unit) - 1; step >= 0; step -= 1) counts[step] = (counts[step] as number) + 1;
      return counts;
    },
    /**
     * The units that reached the first step, with their person and how many steps they reached; without irregular ones. `took`: for each step
     * but the first, from the first step to it, in milliseconds; -1 for those who did not reach it.
     */
    ends() {
      const took = Array.from({ length: steps - 1 }, (): number[] => []);
      const ends = { units: [] as number[], people: [] as number[], reached: [] as number[], took };
      for (let unit = 0; unit < units; unit += 1) {
        const reached = reachedBy(unit);
        if (reached === 0) continue;
        ends.units.push(unit + lowest);
        ends.people.push(kept[unit * numbers + 1] as number);
        ends.reached.push(reached);
        for (const [index, list] of took.entries())
          list.push(index + 1 < reached ? (kept[unit * numbers + 2 + steps + index] as number) : -1);
      }
      return ends;
    },
  };
};
export type Progress = ReturnType<typeof createProgress>;
