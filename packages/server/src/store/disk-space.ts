/**
 * Tracks whether the disk is still full after a write failed. `probe` throws if the disk is full. With `isUnknown`, the
 * first check probes too, because the disk may have been full before this process started.
 */
export const createDiskSpaceCheck = (
  isDiskFull: (cause: unknown) => boolean,
  probe: () => Promise<void>,
  { isUnknown = false } = {},
) => {
  let isFull = isUnknown;
  let probing: Promise<void> | undefined;
  const startProbe = async () => {
    try {
      await probe();
      isFull = false;
    } finally {
      probing = undefined;
    }
  };
  return {
    /** Call it with the error of each failed write. */
    noteFailure(error: unknown): void {
      if (isDiskFull((error as Error).cause)) isFull = true;
    },
    /** Throws while the disk is full. Probes only after a write failed for lack of space. */
    async check(): Promise<void> {
      if (!isFull) return;
      // Health checks are public and may be frequent: concurrent calls share one probe.
      probing ??= startProbe();
      await probing;
    },
  };
};
export type DiskSpaceCheck = ReturnType<typeof createDiskSpaceCheck>;
