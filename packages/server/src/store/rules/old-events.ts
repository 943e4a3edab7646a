/**
 * Chooses the oldest events that were received before `time`, from `candidates`: the first events, in order. A received time after
 * `now` comes from a clock that was ahead: such an event counts as received when the next event with a believable time was.
 * `ahead` are the candidates about which the next believable event after the last candidate decides.
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
