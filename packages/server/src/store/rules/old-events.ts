/**
 * Chooses the events received before `time` from `candidates`, the oldest events in order. A received time after `now`
 * comes from a clock that was ahead. Such an event counts as received at the same time as the next event with a
 * plausible time.
 *
 * `ahead` are the candidates that depend on the first plausible event after the last candidate.
 */
export const chooseOld = <Event extends { readonly receivedTime: number }>(
  candidates: readonly Event[],
  { time, now }: { time: number; now: number },
): { old: Event[]; ahead: Event[] } => {
  const young = candidates.findIndex(({ receivedTime }) => receivedTime >= time && receivedTime <= now);
  const before = young < 0 ? candidates : candidates.slice(0, young);
  const end = before.findLastIndex(({ receivedTime }) => receivedTime < time) + 1;
  return { old: before.slice(0, end), ahead: young < 0 ? before.slice(end) : [] };
};
