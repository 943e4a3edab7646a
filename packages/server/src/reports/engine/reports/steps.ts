/**
 * Tracks how far units (people or sessions) get in a funnel, from events in the order in which they were stored. For
 * each step, it stores only the latest possible start time, because that leaves the most time for every later step.
 */

const never = Number.NEGATIVE_INFINITY;

/**
 * The numbers stored per unit: the time of its last event, its person, the latest start time for each step, and for
 * each step after the first, the time from the first step until the unit first reached it.
 */
const countNumbers = (steps: number): number => 2 * steps + 1;

/** Returns the memory that the progress of units takes, in bytes. */
export const computeProgressBytes = (steps: number, units: number): number => 8 * countNumbers(steps) * units;

/** Units are numbers from `lowest` to `highest`. A person is represented by any number except NaN. */
export const createProgress = (
  steps: number,
  withinMilliseconds: number,
  { lowest, highest }: { readonly lowest: number; readonly highest: number },
) => {
  const numbers = countNumbers(steps);
  const units = Math.max(0, highest - lowest + 1);
  /** Keeps each unit's numbers next to each other, for locality. */
  const state = new Float64Array(numbers * units).fill(never);
  /** Units whose events are out of chronological order or belong to two people. */
  const irregular = new Set<number>();

  /** Returns how many steps a unit reached; 0 if it is irregular. `unit` is relative to `lowest`. */
  const countSteps = (unit: number): number => {
    if (state[unit * numbers] === never || irregular.has(unit + lowest)) return 0;
    let step = 0;
    while (step < steps && state[unit * numbers + 2 + step] !== never) step += 1;
    return step;
  };

  return {
    irregular,
    /** Adds an event. `meets` has a bit for each step that the event matches, the lowest bit for the first step. */
    addEvent(unit: number, person: number, time: number, meets: number): void {
      const first = (unit - lowest) * numbers;
      const last = state[first] as number;
      if (last === never) state[first + 1] = person;
      else if (time < last || state[first + 1] !== person) {
        irregular.add(unit);
        return;
      }
      state[first] = time;
      // Visits the last step first, so that an event does not count for two steps.
      for (let step = steps - 1; step > 0; step -= 1) {
        if ((meets & (1 << step)) === 0) continue;
        const place = first + 2 + step;
        const start = state[place - 1] as number;
        if (time - start > withinMilliseconds || start <= (state[place] as number)) continue;
        if (state[place] === never) state[place + steps - 1] = time - start;
        state[place] = start;
      }
      if ((meets & 1) !== 0) state[first + 2] = time;
    },
    /** Returns, for each step, the number of regular units that reached it. */
    counts(): number[] {
      const counts = new Array<number>(steps).fill(0);
      for (let unit = 0; unit < units; unit += 1)
        for (let step = countSteps(unit) - 1; step >= 0; step -= 1) counts[step] = (counts[step] as number) + 1;
      return counts;
    },
    /**
     * Returns the regular units that reached the first step, with their person and number of steps. `took` has, for
     * each step after the first, the time from the first step in milliseconds, or -1 for units that did not reach it.
     */
    ends() {
      const took = Array.from({ length: steps - 1 }, (): number[] => []);
      const ends = { units: [] as number[], people: [] as number[], reached: [] as number[], took };
      for (let unit = 0; unit < units; unit += 1) {
        const reached = countSteps(unit);
        if (reached === 0) continue;
        ends.units.push(unit + lowest);
        ends.people.push(state[unit * numbers + 1] as number);
        ends.reached.push(reached);
        for (const [index, list] of took.entries())
          list.push(index + 1 < reached ? (state[unit * numbers + 2 + steps + index] as number) : -1);
      }
      return ends;
    },
  };
};
export type Progress = ReturnType<typeof createProgress>;
