/** The newest day on which an event was received, by its number; 0 or less: none was. */
export const clockFinding = (day: number): Finding => ({
  name: 'clock',
  ok: day <= Math.floor(Date.now() / 86_400_000) + 1,
  detail:
    day <= 0
      ? 'no event was received yet'
      : `the newest event was received on ${new Date(day * 86_400_000).toISOString().slice(0, 10)}`,
});

export const refusedFinding = ({ listed, evicted }: { listed: number; evicted: number }): Finding => ({
  name: 'refused requests',
  ok: true,
  detail: `${listed} listed, ${evicted} gave way${listed > 0 ? '; firsthand refused list shows them' : ''}`,
});

/** One thing that `firsthand doctor` has examined. */
export interface Finding {
  readonly name: string;
  /** Somebody needs to act when it isn't. */
  readonly ok: boolean;
  readonly detail: string;
}
