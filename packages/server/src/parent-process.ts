/**
 * The end of the parent process. `npx firsthand serve` runs npm, which runs a shell, which runs this process. npm passes a
 * signal on to the shell, the shell ends, and nobody passes it on any further: this process is adopted by another parent.
 *
 * SIGINT sent to npx alone is different: npm passes it on to the shell, and dash goes on waiting for its command (`sh -c "'sleep' 9"`
 * outlives a SIGINT, under bash it ends). This process sees nothing of it: no signal arrives, and its parent stays.
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
 * Calls `onGone` once, within 0.2 s of the parent's end. Only below npm: a program that starts a server itself may well end
 * before it.
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
