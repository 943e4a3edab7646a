/**
 * Reports whether a disk that a write found full is still full. `findRoom` throws when the disk is full. With `isUnknown`, the first
 * check examines the disk, too: it may have been full before this process started.
 */
export const createRoom = (
  isNoRoom: (cause: unknown) => boolean,
  findRoom: () => Promise<void>,
  { isUnknown = false } = {},
) => {
  let isFull = isUnknown;
  let looking: Promise<void> | undefined;
  const look = async () => {
    try {
      await findRoom();
      isFull = false;
    } finally {
      looking = undefined;
    }
  };
  return {
    /** Takes the error of a failed write. */
    noteFailure(error: unknown): void {
      if (isNoRoom((error as Error).cause)) isFull = true;
    },
    /** Throws while the disk is full. Examines the disk after a write has failed because it was full. */
    async check(): Promise<void> {
      if (!isFull) return;
      // Anybody may ask, as often as they like: callers share one look.
      looking ??= look();
      await looking;
    },
  };
};
export type Room = ReturnType<typeof createRoom>;
