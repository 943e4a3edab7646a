/** Reports whether a disk that a write found full is still full. */
export interface Room {
  /** Takes the error of a failed write. */
  noteFailure(error: unknown): void;
  /** Throws while the disk is full. Examines the disk only after a write has failed because it was full. */
  check(): Promise<void>;
}

/** `findRoom` throws when the disk is full. */
export const createRoom = (isNoRoom: (cause: unknown) => boolean, findRoom: () => Promise<void>): Room => {
  let isFull = false;
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
    noteFailure(error) {
      if (isNoRoom((error as Error).cause)) isFull = true;
    },
    async check() {
      if (!isFull) return;
      // Anybody may ask, as often as they like: callers share one look.
      looking ??= look();
      await looking;
    },
  };
};
