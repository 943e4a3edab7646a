/**
 * How far units (people, or sessions) have come in a funnel, while their events are told in the order in which they were stored. For each
 * step the latest time at which somebody can have begun to go through all steps up to it is kept: the latest is the best for every later
 * step, so one number is enough.
 */

/** Bits of a hash that are spread well by multiplication: 2^32 divided by the golden ratio (Knuth, The Art of Computer Programming, 6.4). */
const spread = 0x9e3779b1;
const never = Number.NEGATIVE_INFINITY;
const firstCapacity = 1 << 14;
const mostFilled = 0.6;

/** `most`: how many units there may be. */
export const createProgress = (steps: number, withinMilliseconds: number, most: number) => {
  let capacity = firstCapacity;
  let units = 0;
  /** NaN: the slot is free. */
  let keys = new Float64Array(capacity).fill(Number.NaN);
  let persons = new Float64Array(capacity);
  let times = new Float64Array(capacity);
  let begun = new Float64Array(capacity * steps).fill(never);
  /** How many steps were reached. */
  let reached = new Uint8Array(capacity);
  /** Units whose events do not come in the order of their times, or belong to two people. */
  const irregular = new Set<number>();

  const slotOf = (key: number): number => {
    let slot = (Math.imul(key | 0, spread) >>> 0) & (capacity - 1);
    for (;;) {
      const found = keys[slot] as number;
      if (found === key || Number.isNaN(found)) return slot;
      slot = (slot + 1) & (capacity - 1);
    }
  };
  const grow = (): void => {
    const [oldKeys, oldPersons, oldTimes, oldBegun, oldReached] = [keys, persons, times, begun, reached];
    const before = capacity;
    capacity *= 2;
    keys = new Float64Array(capacity).fill(Number.NaN);
    persons = new Float64Array(capacity);
    times = new Float64Array(capacity);
    begun = new Float64Array(capacity * steps).fill(never);
    reached = new Uint8Array(capacity);
    for (let old = 0; old < before; old += 1) {
      const key = oldKeys[old] as number;
      if (Number.isNaN(key)) continue;
      const slot = slotOf(key);
      keys[slot] = key;
      persons[slot] = oldPersons[old] as number;
      times[slot] = oldTimes[old] as number;
      reached[slot] = oldReached[old] as number;
      for (let step = 0; step < steps; step += 1) begun[slot * steps + step] = oldBegun[old * steps + step] as number;
    }
  };

  return {
    irregular,
    /** Whether there were more units than there may be: the counts are of no use then. */
    get isFull(): boolean {
      return units > most;
    },
    /** Tells an event: `meets` has a bit for each step that it meets, the first one lowest. */
    tell(unit: number, person: number, time: number, meets: number): void {
      const slot = slotOf(unit);
      if (keys[slot] !== unit) {
        units += 1;
        if (units > most) return;
        keys[slot] = unit;
        persons[slot] = person;
      } else if (time < (times[slot] as number) || persons[slot] !== person) {
        irregular.add(unit);
        return;
      }
      times[slot] = time;
      const first = slot * steps;
      // The last step first: an event does not count for two steps in a row.
      for (let step = steps - 1; step > 0; step -= 1) {
        if ((meets & (1 << step)) === 0) continue;
        const start = begun[first + step - 1] as number;
        if (time - start > withinMilliseconds) continue;
        if (start > (begun[first + step] as number)) begun[first + step] = start;
        if ((reached[slot] as number) <= step) reached[slot] = step + 1;
      }
      if ((meets & 1) !== 0) {
        begun[first] = time;
        if (reached[slot] === 0) reached[slot] = 1;
      }
      if (units > mostFilled * capacity) grow();
    },
    /** For each step, how many units reached it; irregular ones do not count. */
    counts(): number[] {
      const counts = new Array<number>(steps).fill(0);
      for (let slot = 0; slot < capacity; slot += 1) {
        const key = keys[slot] as number;
        if (Number.isNaN(key) || irregular.has(key)) continue;
        for (let step = 0; step < (reached[slot] as number); step += 1) counts[step] = (counts[step] as number) + 1;
      }
      return counts;
    },
  };
};
