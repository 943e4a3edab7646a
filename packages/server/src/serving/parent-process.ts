/**
 * Detects the end of the parent process. `npx firsthand serve` runs npm, which runs a shell, which runs this process. npm passes a
 * signal on to the shell, which ends without passing it on: this process gets another parent.
 *
 * A SIGINT sent to npx alone is not detected: npm passes it on to the shell, and dash goes on waiting for its command (`sh -c
 * "'sleep' 9"` outlives a SIGINT; under bash it ends). This process gets no signal, and its parent stays.
 */

const lookMilliseconds = 200;

interface Surroundings {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly parentID?: () => number;
}

/** Whether npm or npx started this process, directly or through a shell. */
export const isBelowNpm = (env: Surroundings['env'] = process.env): boolean =>
  env.npm_command !== undefined || env.npm_lifecycle_event !== undefined;

/**
 * Calls `onGone` once, within 0.2 s of the parent's end. Does nothing unless npm started this process, because another program that
 * starts a server may end before it.
 */
export const followParent = (
  onGone: () => void,
  { env = process.env, parentID = () => process.ppid }: Surroundings = {},
): void => {
  if (!isBelowNpm(env)) return;
  const parent = parentID();
  const timer = setInterval(() => {
    if (parentID() === parent) return;
    clearInterval(timer);
    onGone();
  }, lookMilliseconds);
  timer.unref();
};
