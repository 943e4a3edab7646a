/** A histogram of latencies with a resolution of 0.01 ms, in constant memory. */
const perMillisecond = 100;
const maxMilliseconds = 5_000;

export const createLatencies = () => {
  const counts = new Uint32Array(maxMilliseconds * perMillisecond + 1);
  let total = 0;
  return {
    record(milliseconds: number): void {
      const place = Math.min(counts.length - 1, Math.max(0, Math.round(milliseconds * perMillisecond)));
      counts[place] = (counts[place] as number) + 1;
      total += 1;
    },
    /**
     * The latency that the given share of requests did not exceed. Latencies above five seconds count as five seconds.
     */
    quantile(share: number): number {
      let left = Math.ceil(total * share);
      for (let place = 0; place < counts.length; place += 1) {
        left -= counts[place] as number;
        if (left <= 0) return place / perMillisecond;
      }
      return 0;
    },
  };
};

export type Latencies = ReturnType<typeof createLatencies>;
